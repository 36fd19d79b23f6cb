/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/base/worker.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/memory.h"
#include "common/pins.h"
#include "daemon/base/event.h"

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

int worker_fd(const struct worker *worker)
{
	return worker->fd;
}

bool worker_has_ended_turn(struct worker *worker)
{
	uint64_t count;

	return read(worker->fd, &count, sizeof(count)) == sizeof(count);
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

bool asker_is_busy(const struct asker *asker)
{
	return asker->busy;
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

int asker_fd(const struct asker *asker)
{
	return worker_fd(&asker->worker);
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

/* For what must be in time. */

#define MAX_EPOLL 32

static void realtime_signal_fd(int fd)
{
	uint64_t one = 1;
	ssize_t written = write(fd, &one, sizeof(one));

	(void)written; /* a full counter is also a signal */
}

static bool realtime_clear_fd(int fd)
{
	uint64_t count;

	return read(fd, &count, sizeof(count)) > 0;
}

/*
 * If the main loop was preempted while it holds the lock, it gets the CPU when the thread waits for
 * the lock.
 */
static void realtime_init_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
}

int realtime_open(struct realtime *realtime, const struct realtime_kind *kind, void *context)
{
	*realtime = (struct realtime){ .kind = kind, .context = context };
	realtime_init_lock(&realtime->lock);
	realtime->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	realtime->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	realtime->news_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (realtime->epoll_fd < 0 || realtime->wake_fd < 0 || realtime->news_fd < 0)
		return -errno;
	return realtime_watch(realtime, realtime->wake_fd);
}

static void realtime_wait_until(const struct realtime *realtime, uint64_t next_ns)
{
	uint64_t now_ns = clock_now_ns(), wait_ns = next_ns > now_ns ? next_ns - now_ns : 0;
	struct timespec timeout = { .tv_sec = (time_t)(wait_ns / NS_PER_S),
				    .tv_nsec = (long)(wait_ns % NS_PER_S) };
	struct epoll_event events[MAX_EPOLL];

	epoll_pwait2(realtime->epoll_fd, events, MAX_EPOLL,
		     next_ns == REALTIME_NEVER ? NULL : &timeout, NULL);
}

static void *realtime_run(void *arg)
{
	struct realtime *realtime = arg;

	pthread_setname_np(pthread_self(), realtime->kind->name);
	capabilities_drop();
	realtime_lock(realtime);
	while (!realtime->stopping) {
		uint64_t next_ns;

		pulse_owe(&realtime->pulse, clock_now_ns());
		realtime_clear_fd(realtime->wake_fd);
		next_ns = realtime->kind->run(realtime->context);
		pulse_owe(&realtime->pulse, next_ns);
		realtime_unlock(realtime);
		realtime_wait_until(realtime, next_ns);
		realtime_lock(realtime);
	}
	realtime_unlock(realtime);
	return NULL;
}

int realtime_start(struct realtime *realtime)
{
	struct sched_param priority = { .sched_priority = 1 };
	int r;

	if (realtime->running)
		return 0;
	pulse_add(&realtime->pulse, realtime->kind->name);
	r = thread_start(&realtime->thread, realtime_run, realtime);
	if (r) {
		pulse_remove(&realtime->pulse);
		return r;
	}
	pthread_setschedparam(realtime->thread, SCHED_RR, &priority);
	realtime->running = true;
	return 0;
}

void realtime_close(struct realtime *realtime)
{
	int fds[] = { realtime->epoll_fd, realtime->wake_fd, realtime->news_fd };

	if (realtime->running) {
		realtime_lock(realtime);
		realtime->stopping = true;
		realtime_unlock_and_wake(realtime);
		pthread_join(realtime->thread, NULL);
		pulse_remove(&realtime->pulse);
	}
	for (int i = 0; i < 3; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	pthread_mutex_destroy(&realtime->lock);
}

int realtime_watch(struct realtime *realtime, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(realtime->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

void realtime_unwatch(struct realtime *realtime, int fd)
{
	epoll_ctl(realtime->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

struct ring_buffer *realtime_ring(const char *dir, const char *pin,
				  int (*on_record)(void *context, void *data, size_t size),
				  void *context, struct err *err)
{
	struct ring_buffer *ring;
	char path[PIN_PATH_SIZE];
	int fd = pin_open(dir, pin);

	pin_path(path, dir, pin);
	if (fd < 0) {
		err_set(err, -fd, "%s: %s", path, strerror(-fd));
		return NULL;
	}
	ring = ring_buffer__new(fd, on_record, context, NULL);
	if (!ring)
		err_set(err, errno, "%s: %m", path);
	close(fd);
	return ring;
}

IS_THE_LOCK void realtime_lock(struct realtime *realtime)
{
	pthread_mutex_lock(&realtime->lock);
}

IS_THE_LOCK void realtime_unlock(struct realtime *realtime)
{
	pthread_mutex_unlock(&realtime->lock);
}

IS_THE_LOCK void realtime_unlock_and_wake(struct realtime *realtime)
{
	pulse_wake(&realtime->pulse);
	realtime_unlock(realtime);
	realtime_signal_fd(realtime->wake_fd);
}

void realtime_tell(struct realtime *realtime)
{
	realtime_signal_fd(realtime->news_fd);
}

int realtime_news_fd(const struct realtime *realtime)
{
	return realtime->news_fd;
}

bool realtime_acknowledge(struct realtime *realtime)
{
	return realtime_clear_fd(realtime->news_fd);
}
