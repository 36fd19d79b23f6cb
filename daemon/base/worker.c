/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/base/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/memory.h"

int thread_start(pthread_t *ret_thread, void *(*run)(void *arg), void *arg)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = -pthread_create(ret_thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

/* For slow work. */

NEEDS(worker_held) static void worker_turn(struct worker *worker)
{
	pulse_owe(&worker->pulse, clock_now_ns());
	worker_unlock(worker);
	worker->kind->work(worker->context);
	worker_lock(worker);
	worker->kind->end(worker->context);
	loop_signal(worker->fd);
}

NEEDS(worker_held) static void worker_wait(struct worker *worker)
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
	r = thread_start(&worker->thread, worker_run, worker);
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

IS_THE_LOCK void worker_lock(struct worker *worker)
{
	pthread_mutex_lock(&worker->lock);
}

IS_THE_LOCK void worker_unlock(struct worker *worker)
{
	pthread_mutex_unlock(&worker->lock);
}

IS_THE_LOCK void worker_unlock_and_wake(struct worker *worker)
{
	pulse_wake(&worker->pulse);
	pthread_cond_signal(&worker->wake);
	pthread_mutex_unlock(&worker->lock);
}

bool worker_has_ended_turn(struct worker *worker)
{
	return loop_take_signal(worker->fd);
}

/* For questions. */

NEEDS(worker_held) static bool asker_begin(void *context)
{
	struct asker *asker = context;

	return asker->asked;
}

static void asker_work(void *context)
{
	struct asker *asker = context;
	char *at = asker->questions;

	for (size_t i = 0; i < asker->count && !worker_is_stopping(&asker->worker); i++)
		asker->kind->ask(asker, at + i * asker->kind->size);
}

NEEDS(worker_held) static void asker_end(void *context)
{
	struct asker *asker = context;

	asker->asked = false;
}

static int asker_start(struct asker *asker)
{
	int r = nl_init(&asker->nl);

	if (!r)
		r = ethtool_init(&asker->ethtool);
	return r ? r : worker_start(&asker->worker, &asker->worker_kind, asker);
}

static void asker_free_stopped(struct asker *asker)
{
	ethtool_done(&asker->ethtool);
	nl_done(&asker->nl);
	free(asker->questions);
	free(asker);
}

int asker_new(const struct asker_kind *kind, struct asker **ret_asker)
{
	struct asker *asker = memory_need(calloc(1, sizeof(*asker)));
	int r;

	*asker = (struct asker){ .kind = kind,
				 .worker_kind = { .name = kind->name,
						  .begin = asker_begin,
						  .work = asker_work,
						  .end = asker_end },
				 .ethtool.fd = -1 };
	r = asker_start(asker);
	if (!r)
		*ret_asker = asker;
	else
		asker_free_stopped(asker);
	return r;
}

void asker_free(struct asker *asker)
{
	if (!asker)
		return;
	worker_stop(&asker->worker);
	asker_free_stopped(asker);
}

void asker_ask(struct asker *asker, const void *questions, size_t count)
{
	if (asker->busy || !count)
		return;
	asker->questions = memory_need(reallocarray(asker->questions, count, asker->kind->size));
	memcpy(asker->questions, questions, count * asker->kind->size);
	asker->count = count;
	asker->asked_ns = clock_now_ns();
	asker->busy = true;
	worker_lock(&asker->worker);
	asker->asked = true;
	worker_unlock_and_wake(&asker->worker);
}

const void *asker_answers(struct asker *asker, size_t *ret_count)
{
	*ret_count = 0;
	if (!worker_has_ended_turn(&asker->worker))
		return NULL;
	asker->busy = false;
	*ret_count = asker->count;
	return asker->questions;
}
