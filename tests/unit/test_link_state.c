/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rules/link_state.c: links with their delays, and the rules of the ARP monitor, on virtual time.
 */
#include <string.h>

#include "common/clock.h"
#include "rules/link_state.h"
#include "tests/unit/unit.h"

#define NOW (1000 * NS_PER_MS)

static struct carrier_state state_of(enum xbond_link link)
{
	return (struct carrier_state){ .link = link };
}

static struct carrier_state step(struct carrier_state state, bool carrier, uint64_t now_ns,
				 uint32_t up_ms, uint32_t down_ms, bool needed)
{
	struct carrier_input input = {
		.carrier = carrier,
		.needed = needed,
		.now_ns = now_ns,
		.updelay_ms = up_ms,
		.downdelay_ms = down_ms,
	};

	return carrier_next(state, &input);
}

TEST(without_delays_it_follows_carrier)
{
	assert_int_equal(step(state_of(XBOND_LINK_UP), false, NOW, 0, 0, false).link,
			 XBOND_LINK_DOWN);
	assert_int_equal(step(state_of(XBOND_LINK_DOWN), true, NOW, 0, 0, false).link,
			 XBOND_LINK_UP);
	assert_int_equal(step(state_of(XBOND_LINK_UP), true, NOW, 0, 0, false).link, XBOND_LINK_UP);
	assert_int_equal(step(state_of(XBOND_LINK_DOWN), false, NOW, 0, 0, false).link,
			 XBOND_LINK_DOWN);
}

TEST(downdelay_is_not_rounded)
{
	struct carrier_state going = step(state_of(XBOND_LINK_UP), false, NOW, 0, 33, false);

	assert_int_equal(going.link, XBOND_LINK_GOING_DOWN);
	assert_int_equal(going.deadline_ns, NOW + 33 * NS_PER_MS);
	assert_int_equal(step(going, false, going.deadline_ns - 1, 0, 33, false).link,
			 XBOND_LINK_GOING_DOWN);
	assert_int_equal(step(going, false, going.deadline_ns, 0, 33, false).link, XBOND_LINK_DOWN);
}

TEST(carrier_that_returns_ends_downdelay)
{
	struct carrier_state going = step(state_of(XBOND_LINK_UP), false, NOW, 0, 50, false);
	struct carrier_state back = step(going, true, NOW + 1, 0, 50, false);

	assert_int_equal(back.link, XBOND_LINK_UP);
	assert_int_equal(back.deadline_ns, 0);
}

TEST(updelay_waits_unless_needed)
{
	struct carrier_state going = step(state_of(XBOND_LINK_DOWN), true, NOW, 200, 0, false);

	assert_int_equal(going.link, XBOND_LINK_GOING_UP);
	assert_int_equal(step(going, true, NOW + 199 * NS_PER_MS, 200, 0, false).link,
			 XBOND_LINK_GOING_UP);
	assert_int_equal(step(going, true, NOW + 200 * NS_PER_MS, 200, 0, false).link,
			 XBOND_LINK_UP);
	assert_int_equal(step(going, true, NOW + 1, 200, 0, true).link, XBOND_LINK_UP);
	assert_int_equal(step(going, false, NOW + 1, 200, 0, false).link, XBOND_LINK_DOWN);
	assert_int_equal(step(state_of(XBOND_LINK_DOWN), true, NOW, 200, 0, true).link,
			 XBOND_LINK_UP);
}

TEST(a_shorter_option_counts_at_once)
{
	struct carrier_state going = step(state_of(XBOND_LINK_DOWN), true, NOW, 600000, 0, false);

	assert_int_equal(step(going, true, NOW + 1, 0, 0, false).link, XBOND_LINK_UP);
	going = step(going, true, NOW + 1, 50, 0, false);
	assert_int_equal(going.link, XBOND_LINK_GOING_UP);
	assert_int_equal(going.deadline_ns, NOW + 1 + 50 * NS_PER_MS);
	assert_int_equal(step(going, true, NOW + 2, 600000, 0, false).deadline_ns,
			 going.deadline_ns);
	going = step(state_of(XBOND_LINK_UP), false, NOW, 0, 600000, false);
	assert_int_equal(step(going, false, NOW + 1, 0, 0, false).link, XBOND_LINK_DOWN);
}

