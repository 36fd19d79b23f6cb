/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread with real-time priority that runs whenever its deadline has come, a descriptor that it
 * watches is readable, or the main loop has changed something. Used by the threads of LACP and BFD.
 * Does not know what they do.
 */
#ifndef XBOND_DAEMON_BASE_REALTIME_H
#define XBOND_DAEMON_BASE_REALTIME_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/pulse.h"

#define REALTIME_NEVER UINT64_MAX

struct realtime_kind {
	const char *name; /* of the thread */
	/* Does what is due, with the lock held. Returns when it is to be called again. */
	uint64_t (*run)(void *context);
};

struct realtime {
	const struct realtime_kind *kind;
	void *context;
	pthread_t thread;
	struct pulse pulse;   /* the lock protects it, too */
	pthread_mutex_t lock; /* protects what `run` uses; not for long */
	bool running, stopping;
	int epoll_fd;
	int wake_fd; /* main loop -> thread */
	int news_fd; /* thread -> main loop */
};

/* 0 or -errno. The thread starts with realtime_start(). */
int realtime_open(struct realtime *realtime, const struct realtime_kind *kind, void *context);
/* 0 or -errno; nothing if it runs. A real-time priority that is refused is no error. */
int realtime_start(struct realtime *realtime);
/* Also after realtime_open() has failed. */
void realtime_close(struct realtime *realtime);

/* 0 or -errno. */
int realtime_watch(struct realtime *realtime, int fd);
void realtime_unwatch(struct realtime *realtime, int fd);

void realtime_lock(struct realtime *realtime);
void realtime_unlock(struct realtime *realtime);
/* The same, and `run` is called soon. */
void realtime_unlock_and_wake(struct realtime *realtime);

/* There is news for the main loop: realtime_news_fd() becomes readable. */
void realtime_tell(struct realtime *realtime);
int realtime_news_fd(const struct realtime *realtime);
/* Empties it. False: it was empty. */
bool realtime_acknowledge(struct realtime *realtime);

#endif
