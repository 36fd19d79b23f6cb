/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times as people write them for `monitor --since`. */
#include "cli/monitor/events_in.h"

#include <stdlib.h>
#include <time.h>

#include "tests/unit/unit.h"

#define S 1000000ull
#define NOW (1769856330 * S) /* 2026-01-31 10:45:30 UTC; 11:45:30 in the zone of the test */

static void assert_since(const char *text, uint64_t expected_us)
{
	struct err err;
	uint64_t us;

	assert_int_equal(since_parse(text, NOW, &us, &err), 0);
	assert_int_equal(us, expected_us);
}

TEST(times_are_taken)
{
	const uint64_t midnight = NOW - (11 * 3600 + 45 * 60 + 30) * S;

	setenv("TZ", "CET-1", 1);
	tzset();
	assert_since("now", NOW);
	assert_since("-90s", NOW - 90 * S);
	assert_since("-10min", NOW - 600 * S);
	assert_since("-2h", NOW - 7200 * S);
	assert_since("-7d", NOW - 7 * 86400 * S);
	assert_since("-1000000000d", 0);
	assert_since("-213503983d", 0); /* nearly 2^64 us */
	assert_since("@1769856000", 1769856000 * S);
	assert_since("today", midnight);
	assert_since("yesterday", midnight - 86400 * S);
	assert_since("09:30", midnight + (9 * 3600 + 30 * 60) * S);
	assert_since("09:30:05", midnight + (9 * 3600 + 30 * 60 + 5) * S);
	assert_since("2026-01-30", midnight - 86400 * S);
	assert_since("2026-01-31 10:00", midnight + 10 * 3600 * S);
	assert_since("2026-01-31T10:45:30Z", NOW);
	assert_since("1960-01-01", 0);
}

TEST(others_are_refused)
{
	static const char *const bad[] = { "",
					   "-",
					   "-5",
					   "-5x",
					   "--5s",
					   "@",
					   "@1x",
					   "25:00",
					   "10:61",
					   "10:30x",
					   "tuesday",
					   "2026-13-01",
					   "-99999999999s",
					   "2026-01-31 10:30 CET" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct err err;
		uint64_t us;

		assert_int_not_equal(since_parse(bad[i], NOW, &us, &err), 0);
	}
}
