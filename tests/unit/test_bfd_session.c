/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machine of a BFD session, by the clauses of RFC 5880 and RFC 7130. */
#include <string.h>

#include "bfd/bfd.h"
#include "tests/unit/unit.h"

#define MS 1000000ull
#define SECOND (1000 * MS)
#define HERE 0x11111111u
#define THERE 0x22222222u

static struct bfd_session session;
static struct bfd_packet out;
static uint64_t now_ns;

static int setup(void **state)
{
	now_ns = 5 * SECOND;
	bfd_session_init(&session, HERE, 12345, now_ns);
	bfd_session_configure(&session, 10000, 3);
	return 0;
}

static struct bfd_packet from(enum bfd_state state)
{
	return (struct bfd_packet){
		.state = (uint8_t)state,
		.multiplier = 3,
		.my_discr = THERE,
		.your_discr = state == BFD_DOWN ? 0 : HERE,
		.min_tx_us = 10000,
		.min_rx_us = 10000,
	};
}

static void hear(struct bfd_packet packet)
{
	assert_true(bfd_session_receive(&session, &packet, now_ns));
}

/* Sends all that is due; the last packet is in `out`. Returns the number. */
static unsigned int run(void)
{
	unsigned int count = 0;

	while (bfd_session_run(&session, now_ns, &out))
		assert_true(++count < 10);
	return count;
}

/* A session that is Up, with its poll answered. */
static int setup_up(void **state)
{
	struct bfd_packet answer;

	setup(state);
	run();
	hear(from(BFD_DOWN));
	run();
	hear(from(BFD_UP));
	run();
	answer = from(BFD_UP);
	answer.final = true;
	hear(answer);
	run();
	assert_int_equal(session.state, BFD_UP);
	assert_false(session.polls);
	return 0;
}

TEST(clause_6_8_1_initial_values, setup)
{
	assert_int_equal(session.state, BFD_DOWN);
	assert_int_equal(session.remote_discr, 0);
	assert_int_equal(session.desired_tx_us, BFD_SLOW_US);
	assert_int_equal(session.required_rx_us, 10000);
	assert_int_equal(run(), 1);
	assert_int_equal(out.state, BFD_DOWN);
	assert_int_equal(out.my_discr, HERE);
	assert_int_equal(out.your_discr, 0);
	assert_false(out.poll);
	assert_int_equal(out.min_echo_us, 0);
}

TEST(clause_6_2_three_way_handshake, setup)
{
	hear(from(BFD_DOWN));
	assert_int_equal(session.state, BFD_INIT);
	run();
	assert_int_equal(out.state, BFD_INIT);
	assert_int_equal(out.your_discr, THERE);
	hear(from(BFD_INIT));
	assert_int_equal(session.state, BFD_UP);
	assert_int_equal(session.diag, BFD_DIAG_NONE);
}

/* The table of 6.8.6. */
TEST(clause_6_8_6_every_state_and_packet, setup)
{
	static const enum bfd_state next[4][4] = {
		[BFD_ADMIN_DOWN] = { BFD_ADMIN_DOWN, BFD_ADMIN_DOWN, BFD_ADMIN_DOWN,
				     BFD_ADMIN_DOWN },
		[BFD_DOWN] = { BFD_DOWN, BFD_INIT, BFD_UP, BFD_DOWN },
		[BFD_INIT] = { BFD_DOWN, BFD_INIT, BFD_UP, BFD_UP },
		[BFD_UP] = { BFD_DOWN, BFD_DOWN, BFD_UP, BFD_UP },
	};

	for (unsigned int mine = 0; mine < 4; mine++)
		for (unsigned int theirs = 0; theirs < 4; theirs++) {
			setup(state);
			session.state = (uint8_t)mine;
			session.remote_discr = THERE;
			hear(from((enum bfd_state)theirs));
			assert_int_equal(session.state, next[mine][theirs]);
		}
}

