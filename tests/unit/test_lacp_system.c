/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Selection (6.4.14), aggregators, standby, fallback, keys, options while running, adoption,
 * sentences.
 */
#include "tests/unit/test_lacp.h"

#include "rules/link_state.h"
#include "view/lacp_why.h"

static struct lacp_port_state *port(unsigned int slot)
{
	return &lacp.sys.port[slot];
}

static void hear(unsigned int slot, uint8_t system, uint16_t key, uint64_t now_ns)
{
	struct lacp_pdu pdu = partner_pdu(slot);

	pdu.actor.system[5] = system;
	pdu.actor.key = key;
	indicate(slot, &pdu, now_ns);
}

static void configure(void (*bend)(struct lacp_config *config), uint64_t now_ns)
{
	struct lacp_config config = lacp.sys.state.config;

	bend(&config);
	assert_int_equal(lacp_configure(&lacp.sys, &config, now_ns), 0);
	lacp_run(&lacp.sys, now_ns);
}

TEST(keys_have_duplex_speed_and_user_key)
{
	static const struct {
		uint32_t speed;
		uint16_t key;
	} table[] = { { 0, 1 },	      { 1, 3 },	      { 10, 5 },      { 100, 7 },    { 1000, 9 },
		      { 2500, 11 },   { 5000, 13 },   { 10000, 15 },  { 14000, 17 }, { 20000, 19 },
		      { 25000, 21 },  { 40000, 23 },  { 50000, 25 },  { 56000, 27 }, { 100000, 29 },
		      { 200000, 31 }, { 400000, 33 }, { 800000, 35 }, { 12345, 63 } };
	struct lacp_port_config config = base_port(0);

	for (unsigned int i = 0; i < sizeof(table) / sizeof(*table); i++) {
		config.speed_mbps = table[i].speed;
		assert_int_equal(lacp_key(&config, 0), table[i].key);
		assert_int_equal(lacp_key(&config, 1023), table[i].key | 1023 << 6);
	}
}

TEST(half_duplex_is_no_lacp_unknown_is)
{
	struct lacp_port_config config = base_port(0);

	assert_true(lacp_enabled(&config));
	config.duplex = LACP_DUPLEX_HALF;
	assert_false(lacp_enabled(&config));
	config.speed_mbps = 0;
	assert_true(lacp_enabled(&config));
	config.duplex = LACP_DUPLEX_UNKNOWN;
	assert_true(lacp_enabled(&config));
	config.speed_mbps = 10000;
	assert_true(lacp_enabled(&config));
}

TEST(clause_6_3_6_same_lag_same_aggregator)
{
	bring_up(3);
	assert_int_equal(port(0)->aggregator, 1);
	assert_int_equal(port(1)->aggregator, 1);
	assert_int_equal(port(2)->aggregator, 1);
	assert_int_equal(lacp.sys.state.active_aggregator, 1);
	assert_int_equal(lacp_num_ports(&lacp.sys), 3);
	assert_int_equal(lacp_distributing(&lacp.sys), 7);
}

TEST(another_key_is_another_aggregator)
{
	char why[LACP_WHY_SIZE];

	bring_up(2);
	hear(1, 0x42, 17, T0 + 3 * LACP_SECOND);
	assert_int_equal(port(1)->aggregator, 2);
	assert_int_equal(port(1)->selected, LACP_STANDBY);
	assert_false(lacp.collecting[1]);
	assert_true(lacp.distributing[0]);
	lacp_why(&lacp.sys, 1, T0 + 3 * LACP_SECOND, NULL, NULL, why);
	assert_string_equal(why, "not aggregated: partner key 17 differs from the aggregator's 7");
}

TEST(clause_6_3_5_individual_links_stay_alone)
{
	start(2);
	for (unsigned int slot = 0; slot < 2; slot++) {
		struct lacp_pdu pdu = partner_pdu(slot);

		pdu.actor.state &= (uint8_t)~LACP_AGGREGATION;
		indicate(slot, &pdu, T0 + 1);
	}
	assert_int_not_equal(port(0)->aggregator, port(1)->aggregator);
	lacp_run(&lacp.sys, T0 + 3 * LACP_SECOND);
	assert_int_equal(__builtin_popcountll(lacp_distributing(&lacp.sys)), 1);
}

