/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads: for slow work, for questions to the kernel, for what must be in time; and what they may
 * do.
 */
#ifndef XBOND_DAEMON_BASE_WORKER_H
#define XBOND_DAEMON_BASE_WORKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/main_loop.h"
#include "network/driver.h"
#include "network/nl.h"

/*
 * `make tidy` checks with clang's -Wthread-safety that what two threads share is used under its
 * lock. There is one name for the locks of all workers, and one for those of all real-time threads:
 * nobody has two of either.
 */
#ifdef __clang__
#define GUARDED_BY(lock) __attribute__((guarded_by(lock)))
#define NEEDS(lock) __attribute__((requires_capability(lock)))
#define TAKES(lock) __attribute__((acquire_capability(lock)))
#define GIVES(lock) __attribute__((release_capability(lock)))
#define OWNS(lock) __attribute__((assert_capability(lock)))
#define IS_THE_LOCK __attribute__((no_thread_safety_analysis))
extern const struct __attribute__((capability("lock"))) lock_name {
	char unused;
} worker_held, realtime_held;
#else
#define GUARDED_BY(lock)
#define NEEDS(lock)
#define TAKES(lock)
#define GIVES(lock)
#define OWNS(lock)
#define IS_THE_LOCK
#endif

/* Starts a thread that gets no signals. Returns 0 or -errno. */
int thread_start(pthread_t *ret_thread, void *(*run)(void *arg), void *arg);

/*
 * A thread for work that would keep the main loop waiting. It does one turn after another, each
 * when the main loop has asked for it. Does not know what that is.
 */

/* The three steps of a turn. All get the context of worker_start(). */
struct worker_kind {
	const char *name; /* of the thread */
	/* Takes up what there is to do. False: nothing. The lock is held. */
	bool (*begin)(void *context);
	/* Does it, without the lock. */
	void (*work)(void *context);
	/* Hands over what came of it. The lock is held. */
	void (*end)(void *context);
	/*
	 * NULL, or when there will be something to do by itself (clock_now_ns()); 0: not before
	 * the main loop asks. The lock is held.
	 */
	uint64_t (*next_ns)(void *context);
};

struct worker {
	const struct worker_kind *kind;
	void *context;
	pthread_t thread;
	struct pulse pulse;   /* the lock protects it, too */
	pthread_mutex_t lock; /* protects what both the main loop and the thread write */
	pthread_cond_t wake;
	bool stopping;
	int fd;
};

/* 0 or -errno. */
int worker_start(struct worker *worker, const struct worker_kind *kind, void *context);
/* Waits until the turn that is going on has ended. What was shared is the caller's then. */
void worker_stop(struct worker *worker) OWNS(worker_held);
/* For `work` of many steps: the main loop waits for its end. */
bool worker_is_stopping(const struct worker *worker);

void worker_lock(struct worker *worker) TAKES(worker_held);
void worker_unlock(struct worker *worker) GIVES(worker_held);
/* The same, and there is something to do. */
void worker_unlock_and_wake(struct worker *worker) GIVES(worker_held);

/* Readable when a turn has ended since worker_has_ended_turn(). */
int worker_fd(const struct worker *worker);
bool worker_has_ended_turn(struct worker *worker);

/*
 * A worker that asks the kernel, which may answer under the RTNL lock or wait for a driver. It gets
 * an array of questions at once, and knows no bonds.
 */

struct asker {
	const struct asker_kind *kind;
	/* For kind->ask(): */
	struct nl nl;
	struct ethtool ethtool;
	/* worker.c: */
	struct worker_kind worker_kind;
	struct worker worker;
	bool asked GUARDED_BY(worker_held);
	bool busy; /* for the main loop: true until it has the answers */
	void *questions;
	size_t count;
	uint64_t asked_ns; /* when they were asked */
};

struct asker_kind {
	const char *name; /* of the thread */
	size_t size;	  /* of a question, in which there is room for its answer */
	void (*ask)(struct asker *asker, void *question);
};

/* 0 or -errno. */
int asker_new(const struct asker_kind *kind, struct asker **ret_asker);
void asker_free(struct asker *asker);

/* Is there a question whose answers have not been taken yet? Then it takes no others. */
bool asker_is_busy(const struct asker *asker);
/* Copies the questions. */
void asker_ask(struct asker *asker, const void *questions, size_t count);
/* Readable when there are answers. */
int asker_fd(const struct asker *asker);
/* Returns the questions with their answers, valid until the next ones; *ret_count 0: none. */
const void *asker_answers(struct asker *asker, size_t *ret_count);

/*
 * A thread with real-time priority that runs whenever its deadline has come, a ring that programs
 * fill has something for it, or the main loop has changed something. Used by the threads of LACP
 * and BFD. Does not know what they do.
 */

/* A bond for which it speaks: the first member of the struct that the thread's code has for it. */
struct realtime_bond {
	struct realtime_bond *next GUARDED_BY(realtime_held);
	struct realtime *thread;
	struct ring_buffer *ring;
	bool has_news; /* for the main loop; only its thread, with the lock held */
};

struct realtime_kind {
	const char *name;     /* of the thread */
	const char *protocol; /* for people */
	/* Does what is due, and beats. The lock is held. Returns when it is to be called again. */
	uint64_t (*run)(struct realtime_bond *bond, uint64_t now_ns);
};

struct realtime {
	const struct realtime_kind *kind;
	pthread_t thread;
	struct pulse pulse;   /* the lock protects it, too */
	pthread_mutex_t lock; /* protects the list and what `run` uses; not for long */
	struct realtime_bond *bonds GUARDED_BY(realtime_held);
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
 * Opens the ring that is pinned there; on_record gets the bond. Returns 0, or -errno with a line in
 * err.
 */
int realtime_bond_open(struct realtime_bond *bond, struct realtime *realtime, const char *dir,
		       const char *pin, int (*on_record)(void *bond, void *data, size_t size),
		       struct err *err);
/* Starts the thread, unless it runs. A real-time priority that is refused is no error. */
int realtime_bond_begin(struct realtime_bond *bond, struct err *err);
/* From then on `run` is called for it. */
NEEDS(realtime_held) void realtime_bond_add(struct realtime_bond *bond);
/* From then on it is not. */
NEEDS(realtime_held) void realtime_bond_remove(struct realtime_bond *bond);
/* Without the lock, when `run` is not called for it. */
void realtime_bond_close(struct realtime_bond *bond);

/* There is news for the main loop: realtime_news_fd() becomes readable. */
void realtime_tell(struct realtime *realtime);
int realtime_news_fd(const struct realtime *realtime);
/* Empties it. False: it was empty. */
bool realtime_acknowledge(struct realtime *realtime);

/* confine.c: what the calling thread may do from then on. It cannot be taken back. */

/*
 * It gives up the capabilities that it does not need once bondd runs. Threads that it starts later
 * have no more than it; those that run already call this themselves.
 */
void capabilities_drop(void);

/*
 * For a thread that reads what strangers send: it keeps the descriptors in fds, no
 * capability, and the system calls by which a server reads, writes and accepts connections. Others
 * fail with EPERM. What it opens later, other threads do not have, and the other way round. They
 * still share memory. Returns 0, or -errno when the kernel refuses a part; the other parts hold.
 */
int thread_confine(const int *fds, size_t count);

#endif
