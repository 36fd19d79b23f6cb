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
#include "network/packet.h"

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
#define REALTIME_NEVER UINT64_MAX
/* XBOND_LACP_AWAY_NS and XBOND_BFD_AWAY_NS are five of these. */
#define BEAT_NS (100 * NS_PER_MS)

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

static int realtime_watch(struct realtime *realtime, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events };

	return epoll_ctl(realtime->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

struct realtime *realtime_new(const struct realtime_kind *kind, struct err *err)
{
	struct realtime *realtime = memory_need(calloc(1, sizeof(*realtime)));

	*realtime = (struct realtime){
		.kind = kind,
		.epoll_fd = epoll_create1(EPOLL_CLOEXEC),
		.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
		.news_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
		.send_fd = packet_open_control(),
	};
	realtime_init_lock(&realtime->lock);
	if (realtime->epoll_fd >= 0 && realtime->wake_fd >= 0 && realtime->news_fd >= 0 &&
	    realtime->send_fd >= 0 && !realtime_watch(realtime, realtime->wake_fd, EPOLLIN))
		return realtime;
	err_set(err, errno, "cannot open sockets for %s: %m", kind->protocol);
	realtime_free(realtime);
	return NULL;
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

/* Runs what is due. Every bond beats. */
NEEDS(realtime_held) static uint64_t realtime_run_bonds(struct realtime *realtime)
{
	uint64_t next_ns = realtime->bonds ? clock_now_ns() + BEAT_NS : REALTIME_NEVER;
	bool news = false;

	for (struct realtime_bond *bond = realtime->bonds; bond; bond = bond->next) {
		uint64_t deadline_ns = realtime->kind->run(bond, clock_now_ns());

		if (deadline_ns < next_ns)
			next_ns = deadline_ns;
		news |= bond->has_news;
		bond->has_news = false;
	}
	if (news)
		realtime_tell(realtime);
	return next_ns;
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
		next_ns = realtime_run_bonds(realtime);
		pulse_owe(&realtime->pulse, next_ns);
		realtime_unlock(realtime);
		realtime_wait_until(realtime, next_ns);
		realtime_lock(realtime);
	}
	realtime_unlock(realtime);
	return NULL;
}

static int realtime_start(struct realtime *realtime)
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

static void realtime_destroy(struct realtime *realtime)
{
	int fds[] = { realtime->epoll_fd, realtime->wake_fd, realtime->news_fd, realtime->send_fd };

	if (realtime->running) {
		realtime_lock(realtime);
		realtime->stopping = true;
		realtime_unlock_and_wake(realtime);
		pthread_join(realtime->thread, NULL);
		pulse_remove(&realtime->pulse);
	}
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	pthread_mutex_destroy(&realtime->lock);
	free(realtime);
}

void realtime_free(struct realtime *realtime)
{
	if (realtime)
		realtime_destroy(realtime);
}

int realtime_bond_open(struct realtime_bond *bond, struct realtime *realtime, const char *dir,
		       const char *pin, int (*on_record)(void *bond, void *data, size_t size),
		       struct err *err)
{
	char path[PIN_PATH_SIZE];
	int fd = pin_open(dir, pin), r = 0;

	pin_path(path, dir, pin);
	if (fd < 0)
		return err_set(err, -fd, "%s: %s", path, strerror(-fd));
	bond->thread = realtime;
	bond->ring = ring_buffer__new(fd, on_record, bond, NULL);
	if (!bond->ring)
		r = err_set(err, errno, "%s: %m", path);
	close(fd);
	return r;
}

int realtime_bond_begin(struct realtime_bond *bond, struct err *err)
{
	struct realtime *realtime = bond->thread;
	int r = realtime_start(realtime);

	if (!r)
		r = realtime_watch(realtime, ring_buffer__epoll_fd(bond->ring), 0);
	return r ? err_set(err, -r, "cannot start the %s thread: %s", realtime->kind->protocol,
			   strerror(-r))
		 : 0;
}

/* Its ring is heeded from now on: until somebody reads it, it would keep the thread awake. */
void realtime_bond_add(struct realtime_bond *bond)
{
	struct epoll_event event = { .events = EPOLLIN };

	epoll_ctl(bond->thread->epoll_fd, EPOLL_CTL_MOD, ring_buffer__epoll_fd(bond->ring), &event);
	bond->next = bond->thread->bonds;
	bond->thread->bonds = bond;
}

void realtime_bond_remove(struct realtime_bond *bond)
{
	struct realtime_bond **at = &bond->thread->bonds;

	while (*at && *at != bond)
		at = &(*at)->next;
	if (*at)
		*at = bond->next;
	epoll_ctl(bond->thread->epoll_fd, EPOLL_CTL_DEL, ring_buffer__epoll_fd(bond->ring), NULL);
}

void realtime_bond_close(struct realtime_bond *bond)
{
	ring_buffer__free(bond->ring);
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