TEST(clause_6_8_6_diagnostics, setup_up)
{
	hear(from(BFD_DOWN));
	assert_int_equal(session.state, BFD_DOWN);
	assert_int_equal(session.diag, BFD_DIAG_NEIGHBOR_DOWN);
	run();
	assert_int_equal(out.diag, BFD_DIAG_NEIGHBOR_DOWN);
}

TEST(clause_6_8_6_another_session, setup_up)
{
	struct bfd_packet packet = from(BFD_DOWN);

	packet.your_discr = HERE + 1;
	assert_false(bfd_session_receive(&session, &packet, now_ns));
	assert_int_equal(session.state, BFD_UP);
}

TEST(clause_6_8_4_detection_time, setup_up)
{
	struct bfd_packet slow = from(BFD_UP);

	assert_int_equal(bfd_session_detection_ns(&session), 30 * MS);
	slow.min_tx_us = 40000; /* the longer one counts */
	slow.multiplier = 5;	/* of the far end */
	hear(slow);
	assert_int_equal(bfd_session_detection_ns(&session), 200 * MS);
	now_ns += 200 * MS - 1;
	run();
	assert_int_equal(session.state, BFD_UP);
	now_ns++;
	run();
	assert_int_equal(session.state, BFD_DOWN);
	assert_int_equal(session.diag, BFD_DIAG_TIME_EXPIRED);
	assert_int_equal(session.lost, 1);
	assert_int_equal(session.remote_discr, 0); /* 6.8.1 */
	assert_int_equal(out.state, BFD_DOWN);
	assert_int_equal(out.diag, BFD_DIAG_TIME_EXPIRED);
}

TEST(clause_6_8_4_also_before_it_is_up, setup)
{
	hear(from(BFD_DOWN));
	assert_int_equal(session.state, BFD_INIT);
	now_ns += 30 * MS;
	run();
	assert_int_equal(session.state, BFD_DOWN);
}

TEST(clause_6_8_3_slow_until_up, setup)
{
	uint64_t before_ns;

	run();
	for (int i = 0; i < 20; i++) {
		before_ns = now_ns;
		now_ns = bfd_session_deadline(&session);
		assert_in_range(now_ns - before_ns, 750 * MS, 1000 * MS);
		assert_int_equal(run(), 1);
		assert_int_equal(out.min_tx_us, BFD_SLOW_US);
	}
}

static void jitter_is_within(uint64_t least_ns, uint64_t most_ns)
{
	uint64_t shortest_ns = UINT64_MAX, longest_ns = 0;

	run();
	for (int i = 0; i < 500; i++) {
		uint64_t before_ns = now_ns, gap_ns;

		now_ns = bfd_session_deadline(&session);
		gap_ns = now_ns - before_ns;
		shortest_ns = gap_ns < shortest_ns ? gap_ns : shortest_ns;
		longest_ns = gap_ns > longest_ns ? gap_ns : longest_ns;
		assert_int_equal(run(), 1);
		hear(from(BFD_UP));
	}
	assert_true(shortest_ns >= least_ns && longest_ns <= most_ns);
	assert_true(longest_ns - shortest_ns > (most_ns - least_ns) * 9 / 10);
}

TEST(clause_6_8_7_jitter, setup_up)
{
	jitter_is_within(7500 * MS / 1000, 10 * MS);
}

TEST(clause_6_8_7_less_jitter_if_none_may_be_lost, setup_up)
{
	bfd_session_configure(&session, 10000, 1);
	jitter_is_within(7500 * MS / 1000, 9 * MS);
}

TEST(clause_6_8_7_the_slower_end_decides, setup_up)
{
	struct bfd_packet slow = from(BFD_UP);

	slow.min_rx_us = 70000;
	hear(slow);
	assert_int_equal(bfd_session_tx_ns(&session), 70 * MS);
}

TEST(clause_6_8_7_nothing_to_whom_asks_for_nothing, setup_up)
{
	struct bfd_packet deaf = from(BFD_UP);

	deaf.min_rx_us = 0;
	deaf.min_tx_us = 1000000;
	hear(deaf);
	run();
	now_ns += SECOND;
	assert_int_equal(run(), 0);
	assert_int_equal(bfd_session_deadline(&session), now_ns + 2 * SECOND);
}

