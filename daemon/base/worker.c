/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/base/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "daemon/base/capabilities.h"

static void worker_turn(struct worker *worker)
{
	uint64_t one = 1;
	ssize_t written;

	pulse_owe(&worker->pulse, clock_now_ns());
	worker_unlock(worker);
	worker->kind->work(worker->context);
	worker_lock(worker);
	worker->kind->end(worker->context);
	written = write(worker->fd, &one, sizeof(one));
	(void)written; /* a full counter is also readable */
}

static void worker_wait(struct worker *worker)
{
	uint64_t next_ns = worker->kind->next_ns ? worker->kind->next_ns(worker->context) : 0;
	struct timespec time = { .tv_sec = (time_t)(next_ns / NS_PER_S),
				 .tv_nsec = (long)(next_ns % NS_PER_S) };

	pulse_owe(&worker->pulse, next_ns ? next_ns : PULSE_NEVER);
	if (next_ns)
		pthread_cond_timedwait(&worker->wake, &worker->lock, &time);
	else
		pthread_cond_wait(&worker->wake, &worker->lock);
}

static void *worker_run(void *arg)
{
	struct worker *worker = arg;

	pthread_setname_np(pthread_self(), worker->kind->name);
	capabilities_drop();
	worker_lock(worker);
	while (!worker_is_stopping(worker)) {
		if (worker->kind->begin(worker->context))
			worker_turn(worker);
		else
			worker_wait(worker);
	}
	worker_unlock(worker);
	return NULL;
}

/* A thread has the signal mask of who starts it. */
static int worker_start_thread(struct worker *worker)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = -pthread_create(&worker->thread, NULL, worker_run, worker);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

static void worker_init_wake(struct worker *worker)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&worker->wake, &attributes);
	pthread_condattr_destroy(&attributes);
}

int worker_start(struct worker *worker, const struct worker_kind *kind, void *context)
{
	int r;

	*worker = (struct worker){ .kind = kind, .context = context };
	worker->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (worker->fd < 0)
		return -errno;
	pthread_mutex_init(&worker->lock, NULL);
	worker_init_wake(worker);
	pulse_add(&worker->pulse, kind->name);
	r = worker_start_thread(worker);
	if (!r)
		return 0;
	pulse_remove(&worker->pulse);
	close(worker->fd);
	return r;
}

void worker_stop(struct worker *worker)
{
	worker_lock(worker);
	__atomic_store_n(&worker->stopping, true, __ATOMIC_RELAXED);
	worker_unlock_and_wake(worker);
	pthread_join(worker->thread, NULL);
	pulse_remove(&worker->pulse);
	pthread_cond_destroy(&worker->wake);
	pthread_mutex_destroy(&worker->lock);
	close(worker->fd);
}

bool worker_is_stopping(const struct worker *worker)
{
	return __atomic_load_n(&worker->stopping, __ATOMIC_RELAXED);
}

void worker_lock(struct worker *worker)
{
	pthread_mutex_lock(&worker->lock);
}

void worker_unlock(struct worker *worker)
{
	pthread_mutex_unlock(&worker->lock);
}

void worker_unlock_and_wake(struct worker *worker)
{
	pulse_wake(&worker->pulse);
	pthread_cond_signal(&worker->wake);
	pthread_mutex_unlock(&worker->lock);
}

int worker_fd(const struct worker *worker)
{
	return worker->fd;
}

bool worker_has_ended_turn(struct worker *worker)
{
	uint64_t count;

	return read(worker->fd, &count, sizeof(count)) == sizeof(count);
}