#define INTERVAL 1000
#define START 100000
#define V6 XBOND_MAX_TARGETS

static struct xbond_probe_times times;
static struct probing_rule rule;
static uint64_t any_ns;

static int reset(void **state)
{
	memset(&times, 0, sizeof(times));
	any_ns = 0;
	rule = (struct probing_rule){ .missed_max = 2, .interval_ns = INTERVAL, .targets = 1 };
	return 0;
}

static uint64_t last(enum probing_role role, bool is_answered)
{
	const struct probing_heard heard = { .any_ns = any_ns, .times = &times };

	return probing_last_ns(&rule, role, &heard, is_answered);
}

/* Every kind of reception has its own time, so the time tells which kind counts. */
enum { ANY = 50, NEIGHBOUR = 40, FROM = 30, TO = 20 };

static void hear_everything(void)
{
	any_ns = ANY;
	times.neighbour_ns = NEIGHBOUR;
	times.from_ns[0] = FROM;
	times.to_ns[0] = TO;
}

TEST(what_counts_by_validate, reset)
{
	static const struct {
		uint32_t validate, active, backup;
	} rows[] = {
		{ XBOND_ARP_VALIDATE_NONE, ANY, ANY },
		{ XBOND_ARP_VALIDATE_ACTIVE, FROM, ANY },
		{ XBOND_ARP_VALIDATE_BACKUP, ANY, TO },
		{ XBOND_ARP_VALIDATE_ALL, FROM, TO },
		{ XBOND_ARP_VALIDATE_FILTER, NEIGHBOUR, NEIGHBOUR },
		{ XBOND_ARP_VALIDATE_FILTER_ACTIVE, FROM, NEIGHBOUR },
		{ XBOND_ARP_VALIDATE_FILTER_BACKUP, NEIGHBOUR, TO },
	};

	hear_everything();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		rule.validate = rows[i].validate;
		assert_int_equal(last(PROBING_ACTIVE, true), rows[i].active);
		assert_int_equal(last(PROBING_CANDIDATE, false), rows[i].active);
		assert_int_equal(last(PROBING_BACKUP, true), rows[i].backup);
		/* While nobody is active, a backup may hear the answer to another's probe. */
		assert_int_equal(last(PROBING_OTHER, false),
				 rows[i].backup == TO ? FROM : rows[i].backup);
	}
}

TEST(own_probes_alone_prove_nothing, reset)
{
	hear_everything();
	rule.validate = XBOND_ARP_VALIDATE_ALL;
	assert_int_equal(last(PROBING_BACKUP, false), 0);
	rule.validate = XBOND_ARP_VALIDATE_ACTIVE;
	assert_int_equal(last(PROBING_BACKUP, false), ANY);
}

TEST(any_frame_is_any_frame, reset)
{
	times.uncounted_ns = 7;
	assert_int_equal(last(PROBING_ACTIVE, true), 7);
	times.neighbour_ns = 9;
	assert_int_equal(last(PROBING_ACTIVE, true), 9);
	rule.validate = XBOND_ARP_VALIDATE_FILTER;
	times.neighbour_ns = 0;
	assert_int_equal(last(PROBING_ACTIVE, true), 0);
}

TEST(one_target_or_all, reset)
{
	rule.validate = XBOND_ARP_VALIDATE_ALL;
	rule.targets = 1 | 1u << 2 | 1u << V6;
	times.from_ns[0] = 5;
	times.from_ns[1] = 99; /* not probed */
	times.from_ns[2] = 8;
	assert_int_equal(last(PROBING_ACTIVE, true), 8);
	rule.all_targets = true;
	assert_int_equal(last(PROBING_ACTIVE, true), 0);
	times.from_ns[V6] = 6;
	assert_int_equal(last(PROBING_ACTIVE, true), 5);
	/* Only of slaves that are validated. */
	any_ns = 77;
	rule.validate = XBOND_ARP_VALIDATE_BACKUP;
	assert_int_equal(last(PROBING_ACTIVE, true), 77);
	rule.validate = XBOND_ARP_VALIDATE_ACTIVE;
	rule.targets = 0;
	assert_int_equal(last(PROBING_ACTIVE, true), 0);
}