TEST(clause_6_8_7_nothing_to_whom_is_in_demand_mode, setup_up)
{
	struct bfd_packet demand = from(BFD_UP);

	demand.demand = true;
	demand.min_tx_us = 1000000;
	hear(demand);
	run();
	now_ns += SECOND;
	assert_int_equal(run(), 0);
}

TEST(clause_6_8_7_news_at_once, setup)
{
	run();
	hear(from(BFD_DOWN));
	assert_int_equal(bfd_session_deadline(&session), 0);
	assert_int_equal(run(), 1);
	assert_int_equal(out.state, BFD_INIT);
}

TEST(clause_6_5_a_poll_is_answered_once, setup_up)
{
	struct bfd_packet poll = from(BFD_UP);

	run();
	poll.poll = true;
	hear(poll);
	assert_int_equal(run(), 1);
	assert_true(out.final);
	assert_false(out.poll);
	assert_int_equal(run(), 0);
}

TEST(clause_6_8_3_up_begins_a_poll, setup)
{
	struct bfd_packet answer = from(BFD_UP);

	run();
	hear(from(BFD_INIT));
	run();
	assert_int_equal(out.state, BFD_UP);
	assert_int_equal(out.min_tx_us, 10000);
	assert_true(out.poll);
	now_ns += 10 * MS;
	hear(from(BFD_UP));
	run();
	assert_true(out.poll); /* until it is answered */
	answer.final = true;
	hear(answer);
	now_ns += 10 * MS;
	run();
	assert_false(out.poll);
}

TEST(clause_6_8_3_a_longer_interval_waits_for_the_answer, setup_up)
{
	struct bfd_packet answer = from(BFD_UP);

	bfd_session_configure(&session, 100000, 3);
	run();
	assert_true(out.poll);
	assert_int_equal(out.min_tx_us, 100000);
	assert_int_equal(out.min_rx_us, 100000);
	assert_int_equal(bfd_session_tx_ns(&session), 10 * MS);
	assert_int_equal(bfd_session_detection_ns(&session), 300 * MS);
	answer.final = true;
	hear(answer);
	assert_int_equal(bfd_session_tx_ns(&session), 100 * MS);
}

TEST(clause_6_8_3_a_shorter_one_detects_later, setup_up)
{
	struct bfd_packet answer = from(BFD_UP);

	answer.min_tx_us = answer.min_rx_us = 5000;
	hear(answer);
	bfd_session_configure(&session, 5000, 3);
	assert_int_equal(bfd_session_tx_ns(&session), 5 * MS);
	assert_int_equal(bfd_session_detection_ns(&session), 30 * MS);
	answer.final = true;
	hear(answer);
	assert_int_equal(bfd_session_detection_ns(&session), 15 * MS);
}

/* By its own words a packet has one of the two bits. With both, neither end may answer for ever. */
TEST(clause_6_5_a_poll_that_is_an_answer_too, setup_up)
{
	struct bfd_packet both = from(BFD_UP);

	bfd_session_configure(&session, 100000, 3);
	run();
	both.poll = both.final = true;
	hear(both);
	assert_false(session.polls);
	assert_int_equal(run(), 1);
	assert_true(out.final && !out.poll);
	hear(both);
	assert_int_equal(run(), 1);
	assert_int_equal(run(), 0);
}

TEST(clause_6_5_an_answer_that_nobody_asked_for, setup_up)
{
	struct bfd_packet answer = from(BFD_UP);

	run();
	answer.final = true;
	hear(answer);
	assert_int_equal(run(), 0);
	bfd_session_configure(&session, 100000, 3);
	assert_true(session.polls);
	assert_int_equal(bfd_session_tx_ns(&session), 10 * MS);
}

