/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flap_limit, rx_silence and error_limit on virtual time. */
#include <string.h>

#include "common/clock.h"
#include "rules/link_state.h"
#include "tests/unit/unit.h"

#define START (1000 * NS_PER_S)

static uint64_t at(uint64_t seconds)
{
	return START + seconds * NS_PER_S;
}

/* Breaks the limit at that time; returns how many seconds the slave is held. */
static uint64_t trip(struct xbond_hold_down *hold, uint64_t now_ns)
{
	hold_down_trip(hold, now_ns);
	return hold_down_left_ns(hold, now_ns) / NS_PER_S;
}

TEST(hold_down_doubles_up_to_a_limit)
{
	static const uint64_t seconds[] = { 10, 20, 40, 80, 160, 300, 300, 300 };
	struct xbond_hold_down hold = { 0 };
	uint64_t now_ns = START;

	assert_int_equal(hold_down_left_ns(&hold, now_ns), 0);
	for (size_t i = 0; i < sizeof(seconds) / sizeof(*seconds); i++) {
		assert_int_equal(trip(&hold, now_ns), seconds[i]);
		now_ns += seconds[i] * NS_PER_S;
		assert_int_equal(hold_down_left_ns(&hold, now_ns - 1), 1);
		assert_int_equal(hold_down_left_ns(&hold, now_ns), 0);
	}
	assert_int_equal(hold.count, 8);
}

TEST(while_held_the_same_time_begins_anew)
{
	struct xbond_hold_down hold = { 0 };

	assert_int_equal(trip(&hold, at(0)), 10);
	for (uint64_t second = 1; second < 100; second++)
		assert_int_equal(trip(&hold, at(second)), 10);
	assert_int_equal(hold.count, 1);
	assert_int_equal(hold_down_left_ns(&hold, at(109)), 0);
	assert_int_equal(trip(&hold, at(109)), 20);
}

TEST(a_quiet_minute_halves_the_next)
{
	struct xbond_hold_down hold = { .until_ns = START, .level = 4 };
	struct xbond_hold_down again = hold, later = hold, much_later = hold;

	assert_int_equal(trip(&again, at(59)), 160);
	assert_int_equal(trip(&hold, at(60)), 80);
	assert_int_equal(trip(&later, at(120)), 40);
	assert_int_equal(trip(&much_later, at(100000)), 10);
}

TEST(what_is_pinned_is_not_trusted)
{
	struct xbond_hold_down hold = { .until_ns = UINT64_MAX, .level = UINT32_MAX };
	struct xbond_silence silence;
	struct xbond_errors errors;
	struct xbond_flaps flaps;

	assert_int_equal(hold_down_left_ns(&hold, START), 0);
	assert_true(trip(&hold, START) <= 300);
	memset(&flaps, 0xff, sizeof(flaps));
	flaps_take(&flaps, 3, false, START);
	flaps_add(&flaps, UINT32_MAX, START);
	assert_true(flaps_in_minute(&flaps, START) <= XBOND_FLAPS_KEPT);
	memset(&silence, 0xff, sizeof(silence));
	silence_take(&silence, 1, true, START);
	assert_false(silence_hold(&silence, 1000, START));
	memset(&errors, 0xff, sizeof(errors));
	error_rate_hold(&errors, 5, 5, 1, START);
}

TEST(more_flaps_than_the_limit_hold)
{
	struct xbond_flaps flaps = { 0 };

	flaps_take(&flaps, 100, false, at(0));
	assert_int_equal(flaps_in_minute(&flaps, at(0)), 0);
	flaps_take(&flaps, 103, false, at(10));
	assert_false(flaps_hold(&flaps, 3, at(10)));
	flaps_take(&flaps, 104, false, at(20));
	assert_int_equal(flaps_in_minute(&flaps, at(20)), 4);
	assert_true(flaps_hold(&flaps, 3, at(20)));
	assert_true(flaps_hold(&flaps, 3, at(29)));
	assert_false(flaps_hold(&flaps, 3, at(30)));
	/* Three are left from the minute, but they have had their effect. */
	flaps_take(&flaps, 107, false, at(31));
	assert_false(flaps_hold(&flaps, 3, at(31)));
	flaps_take(&flaps, 108, false, at(32));
	assert_true(flaps_hold(&flaps, 3, at(32)));
	assert_int_equal(hold_down_left_ns(&flaps.hold, at(32)) / NS_PER_S, 20);
}