static void by_stability(struct lacp_config *config)
{
	config->ad_select = LACP_AD_STABLE;
}
static void by_count(struct lacp_config *config)
{
	config->ad_select = LACP_AD_COUNT;
}
static void by_bandwidth(struct lacp_config *config)
{
	config->ad_select = LACP_AD_BANDWIDTH;
}
static void by_port_priority(struct lacp_config *config)
{
	config->ad_select = LACP_AD_PORT_PRIO;
}

/* Port 0, 100G, to one partner; ports 1 and 2, 10G, priority 10 to another. */
static void two_partners_with(uint16_t priority)
{
	start(3);
	for (unsigned int slot = 0; slot < 3; slot++) {
		struct lacp_port_config config = base_port(slot);

		config.port_priority = slot ? 10 : priority;
		config.speed_mbps = slot ? 10000 : 100000;
		lacp_port_configure(&lacp.sys, slot, &config, T0);
	}
	lacp_run(&lacp.sys, T0);
	for (int round = 0; round < 2; round++) {
		hear(0, 0x42, 7, T0 + LACP_SECOND);
		hear(1, 0x43, 7, T0 + LACP_SECOND);
		hear(2, 0x43, 7, T0 + LACP_SECOND);
	}
}

static void two_partners(void)
{
	two_partners_with(1000);
}

TEST(ad_select_stable_keeps_what_works)
{
	two_partners();
	assert_int_equal(lacp_distributing(&lacp.sys), 1);
	set_link(0, 0, T0 + 2 * LACP_SECOND);
	assert_int_equal(lacp.sys.state.active_aggregator, port(1)->aggregator);
	set_link(0, 1, T0 + 3 * LACP_SECOND);
	hear(0, 0x42, 7, T0 + 4 * LACP_SECOND);
	assert_int_equal(lacp.sys.state.active_aggregator, port(1)->aggregator);
}

static void hear_out_of_sync(unsigned int slot, uint64_t now_ns)
{
	struct lacp_pdu pdu = partner_pdu(slot);

	pdu.actor.key += (uint16_t)slot;
	pdu.actor.state &= (uint8_t)~LACP_SYNCHRONIZATION;
	indicate(slot, &pdu, now_ns);
}

/* An answer may still be under way: the other aggregator is no better. */
TEST(an_aggregator_is_not_left_for_one_round_trip)
{
	const uint64_t out_ns = T0 + 20 * LACP_SECOND;
	struct lacp_port_config other = base_port(1);

	bring_up(1);
	assert_int_equal(lacp_port_add(&lacp.sys, 1, &other, T0), 0);
	hear_out_of_sync(1, out_ns - 2);
	hear(0, 0x42, 7, out_ns - 1);
	hear_out_of_sync(0, out_ns);
	assert_int_equal(lacp.sys.state.active_aggregator, 1);
	assert_int_equal(lacp_distributing(&lacp.sys), 0);
	hear(0, 0x42, 7, out_ns + LACP_SECOND / 2);
	assert_int_equal(lacp_distributing(&lacp.sys), 1);
	hear_out_of_sync(0, out_ns + LACP_SECOND);
	lacp_run(&lacp.sys, out_ns + 2 * LACP_SECOND - 1);
	assert_int_equal(lacp.sys.state.active_aggregator, 1);
	assert_int_equal(lacp_run(&lacp.sys, out_ns + 2 * LACP_SECOND - 1),
			 out_ns + 2 * LACP_SECOND);
	lacp_run(&lacp.sys, out_ns + 2 * LACP_SECOND);
	assert_int_equal(lacp.sys.state.active_aggregator, 2);
}

TEST(ad_select_count_bandwidth_and_priority)
{
	two_partners();
	configure(by_count, T0 + 2 * LACP_SECOND);
	assert_int_equal(lacp.sys.state.active_aggregator, port(1)->aggregator);
	assert_false(lacp.distributing[0]);
	configure(by_bandwidth, T0 + 2 * LACP_SECOND);
	assert_int_equal(lacp.sys.state.active_aggregator, port(0)->aggregator);
	assert_false(lacp.distributing[1]);
	configure(by_count, T0 + 2 * LACP_SECOND);
	configure(by_port_priority, T0 + 2 * LACP_SECOND);
	assert_int_equal(lacp.sys.state.active_aggregator, port(0)->aggregator);
}

