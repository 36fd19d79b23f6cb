/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/base/realtime.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/memory.h"
#include "common/pins.h"
#include "network/packet.h"

#define MAX_EPOLL 32
#define REALTIME_NEVER UINT64_MAX
/* XBOND_LACP_AWAY_NS and XBOND_BFD_AWAY_NS are five of these. */
#define BEAT_NS (100 * NS_PER_MS)

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
	    realtime->send_fd >= 0 &&
	    !loop_epoll_add(realtime->epoll_fd, realtime->wake_fd, EPOLLIN))
		return realtime;
	err_set(err, errno, "cannot open sockets for %s: %m", kind->protocol);
	realtime_free(realtime);
	return NULL;
}

/* Returns how many of the descriptors are ready, and which. */
static int realtime_wait_until(const struct realtime *realtime, uint64_t next_ns,
			       struct epoll_event ready[MAX_EPOLL])
{
	uint64_t now_ns = clock_now_ns(), wait_ns = next_ns > now_ns ? next_ns - now_ns : 0;
	struct timespec timeout = { .tv_sec = (time_t)(wait_ns / NS_PER_S),
				    .tv_nsec = (long)(wait_ns % NS_PER_S) };

	/* Not every C library has epoll_pwait2(). */
	return (int)syscall(SYS_epoll_pwait2, realtime->epoll_fd, ready, MAX_EPOLL,
			    next_ns == REALTIME_NEVER ? NULL : &timeout, NULL, 0);
}

/* What is not there any more is not found. What comes after MAX_EPOLL is ready again at once. */
NEEDS(realtime_held)
static void realtime_note_ready(struct realtime *realtime, const struct epoll_event *ready,
				int count)
{
	for (int i = 0; i < count; i++) {
		struct realtime_bond *bond = realtime->bonds;

		if (ready[i].data.fd == realtime->wake_fd) {
			loop_take_signal(realtime->wake_fd);
			realtime->beat_ns = 0;
		}
		while (bond && bond->ring_fd != ready[i].data.fd)
			bond = bond->next;
		if (bond)
			bond->next_ns = 0;
	}
}

/* Runs the bonds that are due. At each beat, and when the main loop has changed something, all. */
NEEDS(realtime_held) static uint64_t realtime_run_bonds(struct realtime *realtime)
{
	uint64_t now_ns = clock_now_ns(), next_ns;
	bool beats = realtime->beat_ns <= now_ns, news = false;

	if (beats)
		realtime->beat_ns = now_ns + BEAT_NS;
	next_ns = realtime->bonds ? realtime->beat_ns : REALTIME_NEVER;
	for (struct realtime_bond *bond = realtime->bonds; bond; bond = bond->next) {
		if (beats || bond->next_ns <= now_ns)
			bond->next_ns = realtime->kind->run(bond, clock_now_ns());
		if (bond->next_ns < next_ns)
			next_ns = bond->next_ns;
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
	struct epoll_event ready[MAX_EPOLL];

	pthread_setname_np(pthread_self(), realtime->kind->name);
	capabilities_drop();
	realtime_lock(realtime);
	while (!realtime->stopping) {
		uint64_t next_ns;
		int count;

		pulse_owe(&realtime->pulse, clock_now_ns());
		next_ns = realtime_run_bonds(realtime);
		pulse_owe(&realtime->pulse, next_ns);
		realtime_unlock(realtime);
		count = realtime_wait_until(realtime, next_ns, ready);
		realtime_lock(realtime);
		realtime_note_ready(realtime, ready, count);
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

static int realtime_bond_start(struct realtime_bond *bond, struct err *err)
{
	struct realtime *realtime = bond->thread;
	int r = realtime_start(realtime);

	if (!r)
		r = loop_epoll_add(realtime->epoll_fd, bond->ring_fd, 0);
	return r ? err_set(err, -r, "cannot start the %s thread: %s", realtime->kind->protocol,
			   strerror(-r))
		 : 0;
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
	if (bond->ring)
		bond->ring_fd = ring_buffer__epoll_fd(bond->ring);
	else
		r = err_set(err, errno, "%s: %m", path);
	close(fd);
	return r ? r : realtime_bond_start(bond, err);
}

/* Its ring is heeded from now on: until somebody reads it, it would keep the thread awake. */
void realtime_bond_add(struct realtime_bond *bond)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = bond->ring_fd };

	epoll_ctl(bond->thread->epoll_fd, EPOLL_CTL_MOD, bond->ring_fd, &event);
	bond->next = bond->thread->bonds;
	bond->thread->bonds = bond;
}

void realtime_bond_remove(struct realtime_bond *bond)
{
	memory_unlist(bond->thread->bonds, bond);
	epoll_ctl(bond->thread->epoll_fd, EPOLL_CTL_DEL, bond->ring_fd, NULL);
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
	loop_signal(realtime->wake_fd);
}

void realtime_tell(struct realtime *realtime)
{
	loop_signal(realtime->news_fd);
}

bool realtime_acknowledge(struct realtime *realtime)
{
	return loop_take_signal(realtime->news_fd);
}