/* Steps on time, nothing heard after last_ns; returns the number of the step that says down. */
static unsigned int silence(enum probing_role role, struct probing_state *state, uint64_t last_ns)
{
	for (unsigned int i = 1; i < 1000; i++) {
		uint64_t now_ns = START + i * (uint64_t)INTERVAL;

		switch (probing_step(&rule, role, state, last_ns, now_ns - INTERVAL, now_ns)) {
		case PROBING_UP: break;
		case PROBING_DOWN: return i;
		case PROBING_UNCHANGED: break;
		}
	}
	return 0;
}

/* The last answer comes just after the probe that is sent at START. */
TEST(down_after_so_many_probes, reset)
{
	for (uint32_t missed_max = 1; missed_max < 256; missed_max += 127) {
		struct probing_state active = { 0 }, backup = { 0 };

		rule.missed_max = missed_max;
		assert_int_equal(silence(PROBING_ACTIVE, &active, START + 1), missed_max + 1);
		assert_int_equal(silence(PROBING_BACKUP, &backup, START + 1), missed_max + 2);
	}
}

TEST(up_with_the_first_frame, reset)
{
	struct probing_state slave = { .missed = 77 };

	assert_int_equal(
		probing_step(&rule, PROBING_OTHER, &slave, START + 1, START, START + INTERVAL),
		PROBING_UP);
	assert_int_equal(slave.missed, 0);
}

/* An answer that took half an interval too long is one. */
TEST(late_answers, reset)
{
	struct probing_state slave = { 0 };

	assert_int_equal(probing_step(&rule, PROBING_ACTIVE, &slave, START - INTERVAL / 2, START,
				      START + INTERVAL),
			 PROBING_UP);
	assert_int_equal(probing_step(&rule, PROBING_ACTIVE, &slave, START - INTERVAL / 2 - 1,
				      START, START + INTERVAL),
			 PROBING_UNCHANGED);
	assert_int_equal(slave.missed, 1);
}

TEST(grace, reset)
{
	struct probing_state slave = { .since_ns = START };

	rule.missed_max = 1;
	assert_int_equal(silence(PROBING_ACTIVE, &slave, 0), 3); /* after 2.5 intervals */
	slave = (struct probing_state){ .since_ns = START + 7 * INTERVAL };
	assert_int_equal(silence(PROBING_ACTIVE, &slave, 0), 10);
}

TEST(nobody_goes_down_while_an_active_slave_is_looked_for, reset)
{
	struct probing_state slave = { 0 };

	assert_int_equal(silence(PROBING_CANDIDATE, &slave, 0), 0);
	assert_int_equal(silence(PROBING_OTHER, &slave, 0), 0);
	assert_int_equal(silence(PROBING_BACKUP, &slave, 0), 1);
}

/* bondd was stopped for an hour: it has sent one probe, and got one answer. */
TEST(a_late_step_is_one_step, reset)
{
	const uint64_t hour = 3600 * (uint64_t)INTERVAL;
	struct probing_state slave = { 0 };

	assert_int_equal(
		probing_step(&rule, PROBING_ACTIVE, &slave, START + 5, START, START + hour),
		PROBING_UP);
	assert_int_equal(probing_step(&rule, PROBING_ACTIVE, &slave, START + 5, START + hour,
				      START + 2 * hour),
			 PROBING_UNCHANGED);
	assert_int_equal(slave.missed, 1);
}

/* An answer in every interval, with gaps shorter than missed_max: never down. */
TEST(lossy_links_stay_up, reset)
{
	struct probing_state slave = { 0 };
	uint64_t last_ns = START + 1;

	for (unsigned int i = 1; i < 100; i++) {
		uint64_t now_ns = START + i * (uint64_t)INTERVAL;

		assert_int_not_equal(probing_step(&rule, PROBING_ACTIVE, &slave, last_ns,
						  now_ns - INTERVAL, now_ns),
				     PROBING_DOWN);
		if (i % 2)
			last_ns = now_ns + 1;
	}
}