TEST(port_priorities_add_up)
{
	two_partners_with(19);
	configure(by_port_priority, T0 + 2 * LACP_SECOND);
	assert_int_equal(lacp.sys.state.active_aggregator, port(1)->aggregator);
}

static struct lacp_prospect without(uint64_t slots)
{
	return lacp_prospect(&lacp.sys, slots, T0 + 3 * LACP_SECOND);
}

TEST(a_prospect_of_another_aggregator)
{
	two_partners();
	assert_int_equal(without(2).aggregator, 1);
	assert_int_equal(without(2).distributing, 1);
	assert_int_equal(without(2).standby, 0);
	assert_int_equal(without(1).aggregator, port(1)->aggregator);
	assert_int_equal(without(1).standby, 6);
	assert_int_equal(without(1).distributing, 0);
	assert_int_equal(without(3).standby, 4);
	assert_int_equal(without(7).aggregator, 0);
	assert_int_equal(without(7).standby, 0);
	assert_int_equal(lacp.sys.state.active_aggregator, 1); /* nothing has changed */
	set_link(0, LACP_LINK_STOPPED, T0 + 3 * LACP_SECOND);
	assert_int_equal(without(1).standby, 0);
	assert_int_equal(without(1).selected, 6);
	assert_int_equal(without(1).distributing, lacp_distributing(&lacp.sys));
}

/* Ports of two aggregators are never counted together. */
TEST(a_prospect_follows_ad_select)
{
	two_partners();
	configure(by_count, T0 + 2 * LACP_SECOND);
	hear(1, 0x43, 7, T0 + 2 * LACP_SECOND);
	hear(2, 0x43, 7, T0 + 2 * LACP_SECOND);
	assert_int_equal(lacp_distributing(&lacp.sys), 6);
	assert_int_equal(without(2).aggregator, 1); /* as many ports, and more bandwidth */
	assert_int_equal(without(2).distributing, 0);
	assert_int_equal(without(2).standby, 1);
	configure(by_stability, T0 + 2 * LACP_SECOND);
	assert_int_equal(without(2).distributing, 4);
	assert_int_equal(without(2).standby, 0);
}

static void two_links(struct lacp_config *config)
{
	config->max_links = 2;
}
static void one_link(struct lacp_config *config)
{
	config->max_links = 1;
}
static void any_links(struct lacp_config *config)
{
	config->max_links = 0;
}

TEST(a_prospect_knows_who_takes_over)
{
	bring_up(4);
	configure(two_links, T0 + 3 * LACP_SECOND);
	assert_int_equal(lacp_distributing(&lacp.sys), 3);
	assert_int_equal(without(0).chosen, 3);
	assert_int_equal(without(1).chosen, 6);
	assert_int_equal(without(3).chosen, 12);
	assert_int_equal(without(5).chosen, 10);
	port(2)->partner.port_priority = 300; /* the partner is not the better system */
	assert_int_equal(without(1).chosen, 6);
	for (unsigned int slot = 0; slot < 4; slot++)
		port(slot)->partner.system_priority = 1;
	assert_int_equal(without(1).chosen, 10);
	assert_int_equal(port(3)->selected, LACP_STANDBY); /* nothing has changed */
}

TEST(a_prospect_of_another_aggregator_knows_who_is_chosen)
{
	two_partners();
	assert_int_equal(without(1).chosen, 6);
	assert_int_equal(without(2).chosen, 1);
	configure(one_link, T0 + 2 * LACP_SECOND);
	assert_int_equal(without(1).chosen, 2);
}

TEST(a_prospect_without_a_partner)
{
	start(3);
	lacp_run(&lacp.sys, T0 + 3 * LACP_SECOND);
	assert_int_equal(lacp_distributing(&lacp.sys), 1);
	assert_int_equal(without(1).fallback, 2);
	assert_int_equal(without(2).fallback, 0);
	assert_int_equal(without(3).fallback, 4);
	assert_int_equal(without(1).chosen, 0);
}

