/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread with real-time priority that runs whenever its deadline has come, a ring that programs
 * fill has something for it, or the main loop has changed something. Used by the threads of LACP
 * and BFD. Does not know what they do.
 */
#ifndef XBOND_DAEMON_BASE_REALTIME_H
#define XBOND_DAEMON_BASE_REALTIME_H

#include "common/err.h"
#include "daemon/base/worker.h"

/* A bond for which it speaks: the first member of the struct that the thread's code has for it. */
struct realtime_bond {
	struct realtime_bond *next GUARDED_BY(realtime_held);
	struct realtime *thread;
	struct ring_buffer *ring;
	int ring_fd;	  /* readable: there is something in the ring */
	uint64_t next_ns; /* when it is run again, unless something happens */
	bool has_news;	  /* for the main loop; only its thread, with the lock held */
};

struct realtime_kind {
	const char *name;     /* of the thread */
	const char *protocol; /* for people */
	/*
	 * Does what is due, and beats. The lock is held. Returns when it is to be called again; it
	 * is called earlier when the ring has something, and ten times in a second in any case.
	 */
	uint64_t (*run)(struct realtime_bond *bond, uint64_t now_ns);
};

struct realtime {
	const struct realtime_kind *kind;
	pthread_t thread;
	struct pulse pulse;   /* the lock protects it, too */
	pthread_mutex_t lock; /* protects the list and what `run` uses; not for long */
	struct realtime_bond *bonds GUARDED_BY(realtime_held);
	uint64_t beat_ns; /* when all bonds are run again */
	bool running, stopping;
	int epoll_fd;
	int wake_fd; /* main loop -> thread */
	int news_fd; /* thread -> main loop */
	int send_fd; /* packet_open_control() */
};

/* Returns NULL, with a line in err, on failure. The thread starts with the first bond. */
struct realtime *realtime_new(const struct realtime_kind *kind, struct err *err);
/* NULL is accepted. */
void realtime_free(struct realtime *realtime);

void realtime_lock(struct realtime *realtime) TAKES(realtime_held);
void realtime_unlock(struct realtime *realtime) GIVES(realtime_held);
/* The same, and `run` is called soon. */
void realtime_unlock_and_wake(struct realtime *realtime) GIVES(realtime_held);

/*
 * Opens the ring that is pinned there; on_record gets the bond. Starts the thread, unless it runs;
 * a real-time priority that is refused is no error. Returns 0, or -errno with a line in err; close
 * it in either case.
 */
int realtime_bond_open(struct realtime_bond *bond, struct realtime *realtime, const char *dir,
		       const char *pin, int (*on_record)(void *bond, void *data, size_t size),
		       struct err *err);
/* From then on `run` is called for it. */
NEEDS(realtime_held) void realtime_bond_add(struct realtime_bond *bond);
/* From then on it is not. */
NEEDS(realtime_held) void realtime_bond_remove(struct realtime_bond *bond);
/* Without the lock, when `run` is not called for it. */
void realtime_bond_close(struct realtime_bond *bond);

/* There is news for the main loop: news_fd becomes readable. */
void realtime_tell(struct realtime *realtime);
/* Empties it. False: it was empty. */
bool realtime_acknowledge(struct realtime *realtime);

#endif
