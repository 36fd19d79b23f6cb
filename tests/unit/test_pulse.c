/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the service manager hears of threads that go on, and of one that hangs. */
#include "daemon/base/main_loop.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clock.h"
#include "daemon/base/worker.h"
#include "tests/unit/unit.h"

#define LIMIT_US 40000
#define LIMIT_NS (LIMIT_US * UINT64_C(1000))
#define DEADLINE_NS (10 * NS_PER_S)

static int manager; /* the service manager's socket */
static uint64_t now_ns = 1000 * NS_PER_S;

/* It stands still but for pass(), however long this program has to wait for a CPU. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now)
{
	uint64_t now = __atomic_load_n(&now_ns, __ATOMIC_RELAXED);

	*ret_now = (struct timespec){ .tv_sec = (time_t)(now / NS_PER_S),
				      .tv_nsec = (long)(now % NS_PER_S) };
	return 0;
}

/* A thread that works has as much time at least. */
static void pass(int ms)
{
	poll(NULL, 0, ms);
	__atomic_fetch_add(&now_ns, (uint64_t)ms * NS_PER_MS, __ATOMIC_RELAXED);
}

static int begin(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char limit[16];

	snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/test_pulse.%d", getpid());
	snprintf(limit, sizeof(limit), "%d", LIMIT_US);
	unlink(address.sun_path);
	manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (bind(manager, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -1;
	setenv("NOTIFY_SOCKET", address.sun_path, 1);
	setenv("WATCHDOG_USEC", limit, 1);
	pulse_init();
	return 0;
}

static int end(void **state)
{
	close(manager);
	return unlink(getenv("NOTIFY_SOCKET"));
}

/* What the manager has heard; "": nothing. */
static const char *heard(void)
{
	static char text[64];
	ssize_t got = recv(manager, text, sizeof(text) - 1, MSG_DONTWAIT);

	text[got > 0 ? got : 0] = '\0';
	return text;
}

static void forget(void)
{
	while (*heard())
		;
}

/* Beats until the manager hears something; "": it did not within the limit. */
static const char *beat_for(uint64_t limit_ns)
{
	uint64_t end_ns = clock_now_ns() + limit_ns;

	while (clock_now_ns() < end_ns) {
		const char *said;

		pulse_beat();
		said = heard();
		if (*said)
			return said;
		pass(1);
	}
	return "";
}

TEST(threads_that_rest_or_are_quick_enough_live, begin, end)
{
	struct pulse resting, quick;

	pulse_add(&resting, "resting");
	pulse_add(&quick, "quick");
	for (int i = 0; i < 20; i++) {
		pulse_owe(&quick, clock_now_ns());
		assert_string_equal(beat_for(DEADLINE_NS), "WATCHDOG=1");
	}
	pulse_remove(&quick);
	pulse_remove(&resting);
}

TEST(a_thread_that_was_woken_owes_from_the_first_time_on, begin, end)
{
	struct pulse pulse;
	uint64_t due_ns;

	pulse_add(&pulse, "woken");
	pulse_wake(&pulse);
	due_ns = pulse.due_ns;
	assert_in_range(due_ns, 1, clock_now_ns());
	pass(2);
	pulse_wake(&pulse);
	assert_int_equal(pulse.due_ns, due_ns);
	pulse_remove(&pulse);
}

TEST(being_late_once_is_forgiven, begin, end)
{
	struct pulse pulse;

	pulse_add(&pulse, "late");
	forget();
	pulse_owe(&pulse, clock_now_ns() - 2 * LIMIT_NS);
	assert_string_equal(beat_for(LIMIT_NS / 5), "");
	pulse_owe(&pulse, PULSE_NEVER);
	assert_string_equal(beat_for(DEADLINE_NS), "WATCHDOG=1");
	pulse_remove(&pulse);
}

static bool hang_begin(void *context)
{
	return true;
}

static void hang_work(void *context)
{
	while (!worker_is_stopping(context))
		poll(NULL, 0, 1);
}

static void hang_end(void *context)
{
}

/* The last test: nothing is told afterwards. */
TEST(a_thread_that_hangs_is_told_of_once, begin, end)
{
	static const struct worker_kind kind = {
		.name = "hung",
		.begin = hang_begin,
		.work = hang_work,
		.end = hang_end,
	};
	uint64_t end_ns = clock_now_ns() + DEADLINE_NS;
	struct worker worker;
	const char *said;

	assert_int_equal(worker_start(&worker, &kind, &worker), 0);
	do
		said = beat_for(DEADLINE_NS);
	while (!strcmp(said, "WATCHDOG=1") && clock_now_ns() < end_ns);
	assert_string_equal(said, "WATCHDOG=trigger");
	assert_string_equal(beat_for(2 * LIMIT_NS), "");
	worker_stop(&worker);
}