TEST(clause_6_7_1_standby_by_the_better_systems_priorities)
{
	char why[LACP_WHY_SIZE];
	struct lacp_pdu pdu;

	bring_up(3);
	configure(two_links, T0 + 3 * LACP_SECOND);
	assert_int_equal(lacp_distributing(&lacp.sys), 3);
	assert_int_equal(port(2)->selected, LACP_STANDBY);
	lacp_why(&lacp.sys, 2, T0, NULL, NULL, why);
	assert_string_equal(why, "standby: max_links 2, lower priority than port 2");
	port(0)->partner.system_priority = port(1)->partner.system_priority =
		port(2)->partner.system_priority = 1;
	port(2)->partner.port_priority = 1;
	lacp_run(&lacp.sys, T0 + 3 * LACP_SECOND);
	assert_int_equal(port(2)->selected, LACP_SELECTED);
	assert_int_equal(lacp_distributing(&lacp.sys), 3); /* the partner may not have heard that */
	pdu = partner_pdu(2);
	pdu.actor.system_priority = pdu.actor.port_priority = 1;
	indicate(2, &pdu, T0 + 4 * LACP_SECOND);
	assert_int_equal(port(1)->selected, LACP_STANDBY);
	assert_int_equal(lacp_distributing(&lacp.sys), 5);
}

TEST(standby_takes_over_and_gives_back)
{
	bring_up(3);
	configure(two_links, T0 + 3 * LACP_SECOND);
	set_link(0, 0, T0 + 4 * LACP_SECOND);
	assert_int_equal(port(2)->selected, LACP_SELECTED);
	assert_int_equal(port(0)->selected, LACP_STANDBY);
	hear(2, 0x42, 7, T0 + 5 * LACP_SECOND);
	assert_int_equal(lacp_distributing(&lacp.sys), 6);
	configure(any_links, T0 + 6 * LACP_SECOND);
	set_link(0, 1, T0 + 7 * LACP_SECOND);
	hear(0, 0x42, 7, T0 + 8 * LACP_SECOND);
	assert_int_equal(lacp_distributing(&lacp.sys), 7);
}

static void min_two(struct lacp_config *config)
{
	config->min_links = 2;
}

TEST(min_links_counts_distributing_ports)
{
	bring_up(2);
	configure(min_two, T0 + 2 * LACP_SECOND);
	assert_true(carrier_has_enough(lacp_distributing(&lacp.sys), 2));
	set_link(0, 0, T0 + 3 * LACP_SECOND);
	assert_false(carrier_has_enough(lacp_distributing(&lacp.sys), 2));
	assert_true(lacp.distributing[1]);
}

TEST(clause_6_4_8_ready_waits_for_all)
{
	struct lacp_pdu pdu;

	start(2);
	pdu = partner_pdu(0);
	pdu.actor.state &= (uint8_t)~LACP_SYNCHRONIZATION;
	indicate(0, &pdu, T0 + LACP_SECOND);
	assert_int_equal(port(0)->mux, LACP_MUX_WAITING);
	lacp_run(&lacp.sys, T0 + 3 * LACP_SECOND - 1);
	assert_int_equal(port(0)->mux, LACP_MUX_WAITING);
	lacp_run(&lacp.sys, T0 + 3 * LACP_SECOND);
	assert_int_equal(port(0)->mux, LACP_MUX_ATTACHED);
}

TEST(fast_start_when_the_partner_is_in_sync)
{
	struct lacp_pdu pdu;

	start(2);
	pdu = partner_pdu(0);
	indicate(0, &pdu, T0 + 1);
	assert_int_equal(port(0)->mux, LACP_MUX_COLLECTING_DISTRIBUTING);
}

TEST(fast_start_when_all_have_arrived)
{
	start(2);
	for (unsigned int slot = 0; slot < 2; slot++) {
		struct lacp_pdu pdu = partner_pdu(slot);

		pdu.actor.state &= (uint8_t)~LACP_SYNCHRONIZATION;
		indicate(slot, &pdu, T0 + 1);
	}
	assert_int_equal(port(0)->mux, LACP_MUX_ATTACHED);
	assert_int_equal(port(1)->mux, LACP_MUX_ATTACHED);
}

