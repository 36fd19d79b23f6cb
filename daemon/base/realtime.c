/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/base/realtime.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "daemon/base/capabilities.h"

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

/* A thread has the signal mask of who starts it. */
static int realtime_start_thread(struct realtime *realtime)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = -pthread_create(&realtime->thread, NULL, realtime_run, realtime);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

int realtime_start(struct realtime *realtime)
{
	struct sched_param priority = { .sched_priority = 1 };
	int r;

	if (realtime->running)
		return 0;
	pulse_add(&realtime->pulse, realtime->kind->name);
	r = realtime_start_thread(realtime);
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

void realtime_lock(struct realtime *realtime)
{
	pthread_mutex_lock(&realtime->lock);
}

void realtime_unlock(struct realtime *realtime)
{
	pthread_mutex_unlock(&realtime->lock);
}

void realtime_unlock_and_wake(struct realtime *realtime)
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