TEST(slow_flaps_do_not_hold)
{
	struct xbond_flaps flaps = { 0 };

	for (uint32_t i = 0; i < 100; i++) {
		flaps_take(&flaps, i, false, at(21 * i));
		assert_false(flaps_hold(&flaps, 3, at(21 * i)));
	}
}

TEST(a_link_that_goes_on_flapping_stays_out)
{
	struct xbond_flaps flaps = { 0 };
	uint32_t second = 0;

	flaps_take(&flaps, 0, false, at(0));
	while (!flaps_hold(&flaps, 5, at(second))) {
		second++;
		flaps_take(&flaps, second, false, at(second));
	}
	assert_int_equal(second, 6);
	for (; second < 1000; second++) {
		flaps_take(&flaps, second, false, at(second));
		assert_true(flaps_hold(&flaps, 5, at(second)));
	}
	assert_int_equal(flaps.hold.count, 1);
}

TEST(what_bondd_caused_is_no_flap)
{
	struct xbond_flaps flaps = { 0 };

	flaps_take(&flaps, 0, false, at(0));
	flaps_take(&flaps, 50, true, at(1));
	flaps_take(&flaps, 51, false, at(2));
	assert_int_equal(flaps_in_minute(&flaps, at(2)), 1);
	flaps_take(&flaps, 0, false, at(3)); /* the driver was loaded again */
	assert_int_equal(flaps_in_minute(&flaps, at(3)), 1);
}

/* Ten in ten minutes are one in a minute. */
TEST(flaps_without_bondd_count_by_their_average)
{
	struct xbond_flaps flaps = { 0 }, soon = { 0 };

	flaps_take(&flaps, 0, false, at(0));
	flaps_take(&flaps, 10, false, at(600));
	assert_int_equal(flaps_in_minute(&flaps, at(600)), 1);
	flaps_take(&soon, 0, false, at(0));
	flaps_take(&soon, 10, false, at(30));
	assert_int_equal(flaps_in_minute(&soon, at(30)), 10);
}

TEST(silence_begins_with_the_last_frame)
{
	struct xbond_silence silence = { 0 };

	silence_take(&silence, 500, true, at(0));
	assert_false(silence_hold(&silence, 2000, at(1)));
	silence_take(&silence, 501, true, at(1));
	silence_take(&silence, 501, true, at(2));
	assert_false(silence_hold(&silence, 2000, at(2)));
	silence_take(&silence, 501, true, at(3));
	assert_true(silence_hold(&silence, 2000, at(3)));
	silence_take(&silence, 502, true, at(4));
	assert_false(silence_hold(&silence, 2000, at(4)));
}

/* Somebody must speak first, or two hosts that have both given up a link never use it again. */
TEST(a_silent_slave_is_tried_again)
{
	struct xbond_silence silence = { 0 };
	uint64_t outs[60] = { 0 };

	for (uint64_t second = 0; second < 60; second++) {
		silence_take(&silence, 5, true, at(second));
		outs[second] = silence_hold(&silence, 2000, at(second));
	}
	for (uint64_t second = 0; second < 60; second++)
		assert_int_equal(outs[second], (second >= 2 && second < 12) ||
						       (second >= 14 && second < 34) ||
						       second >= 36);
	silence_take(&silence, 6, true, at(60));
	assert_false(silence_hold(&silence, 2000, at(60)));
}