TEST(fallback_one_is_the_best_port_after_the_delay)
{
	start(3);
	port(1)->config.port_priority = 10;
	lacp_run(&lacp.sys, T0 + 3 * LACP_SECOND - 1);
	assert_int_equal(lacp_distributing(&lacp.sys), 0);
	lacp_run(&lacp.sys, T0 + 3 * LACP_SECOND);
	assert_int_equal(lacp_distributing(&lacp.sys), 2);
	assert_int_equal(lacp_collecting(&lacp.sys), 2);
	hear(0, 0x42, 7, T0 + 4 * LACP_SECOND);
	assert_false(lacp_distributing(&lacp.sys) & 2);
}

static void longer_delay(struct lacp_config *config)
{
	config->fallback_delay_ms = 10000;
}

TEST(another_delay_leaves_a_port_in_fallback_alone)
{
	start(2);
	lacp_run(&lacp.sys, T0 + 3 * LACP_SECOND);
	assert_int_equal(lacp_distributing(&lacp.sys), 1);
	configure(longer_delay, T0 + 4 * LACP_SECOND);
	assert_int_equal(lacp_distributing(&lacp.sys), 1);
}

TEST(another_delay_begins_anew)
{
	start(2);
	configure(longer_delay, T0 + 2 * LACP_SECOND);
	lacp_run(&lacp.sys, T0 + 12 * LACP_SECOND - 1);
	assert_int_equal(lacp_distributing(&lacp.sys), 0);
	lacp_run(&lacp.sys, T0 + 12 * LACP_SECOND);
	assert_int_equal(lacp_distributing(&lacp.sys), 1);
}

static void strictly(struct lacp_config *config)
{
	config->strict = 1;
}
static void fallback_none(struct lacp_config *config)
{
	config->strict = 0;
	config->fallback = LACP_FALLBACK_NONE;
}
static void fallback_all(struct lacp_config *config)
{
	config->fallback = LACP_FALLBACK_ALL;
}

TEST(fallback_none_all_and_strict)
{
	start(2);
	configure(strictly, T0 + 9 * LACP_SECOND);
	assert_int_equal(lacp_distributing(&lacp.sys), 0);
	configure(fallback_none, T0 + 9 * LACP_SECOND);
	assert_int_equal(lacp_distributing(&lacp.sys), 0);
	configure(fallback_all, T0 + 9 * LACP_SECOND);
	assert_int_equal(lacp_distributing(&lacp.sys), 3);
}

static void rate_fast(struct lacp_config *config)
{
	config->rate_fast = 1;
}
static void rate_slow(struct lacp_config *config)
{
	config->rate_fast = 0;
}
static void passive(struct lacp_config *config)
{
	config->active = 0;
}
static void independent(struct lacp_config *config)
{
	config->coupled = 0;
}
static void other_key(struct lacp_config *config)
{
	config->user_port_key = 3;
}

TEST(rate_activity_and_control_change_without_loss)
{
	static void (*const bends[])(struct lacp_config *) = { rate_fast, rate_slow, passive,
							       independent };

	bring_up(2);
	for (unsigned int i = 0; i < sizeof(bends) / sizeof(*bends); i++) {
		configure(bends[i], T0 + 2 * LACP_SECOND);
		assert_int_equal(lacp_distributing(&lacp.sys), 3);
	}
	assert_int_equal(port(0)->current_while_ns, port(0)->heard_ns + LACP_LONG_TIMEOUT_TIME);
}

TEST(another_user_key_is_another_lag)
{
	bring_up(2);
	configure(other_key, T0 + 2 * LACP_SECOND);
	assert_int_equal(port(0)->actor.key, 3 << 6 | 15);
	assert_int_equal(port(0)->aggregator, port(1)->aggregator);
	assert_int_equal(lacp_distributing(&lacp.sys), 0);
	assert_false(port(0)->actor.state & LACP_SYNCHRONIZATION);
	for (unsigned int slot = 0; slot < 2; slot++) {
		struct lacp_pdu pdu = partner_pdu(slot);

		pdu.partner = port(slot)->actor;
		indicate(slot, &pdu, T0 + 3 * LACP_SECOND);
	}
	assert_int_equal(lacp_distributing(&lacp.sys), 3);
}

