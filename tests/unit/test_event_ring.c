/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ring of events: bounded, whole lines in order, and whoever is slow loses the oldest. */
#include "daemon/base/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#define SIZE 64

static void ring_add(struct event_ring *ring, const char *line)
{
	event_ring_add(ring, line, strlen(line));
}

static void assert_read(const struct event_ring *ring, uint64_t from, const char *expected)
{
	char buffer[256];
	uint64_t at = from;
	size_t used = event_ring_copy(ring, &at, buffer, sizeof(buffer) - 1);

	buffer[used] = '\0';
	assert_string_equal(buffer, expected);
	assert_int_equal(at, ring->next);
}

TEST(lines_come_in_order)
{
	struct event_ring ring;

	event_ring_init(&ring, SIZE, 8);
	assert_read(&ring, 1, "");
	ring_add(&ring, "one\n");
	ring_add(&ring, "two\n");
	assert_read(&ring, 1, "one\ntwo\n");
	assert_read(&ring, 2, "two\n");
	assert_read(&ring, 3, "");
	event_ring_done(&ring);
}

TEST(the_oldest_give_way_to_many)
{
	struct event_ring ring;

	event_ring_init(&ring, SIZE, 3);
	for (char line[] = "0\n"; *line < '9'; ++*line)
		ring_add(&ring, line);
	assert_int_equal(ring.first, 7);
	assert_int_equal(ring.next, 10);
	assert_read(&ring, 1, "6\n7\n8\n");
	event_ring_done(&ring);
}

/* Lines of all lengths, each of which is somewhere cut by the end of the memory. */
TEST(the_oldest_give_way_to_long_ones)
{
	struct event_ring ring;
	char line[SIZE + 1], expected[SIZE + 1];

	event_ring_init(&ring, SIZE, 1000);
	for (unsigned int i = 0; i < 1000; i++) {
		size_t length = 1 + i % SIZE, used = 0;
		uint64_t at = ring.next;

		memset(line, 'a' + i % 26, length);
		event_ring_add(&ring, line, length);
		used = event_ring_copy(&ring, &at, expected, length);
		assert_int_equal(used, length);
		assert_memory_equal(expected, line, length);
		at = 1;
		assert_true(event_ring_copy(&ring, &at, expected, SIZE) <= SIZE);
		assert_int_equal(at, ring.next);
	}
	event_ring_done(&ring);
}

TEST(a_small_buffer_gets_whole_lines)
{
	struct event_ring ring;
	char buffer[6];
	uint64_t at = 1;

	event_ring_init(&ring, SIZE, 8);
	ring_add(&ring, "one\n");
	ring_add(&ring, "two\n");
	assert_int_equal(event_ring_copy(&ring, &at, buffer, sizeof(buffer)), 4);
	assert_int_equal(at, 2);
	assert_int_equal(event_ring_copy(&ring, &at, buffer, 3), 0);
	assert_int_equal(at, 2);
	event_ring_done(&ring);
}

TEST(what_does_not_fit_is_counted)
{
	struct event_ring ring;
	char line[SIZE + 1];

	memset(line, 'x', sizeof(line));
	event_ring_init(&ring, SIZE, 8);
	ring_add(&ring, "one\n");
	event_ring_add(&ring, line, sizeof(line));
	ring_add(&ring, "two\n");
	assert_int_equal(ring.next, 4);
	assert_read(&ring, 1, "two\n");
	event_ring_done(&ring);
	ring_add(&ring, "after the end\n");
	assert_int_equal(ring.next, 5);
}

TEST(nothing_in_the_log_steers_a_terminal)
{
	static const char expected[] = "bondd: a?[7m\nbondd: b?[7m: c?d\n";
	const struct event event = { .bond = "b\033[7m", .kind = EVENT_NOTE, .priority = LOG_INFO };
	int kept = dup(STDERR_FILENO), log[2];
	char text[sizeof(expected)] = "";

	assert_false(pipe(log));
	dup2(log[1], STDERR_FILENO);
	unsetenv("JOURNAL_STREAM");
	event_init("/run/xbond");
	log_line(LOG_INFO, "a\033[7m");
	event_tell(&event, "c\x9b%s", "d");
	event_done();
	dup2(kept, STDERR_FILENO);
	assert_int_equal(read(log[0], text, sizeof(text) - 1), sizeof(text) - 1);
	assert_string_equal(text, expected);
}
