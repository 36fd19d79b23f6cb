/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/base/idle.h"

#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "daemon/base/latency.h"
#include "daemon/base/pulse.h"

#define TURN_MS 10

static const struct idle_work *idle_work;

void idle_set_work(const struct idle_work *work)
{
	idle_work = work;
}

static int idle_left_ms(uint64_t end_ns)
{
	uint64_t now_ns = clock_now_ns();

	return now_ns < end_ns ? (int)((end_ns - now_ns) / NS_PER_MS) + 1 : 0;
}

void idle_turn(void)
{
	const char *work;

	if (!idle_work)
		return;
	work = latency_pause();
	latency_resume("meanwhile");
	idle_work->turn(idle_work->arg);
	latency_pause();
	latency_resume(work);
}

bool idle_wait(int fd, int limit_ms)
{
	uint64_t end_ns = clock_now_ns() + (uint64_t)limit_ms * NS_PER_MS;
	struct pollfd fds[] = { { .fd = fd, .events = POLLIN },
				{ .fd = idle_work ? idle_work->fd : -1, .events = POLLIN } };
	int left_ms = limit_ms;

	while (left_ms > 0) {
		const char *work = latency_pause();

		poll(fds, 2, idle_work && left_ms > TURN_MS ? TURN_MS : left_ms);
		latency_resume(work);
		if (fds[0].revents)
			return true;
		idle_turn();
		left_ms = idle_left_ms(end_ns);
	}
	return false;
}

struct idle_thread {
	void (*work)(void *arg);
	void *arg;
	int fd;
};

static void *idle_thread_run(void *arg)
{
	struct idle_thread *thread = arg;
	uint64_t one = 1;
	ssize_t written;

	thread->work(thread->arg);
	written = write(thread->fd, &one, sizeof(one));
	(void)written;
	return NULL;
}

void idle_run(void (*work)(void *arg), void *arg)
{
	struct idle_thread thread = { work, arg, eventfd(0, EFD_CLOEXEC) };
	struct pulse pulse;
	pthread_t id;

	pulse_add(&pulse, "request");
	pulse_owe(&pulse, clock_now_ns());
	if (thread.fd >= 0 && !pthread_create(&id, NULL, idle_thread_run, &thread)) {
		while (!idle_wait(thread.fd, INT_MAX))
			;
		pthread_join(id, NULL);
	} else {
		work(arg);
	}
	pulse_remove(&pulse);
	if (thread.fd >= 0)
		close(thread.fd);
}