/* The far end's counts at once, ours is told at once; no Poll Sequence is needed. */
TEST(clause_6_8_12_another_multiplier, setup_up)
{
	struct bfd_packet packet = from(BFD_UP);

	run();
	packet.multiplier = 10;
	hear(packet);
	assert_int_equal(bfd_session_detection_ns(&session), 100 * MS);
	now_ns += 50 * MS;
	run();
	assert_int_equal(session.state, BFD_UP);
	bfd_session_configure(&session, 10000, 7);
	assert_int_equal(bfd_session_deadline(&session), 0);
	assert_int_equal(run(), 1);
	assert_int_equal(out.multiplier, 7);
	assert_false(out.poll);
	packet.multiplier = 1;
	hear(packet);
	now_ns += 10 * MS;
	run();
	assert_int_equal(session.state, BFD_DOWN);
}

/* The far end began anew. Until we have missed the old one, that may be anybody. */
TEST(clause_6_8_6_the_far_end_has_another_discriminator, setup_up)
{
	struct bfd_packet packet = from(BFD_DOWN);

	run();
	packet.my_discr = THERE + 1;
	assert_false(bfd_session_receive(&session, &packet, now_ns));
	assert_int_equal(session.state, BFD_UP);
	packet.state = BFD_ADMIN_DOWN;
	assert_false(bfd_session_receive(&session, &packet, now_ns));
	assert_int_equal(session.state, BFD_UP);
	now_ns += bfd_session_detection_ns(&session);
	run();
	assert_int_equal(session.state, BFD_DOWN);
	packet.state = BFD_DOWN;
	hear(packet);
	assert_int_equal(session.state, BFD_INIT);
	run();
	assert_int_equal(out.your_discr, THERE + 1);
	packet = from(BFD_INIT);
	packet.my_discr = THERE + 1;
	hear(packet);
	assert_int_equal(session.state, BFD_UP);
	packet.state = BFD_UP;
	packet.my_discr = THERE + 2; /* and now in the middle of the session */
	hear(packet);
	assert_int_equal(bfd_session_deadline(&session), 0);
	run();
	assert_int_equal(out.your_discr, THERE + 2);
	assert_int_equal(session.state, BFD_UP);
}

/* The largest intervals and multiplier of the wire overflow nothing. */
TEST(clause_4_1_the_largest_values, setup_up)
{
	struct bfd_packet packet = from(BFD_UP);

	packet.multiplier = 255;
	packet.min_tx_us = packet.min_rx_us = UINT32_MAX;
	hear(packet);
	now_ns += 10 * MS;
	run();
	assert_true(bfd_session_detection_ns(&session) == 255ull * UINT32_MAX * 1000);
	assert_true(bfd_session_tx_ns(&session) == 1000ull * UINT32_MAX);
	assert_true(bfd_session_deadline(&session) > now_ns + 3000 * SECOND);
	packet = from(BFD_UP);
	hear(packet);
	assert_true(bfd_session_deadline(&session) <= now_ns + 10 * MS);
}

/* The answer may be to the parameters before. */
TEST(clause_6_5_a_change_during_a_poll_begins_another, setup_up)
{
	struct bfd_packet answer = from(BFD_UP);

	answer.final = true;
	bfd_session_configure(&session, 100000, 3);
	run();
	bfd_session_configure(&session, 200000, 3);
	hear(answer);
	assert_int_equal(bfd_session_tx_ns(&session), 10 * MS);
	run();
	assert_true(out.poll);
	hear(answer);
	assert_int_equal(bfd_session_tx_ns(&session), 200 * MS);
}

TEST(no_change_is_no_poll, setup_up)
{
	run();
	bfd_session_configure(&session, 10000, 3);
	assert_int_equal(run(), 0);
	assert_false(session.polls);
}

TEST(clause_6_8_16_turned_off, setup_up)
{
	bfd_session_admin_down(&session, now_ns);
	assert_int_equal(run(), 1);
	assert_int_equal(out.state, BFD_ADMIN_DOWN);
	assert_int_equal(out.diag, BFD_DIAG_ADMIN_DOWN);
	hear(from(BFD_UP));
	assert_int_equal(session.state, BFD_ADMIN_DOWN);
}

static void verdict_of_rfc_7130_is(enum bfd_verdict verdict, uint64_t known_ns)
{
	assert_int_equal(bfd_session_verdict(&session, known_ns, now_ns), verdict);
}