TEST(with_hold_a_fast_partner_makes_us_fast)
{
	struct lacp_pdu pdu;

	bring_up(1);
	assert_false(lacp_rate_fast(&lacp.sys));
	pdu = partner_pdu(0);
	pdu.actor.state |= LACP_TIMEOUT;
	indicate(0, &pdu, T0 + 2 * LACP_SECOND);
	assert_true(lacp_rate_fast(&lacp.sys));
	pdu = partner_pdu(0);
	indicate(0, &pdu, T0 + 3 * LACP_SECOND);
	assert_false(lacp_rate_fast(&lacp.sys));
}

TEST(bad_configurations_change_nothing)
{
	struct lacp_config config = base_config();
	struct lacp_port_config number = base_port(0);

	start(1);
	config.user_port_key = 1024;
	assert_int_equal(lacp_configure(&lacp.sys, &config, T0), -EINVAL);
	config = base_config();
	config.system[0] = 1;
	assert_int_equal(lacp_configure(&lacp.sys, &config, T0), -EINVAL);
	assert_int_equal(lacp.sys.state.config.system[0], 2);
	assert_int_equal(lacp_port_add(&lacp.sys, 0, &number, T0), -EEXIST);
	assert_int_equal(lacp_port_add(&lacp.sys, 1, &number, T0), -EEXIST);
	assert_int_equal(lacp_port_add(&lacp.sys, 64, &number, T0), -EINVAL);
	number.port = 2;
	assert_int_equal(lacp_port_configure(&lacp.sys, 0, &number, T0), -EINVAL);
	assert_int_equal(lacp_port_configure(&lacp.sys, 1, &number, T0), -ENOENT);
	number.port = 0;
	assert_int_equal(lacp_port_add(&lacp.sys, 1, &number, T0), -EINVAL);
	assert_int_equal(lacp_port_remove(&lacp.sys, 1, T0), -ENOENT);
}

TEST(a_removed_port_says_goodbye)
{
	struct lacp_decoded last;

	bring_up(2);
	assert_int_equal(lacp_port_remove(&lacp.sys, 1, T0 + 5 * LACP_SECOND), 0);
	lacp_pdu_decode(lacp.frame, sizeof(lacp.frame), &last);
	assert_int_equal(last.pdu.actor.port, 2);
	assert_false(last.pdu.actor.state &
		     (LACP_SYNCHRONIZATION | LACP_COLLECTING | LACP_DISTRIBUTING));
	assert_true(last.pdu.actor.state & LACP_AGGREGATION);
	assert_false(lacp.distributing[1]);
	assert_int_equal(lacp.sys.used, 1);
}

TEST(a_stopped_port_says_goodbye)
{
	struct lacp_decoded last;
	char why[LACP_WHY_SIZE];
	unsigned int sent;

	bring_up(2);
	set_link(1, LACP_LINK_STOPPED, T0 + 5 * LACP_SECOND);
	lacp_pdu_decode(lacp.frame_of[1], LACP_FRAME_SIZE, &last);
	assert_int_equal(last.pdu.actor.port, 2);
	assert_false(last.pdu.actor.state &
		     (LACP_SYNCHRONIZATION | LACP_COLLECTING | LACP_DISTRIBUTING));
	assert_false(lacp.collecting[1] || lacp.distributing[1]);
	assert_int_equal(port(1)->config.link, LACP_LINK_DOWN);
	assert_int_equal(port(1)->rx, LACP_RX_PORT_DISABLED);
	assert_int_equal(lacp_distributing(&lacp.sys), 1);
	lacp_why(&lacp.sys, 1, T0 + 5 * LACP_SECOND, NULL, NULL, why);
	assert_string_equal(why, "the bond is administratively down");
	sent = lacp.sent;
	set_link(1, LACP_LINK_STOPPED, T0 + 5 * LACP_SECOND); /* once is enough */
	assert_int_equal(lacp.sent, sent);
	set_link(1, LACP_LINK_DOWN, T0 + 8 * LACP_SECOND);
	lacp_why(&lacp.sys, 1, T0 + 8 * LACP_SECOND, NULL, NULL, why);
	assert_string_equal(why, "link down");
	set_link(1, LACP_LINK_UP, T0 + 9 * LACP_SECOND);
	assert_true(lacp.sent > sent);
}

