/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Work that is done elsewhere. Threads: for slow work, for questions to the kernel (realtime.h: for
 * what must be in time); what they may do; children, and other network namespaces.
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
	int fd; /* readable when a turn has ended since worker_has_ended_turn() */
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

/* Has a turn ended since the last call? */
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
	struct worker worker; /* its fd is readable when there are answers */
	bool asked GUARDED_BY(worker_held);
	bool busy; /* for the main loop: it has not taken the answers yet */
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

/* Copies the questions; not while it is busy. */
void asker_ask(struct asker *asker, const void *questions, size_t count);
/* Returns the questions with their answers, valid until the next ones; *ret_count 0: none. */
const void *asker_answers(struct asker *asker, size_t *ret_count);

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

/* child.c: work in a child, or in another network namespace. */

/*
 * Runs work in a child because it would affect bondd itself: its namespace, its descriptors, its
 * time. Knows nothing of the work.
 */

/*
 * Runs work(arg), which returns 0 or -errno, in a child. The child has ten seconds, ends with
 * bondd, and has no descriptors except the standard ones and keep_fd (-1: none). Returns what work
 * returned, or -ETIMEDOUT. Meanwhile links and timers of bonds are followed (main_loop.h).
 */
int child_run(int (*work)(const void *arg), const void *arg, int keep_fd);

/*
 * Changes devices of another network namespace from within that namespace. (A message with
 * IFLA_TARGET_NETNSID can read there but not change: the kernel takes the device with that number
 * here and moves it there.)
 */

typedef int (*netns_work)(struct nl *nl, const void *arg);

/*
 * Calls work in the namespace nsid, with a netlink socket of that namespace. work returns 0 or
 * -errno. nsid -1 means here, with nl. -ENOENT: no process and no name in /run/netns leads there.
 */
int netns_call(struct nl *nl, int nsid, netns_work work, const void *arg, struct err *err);
/* The same for a thread other than the main one, which goes there itself and comes back. */
int netns_call_in_thread(struct nl *nl, int nsid, netns_work work, const void *arg);

#endif