TEST(rfc_7130_no_verdict_before_the_first_up, setup)
{
	verdict_of_rfc_7130_is(BFD_NO_VERDICT, 0);
	now_ns += 3600 * SECOND;
	run();
	verdict_of_rfc_7130_is(BFD_NO_VERDICT, 0);
	assert_int_equal(bfd_session_verdict_due(&session, 0), BFD_NEVER);
}

TEST(but_when_another_link_has_shown_that_the_far_end_speaks, setup)
{
	uint64_t known_ns = now_ns;

	verdict_of_rfc_7130_is(BFD_NO_VERDICT, known_ns);
	assert_int_equal(bfd_session_verdict_due(&session, known_ns), known_ns + BFD_GRACE_NS);
	now_ns += BFD_GRACE_NS;
	verdict_of_rfc_7130_is(BFD_FAILS, known_ns);
}

TEST(once_up_a_session_that_is_not_up_fails, setup_up)
{
	verdict_of_rfc_7130_is(BFD_WORKS, now_ns);
	now_ns += 30 * MS;
	run();
	verdict_of_rfc_7130_is(BFD_FAILS, now_ns);
	hear(from(BFD_DOWN));
	verdict_of_rfc_7130_is(BFD_FAILS, now_ns); /* RFC 7130, 3: only in Up */
	hear(from(BFD_INIT));
	verdict_of_rfc_7130_is(BFD_WORKS, now_ns);
}

TEST(rfc_7130_turned_off_there_is_no_failure, setup_up)
{
	hear(from(BFD_ADMIN_DOWN));
	assert_int_equal(session.state, BFD_DOWN);
	verdict_of_rfc_7130_is(BFD_NO_VERDICT, 1);
	now_ns += 3600 * SECOND;
	run();
	verdict_of_rfc_7130_is(BFD_NO_VERDICT, 1);
	hear(from(BFD_DOWN)); /* turned on again: until it is up, nothing changes */
	verdict_of_rfc_7130_is(BFD_NO_VERDICT, 1);
	hear(from(BFD_INIT));
	verdict_of_rfc_7130_is(BFD_WORKS, 1);
}

TEST(after_an_absence_the_detection_time_begins_anew, setup_up)
{
	now_ns += 10 * SECOND;
	bfd_session_resume(&session, 0, now_ns);
	run();
	assert_int_equal(session.state, BFD_UP);
	assert_int_equal(out.my_discr, HERE);
	now_ns += 30 * MS;
	run();
	assert_int_equal(session.state, BFD_DOWN);
}

TEST(after_an_absence_the_far_end_may_be_slower, setup_up)
{
	uint64_t detection_ns = bfd_session_detection_ns(&session);

	now_ns += 10 * SECOND;
	bfd_session_resume(&session, 3000000, now_ns);
	assert_in_range(bfd_session_detection_ns(&session), 3 * SECOND - MS, 3 * SECOND);
	bfd_session_resume(&session, 1000, now_ns); /* the session has only become slower */
	assert_in_range(bfd_session_detection_ns(&session), 3 * SECOND - MS, 3 * SECOND);
	now_ns += 2 * SECOND;
	run();
	hear(from(BFD_UP));
	assert_int_equal(session.state, BFD_UP);
	assert_int_equal(bfd_session_detection_ns(&session), detection_ns);
}

TEST(what_the_programs_found_ends_it, setup_up)
{
	bfd_session_lose(&session, BFD_DIAG_TIME_EXPIRED, now_ns);
	assert_int_equal(session.state, BFD_DOWN);
	bfd_session_lose(&session, BFD_DIAG_NEIGHBOR_DOWN, now_ns);
	assert_int_equal(session.diag, BFD_DIAG_TIME_EXPIRED);
	verdict_of_rfc_7130_is(BFD_FAILS, 1);
	bfd_session_turned_off(&session, now_ns); /* also if it has failed before */
	verdict_of_rfc_7130_is(BFD_NO_VERDICT, 1);
}