/* A fourth PDU in a second is not sent; the port is stopped all the same. */
TEST(a_goodbye_waits_for_its_turn)
{
	struct lacp_decoded last;
	unsigned int sent;

	bring_up(1);
	for (unsigned int i = 0; i < LACP_TX_LIMIT; i++)
		port(0)->sent_ns[i] = T0 + 5 * LACP_SECOND;
	sent = lacp.sent;
	set_link(0, LACP_LINK_STOPPED, T0 + 5 * LACP_SECOND);
	assert_false(lacp.distributing[0]);
	assert_int_equal(lacp.sent, sent);
	assert_int_equal(lacp_run(&lacp.sys, T0 + 5 * LACP_SECOND + 1), T0 + 6 * LACP_SECOND);
	lacp_run(&lacp.sys, T0 + 6 * LACP_SECOND);
	assert_int_equal(lacp.sent, sent + 1);
	lacp_pdu_decode(lacp.frame, sizeof(lacp.frame), &last);
	assert_false(last.pdu.actor.state &
		     (LACP_SYNCHRONIZATION | LACP_COLLECTING | LACP_DISTRIBUTING));
	for (unsigned int second = 7; second < 60; second++)
		lacp_run(&lacp.sys, T0 + second * LACP_SECOND);
	assert_int_equal(lacp.sent, sent + 1 + LACP_REPEATS);
}

TEST(a_port_that_begins_stopped_is_down)
{
	struct lacp_port_config config = base_port(0);

	start(0);
	config.link = LACP_LINK_STOPPED;
	assert_int_equal(lacp_port_add(&lacp.sys, 0, &config, T0), 0);
	lacp_run(&lacp.sys, T0);
	assert_int_equal(lacp.sent, 0);
	assert_int_equal(port(0)->config.link, LACP_LINK_DOWN);
	assert_true(port(0)->stopped);
	set_link(0, LACP_LINK_UP, T0 + LACP_SECOND);
	assert_false(port(0)->stopped);
	assert_int_equal(lacp.sent, 1);
}

TEST(adoption_goes_on_without_a_word)
{
	struct lacp_system saved;
	struct lacp_config config = base_config();

	bring_up(2);
	lacp_run(&lacp.sys, T0 + 10 * LACP_SECOND);
	saved = lacp.sys;
	lacp_init(&lacp.sys, &config, &outputs, NULL);
	lacp.sent = 0;
	assert_int_equal(lacp_adopt(&lacp.sys, &saved.state, saved.port, saved.used), 0);
	lacp_configure(&lacp.sys, &config, T0);
	for (unsigned int slot = 0; slot < 2; slot++)
		lacp_port_configure(&lacp.sys, slot, &saved.port[slot].config,
				    T0 + 12 * LACP_SECOND);
	lacp_run(&lacp.sys, T0 + 12 * LACP_SECOND);
	assert_int_equal(lacp_distributing(&lacp.sys), 3);
	assert_int_equal(lacp.sent, 0);
}

TEST(adoption_refuses_what_it_does_not_know)
{
	struct lacp_system saved;

	bring_up(1);
	saved = lacp.sys;
	saved.state.version++;
	assert_int_equal(lacp_adopt(&lacp.sys, &saved.state, saved.port, saved.used), -EPROTO);
	saved.state.version--;
	saved.port[0].mux = 17;
	assert_int_equal(lacp_adopt(&lacp.sys, &saved.state, saved.port, saved.used), -EINVAL);
	saved.port[0].mux = 0;
	saved.port[0].config.port = 0;
	assert_int_equal(lacp_adopt(&lacp.sys, &saved.state, saved.port, saved.used), -EINVAL);
}

