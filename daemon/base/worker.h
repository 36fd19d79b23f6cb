/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread for work that would keep the main loop waiting. It does one turn after another, each
 * when the main loop has asked for it. Used by the poller, the settler and the announcer. Does not
 * know what they do.
 */
#ifndef XBOND_DAEMON_BASE_WORKER_H
#define XBOND_DAEMON_BASE_WORKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/pulse.h"

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

/* 0 or -errno. The thread gets no signals. */
int worker_start(struct worker *worker, const struct worker_kind *kind, void *context);
/* Waits until the turn that is going on has ended. */
void worker_stop(struct worker *worker);
/* For `work` of many steps: the main loop waits for its end. */
bool worker_is_stopping(const struct worker *worker);

void worker_lock(struct worker *worker);
void worker_unlock(struct worker *worker);
/* The same, and there is something to do. */
void worker_unlock_and_wake(struct worker *worker);

/* Readable when a turn has ended since worker_has_ended_turn(). */
int worker_fd(const struct worker *worker);
bool worker_has_ended_turn(struct worker *worker);

#endif