TEST(a_slave_that_has_just_come_up_has_time)
{
	struct xbond_silence silence = { 0 };

	silence_take(&silence, 7, true, at(0));
	silence_take(&silence, 7, false, at(100));
	silence_take(&silence, 7, true, at(101));
	assert_false(silence_hold(&silence, 2000, at(101)));
	silence_take(&silence, 7, true, at(102));
	assert_true(silence_hold(&silence, 2000, at(102)));
}

TEST(which_errors_count)
{
	struct error_counters wire = { .errors = 30, .crc = 20, .frame = 5, .length = 5 };
	struct error_counters plain = { .errors = 30 };
	struct error_counters partner = { .errors = 30, .length = 30 };
	struct error_counters busy = { .errors = 5, .fifo = 1000, .missed = 1000, .crc = 5 };
	struct error_counters lean = { .frame = 9 };

	assert_int_equal(error_rate_broken(&wire), 25);
	assert_int_equal(error_rate_broken(&plain), 30);
	assert_int_equal(error_rate_broken(&partner), 0);
	assert_int_equal(error_rate_broken(&busy), 5);
	assert_int_equal(error_rate_broken(&lean), 9);
}

TEST(the_first_counts_are_no_news)
{
	struct xbond_errors errors = { 0 };

	assert_false(error_rate_hold(&errors, 10000, 5000, 100, at(0)));
	assert_false(error_rate_hold(&errors, 10, 5, 100, at(1))); /* the driver was loaded again */
	assert_false(error_rate_hold(&errors, 20000, 5, 100, at(2)));
	assert_int_equal(errors.window_frames, 19990);
}

TEST(a_few_errors_among_few_frames_do_not_hold)
{
	struct xbond_errors errors = { 0 };

	error_rate_hold(&errors, 0, 0, 100, at(0));
	/* One of ten: but it takes 50,000 frames to judge by 100 in a million. */
	assert_false(error_rate_hold(&errors, 9, 1, 100, at(1)));
	assert_false(error_rate_hold(&errors, 40000, 5, 100, at(2)));
	/* Six errors are too many among 50,000, whatever the rest is. */
	assert_true(error_rate_hold(&errors, 40001, 6, 100, at(3)));
	assert_int_equal(errors.rate, 149);
}

TEST(a_rate_below_the_limit_does_not_hold)
{
	struct xbond_errors errors = { 0 };

	for (uint64_t second = 0; second < 1000; second++)
		assert_false(
			error_rate_hold(&errors, 100000 * second, 9 * second, 100, at(second)));
	assert_int_equal(errors.rate, 89);
}

TEST(a_held_slave_must_keep_half_the_limit)
{
	struct xbond_errors errors = { 0 };
	uint64_t second = 0;

	error_rate_hold(&errors, 0, 0, 100, at(0));
	assert_true(error_rate_hold(&errors, 100000, 20, 100, at(1)));
	/* 80 in a million: it may not have been held for this, but it does not return. */
	for (second = 2; second < 60; second++)
		assert_true(error_rate_hold(&errors, 100000 * second, 20 + 8 * (second - 1), 100,
					    at(second)));
	assert_int_equal(errors.hold.count, 1);
	/* No errors: it returns 10 s after the last window that was too bad. */
	while (error_rate_hold(&errors, 100000 * second, 20 + 8 * 58, 100, at(second)))
		second++;
	assert_in_range(second, 65, 70);
}

/* Nothing is received while it is out: it is tried again, and held for twice the time. */
TEST(an_idle_slave_is_tried_again)
{
	struct xbond_errors errors = { 0 };

	error_rate_hold(&errors, 0, 0, 1000, at(0));
	assert_true(error_rate_hold(&errors, 10000, 100, 1000, at(1)));
	assert_true(error_rate_hold(&errors, 10000, 100, 1000, at(10)));
	assert_false(error_rate_hold(&errors, 10000, 100, 1000, at(11)));
	assert_true(error_rate_hold(&errors, 20000, 200, 1000, at(12)));
	assert_true(error_rate_hold(&errors, 20000, 200, 1000, at(31)));
	assert_false(error_rate_hold(&errors, 20000, 200, 1000, at(32)));
}