TEST(what_hold_heard_counts_and_what_it_gave_up_expires)
{
	bring_up(2);
	lacp_hold_ended(&lacp.sys, 0,
			&(struct lacp_held){ .heard_ns = T0 + 100 * LACP_SECOND,
					     .silence_ns = LACP_LONG_TIMEOUT_TIME,
					     .answered_ns = T0 + 100 * LACP_SECOND });
	lacp_hold_ended(&lacp.sys, 1, &(struct lacp_held){ 0 });
	lacp_run(&lacp.sys, T0 + 100 * LACP_SECOND);
	assert_int_equal(port(0)->rx, LACP_RX_CURRENT);
	assert_int_equal(port(0)->sent_ns[2], T0 + 100 * LACP_SECOND); /* ours */
	assert_int_equal(port(0)->sent_ns[1], T0 + 100 * LACP_SECOND);
	assert_int_equal(port(0)->sent_ns[0], T0 + 100 * LACP_SECOND - LACP_HOLD_GAP);
	assert_int_equal(port(1)->rx, LACP_RX_EXPIRED);
	assert_int_equal(lacp_distributing(&lacp.sys), 1);
}

static const char *name(const void *context, unsigned int slot)
{
	return slot ? "eth1" : "eth0";
}

static void assert_why(unsigned int slot, uint64_t now_ns, const char *expected)
{
	char text[LACP_WHY_SIZE];

	lacp_why(&lacp.sys, slot, now_ns, name, NULL, text);
	assert_string_equal(text, expected);
}

TEST(sentences)
{
	start(2);
	assert_why(0, T0 + 3200000000, "no LACPDU for 3.2 s");
	port(0)->loop_port = 2;
	assert_why(0, T0, "looped: connected to eth1 of this bond");
	port(0)->loop_port = 1;
	assert_why(0, T0, "looped: its own LACPDUs come back");
	bring_up(2);
	assert_why(0, T0, "collecting and distributing");
	hear(1, 0x99, 7, T0 + 3 * LACP_SECOND);
	assert_why(1, T0,
		   "not aggregated: connected to another switch (02:00:00:00:00:99); the others "
		   "reach 02:00:00:00:00:42");
	set_link(1, 0, T0 + 4 * LACP_SECOND);
	assert_why(1, T0, "link down");
	port(1)->config.link = 1;
	port(1)->config.duplex = LACP_DUPLEX_HALF;
	assert_why(1, T0, "no LACP: half duplex");
	bring_up(3);
	configure(two_links, T0 + 3 * LACP_SECOND);
	assert_why(2, T0, "standby: max_links 2, lower priority than eth1");
}

/* Two partners, both with their port standby: each gets its turn in time. */
TEST(refused_aggregators_take_turns)
{
	uint64_t deadline_ns = 0;
	uint8_t first;

	start(2);
	for (unsigned int slot = 0; slot < 2; slot++) {
		struct lacp_pdu pdu = partner_pdu(slot);

		pdu.actor.system[5] = (uint8_t)(0x50 + slot);
		pdu.actor.state &= (uint8_t)~LACP_SYNCHRONIZATION;
		indicate(slot, &pdu, T0 + LACP_SECOND);
	}
	first = lacp.sys.state.active_aggregator;
	while (lacp.sys.state.active_aggregator == first && deadline_ns < T0 + 20 * LACP_SECOND)
		deadline_ns = lacp_run(&lacp.sys, deadline_ns ? deadline_ns : T0 + LACP_SECOND);
	assert_in_range(lacp.sys.state.yield_ns, T0 + 9 * LACP_SECOND, T0 + 17 * LACP_SECOND);
	assert_int_not_equal(lacp.sys.state.active_aggregator, first);
	assert_int_equal(lacp_distributing(&lacp.sys), 0);
}

TEST(deadlines_are_those_of_the_timers)
{
	start(1);
	assert_int_equal(lacp_run(&lacp.sys, T0), T0 + LACP_FAST_PERIODIC_TIME);
	start(0);
	assert_true(lacp_run(&lacp.sys, T0) == LACP_NEVER);
	bring_up(1);
	assert_true(lacp_run(&lacp.sys, T0 + 10 * LACP_SECOND) > T0 + 30 * LACP_SECOND);
}
