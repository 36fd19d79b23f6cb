/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The worker: a turn for what is asked, one after another, and an end that waits for the turn. */
#include "daemon/base/worker.h"

#include <poll.h>
#include <signal.h>

#include "common/clock.h"
#include "tests/unit/unit.h"

#define DEADLINE_MS 10000

struct sums {
	struct worker worker;
	int asked, served, taken;
	bool blocks; /* a turn lasts until the worker is to stop */
	bool had_signals;
};

static bool sums_begin(void *context)
{
	struct sums *sums = context;

	sums->taken = sums->asked - sums->served;
	return sums->taken;
}

static void sums_work(void *context)
{
	struct sums *sums = context;
	sigset_t blocked;

	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	sums->had_signals = !sigismember(&blocked, SIGTERM);
	while (sums->blocks && !worker_is_stopping(&sums->worker))
		poll(NULL, 0, 1);
}

static void sums_end(void *context)
{
	struct sums *sums = context;

	sums->served += sums->taken;
}

static const struct worker_kind kind = {
	.name = "sums",
	.begin = sums_begin,
	.work = sums_work,
	.end = sums_end,
};

static void ask(struct sums *sums)
{
	worker_lock(&sums->worker);
	sums->asked++;
	worker_unlock_and_wake(&sums->worker);
}

static int locked(struct sums *sums, const int *field)
{
	int value;

	worker_lock(&sums->worker);
	value = *field;
	worker_unlock(&sums->worker);
	return value;
}

TEST(every_request_is_served)
{
	struct pollfd readable = { .events = POLLIN };
	struct sums sums = { 0 };

	assert_int_equal(worker_start(&sums.worker, &kind, &sums), 0);
	readable.fd = sums.worker.fd;
	for (int turn = 1; turn <= 100; turn++) {
		ask(&sums);
		while (locked(&sums, &sums.served) < turn) {
			assert_int_equal(poll(&readable, 1, DEADLINE_MS), 1);
			assert_true(worker_has_ended_turn(&sums.worker));
		}
	}
	worker_stop(&sums.worker);
	assert_int_equal(sums.served, 100);
	assert_false(sums.had_signals);
}

TEST(the_end_waits_for_the_turn)
{
	struct sums sums = { .blocks = true };

	assert_int_equal(worker_start(&sums.worker, &kind, &sums), 0);
	assert_false(worker_has_ended_turn(&sums.worker));
	ask(&sums);
	while (!locked(&sums, &sums.taken))
		poll(NULL, 0, 1);
	assert_int_equal(locked(&sums, &sums.served), 0);
	worker_stop(&sums.worker);
	assert_int_equal(sums.served, 1);
}

static uint64_t clock_asks_at(void *context)
{
	struct sums *sums = context;

	return sums->served < 5 ? clock_now_ns() + NS_PER_MS : 0;
}

static bool clock_begin(void *context)
{
	struct sums *sums = context;

	sums->taken = sums->asked++ % 2;
	return sums->taken;
}

TEST(it_works_by_the_clock)
{
	static const struct worker_kind by_clock = {
		.name = "clock",
		.begin = clock_begin,
		.work = sums_work,
		.end = sums_end,
		.next_ns = clock_asks_at,
	};
	struct pollfd readable = { .events = POLLIN };
	struct sums sums = { 0 };

	assert_int_equal(worker_start(&sums.worker, &by_clock, &sums), 0);
	readable.fd = sums.worker.fd;
	while (locked(&sums, &sums.served) < 5) {
		assert_int_equal(poll(&readable, 1, DEADLINE_MS), 1);
		assert_true(worker_has_ended_turn(&sums.worker));
	}
	worker_stop(&sums.worker);
	assert_int_equal(sums.served, 5);
}

TEST(it_stops_without_work)
{
	struct sums sums = { 0 };

	assert_int_equal(worker_start(&sums.worker, &kind, &sums), 0);
	worker_stop(&sums.worker);
	assert_int_equal(sums.served, 0);
}
