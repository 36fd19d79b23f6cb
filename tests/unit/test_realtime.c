/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whom the thread runs. An eventfd stands for the ring of each bond. */
#include "daemon/base/realtime.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/base/main_loop.h"
#include "tests/unit/unit.h"

#define DEADLINE_MS 10000
#define RECORDS 50

struct ring_buffer {
	int fd;
};

struct counted {
	struct realtime_bond realtime; /* the first one */
	int runs, records;
};

static struct ring_buffer *opened;

int __wrap_packet_open_control(void)
{
	return eventfd(0, EFD_CLOEXEC);
}

int __wrap_pin_open(const char *dir, const char *name)
{
	return eventfd(0, EFD_CLOEXEC);
}

struct ring_buffer *__wrap_ring_buffer__new(int map_fd, int (*on_record)(void *, void *, size_t),
					    void *context, const void *options)
{
	return opened;
}

int __wrap_ring_buffer__epoll_fd(const struct ring_buffer *ring)
{
	return ring->fd;
}

void __wrap_ring_buffer__free(struct ring_buffer *ring)
{
	close(ring->fd);
}

static uint64_t counted_run(struct realtime_bond *bond, uint64_t now_ns)
{
	struct counted *counted = (struct counted *)bond;

	counted->runs++;
	counted->records += loop_take_signal(bond->ring->fd);
	return UINT64_MAX;
}

static const struct realtime_kind kind = { "counted", "counting", counted_run };

static void begin(struct counted *bond, struct realtime *realtime, struct ring_buffer *ring)
{
	ring->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	opened = ring;
	assert_int_equal(realtime_bond_open(&bond->realtime, realtime, "", "", NULL, NULL), 0);
	realtime_lock(realtime);
	realtime_bond_add(&bond->realtime);
	realtime_unlock_and_wake(realtime);
}

static void end(struct counted *bond, struct realtime *realtime)
{
	realtime_lock(realtime);
	realtime_bond_remove(&bond->realtime);
	realtime_unlock(realtime);
	realtime_bond_close(&bond->realtime);
}

static int locked(struct realtime *realtime, const int *field)
{
	int value;

	realtime_lock(realtime);
	value = *field;
	realtime_unlock(realtime);
	return value;
}

static void send_records(struct counted *bond, struct realtime *realtime)
{
	for (int i = 1; i <= RECORDS; i++) {
		int patience = DEADLINE_MS;

		loop_signal(bond->realtime.ring->fd);
		while (locked(realtime, &bond->records) < i && patience--)
			poll(NULL, 0, 1);
		assert_int_equal(locked(realtime, &bond->records), i);
	}
}

/* At a beat both are run, so a busy machine cannot turn this round. */
TEST(only_whose_ring_has_something_is_run)
{
	struct realtime *realtime = realtime_new(&kind, NULL);
	struct counted busy = { 0 }, idle = { 0 };
	struct ring_buffer rings[2];

	assert_non_null(realtime);
	begin(&busy, realtime, &rings[0]);
	begin(&idle, realtime, &rings[1]);
	send_records(&busy, realtime);
	assert_int_equal(locked(realtime, &idle.records), 0);
	assert_true(locked(realtime, &busy.runs) > locked(realtime, &idle.runs) + RECORDS / 5);
	end(&busy, realtime);
	end(&idle, realtime);
	realtime_free(realtime);
}
