/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Option values in and out of memory that stands for the maps: each in its own home and nowhere
 * else.
 */
#include "options/values.h"

#include <string.h>

#include "tests/unit/unit.h"

#define SLOT 3

static struct maps {
	struct xbond_settings settings;
	struct xbond_table table;
	struct xbond_bond bond;
	struct xbond_slave slaves[XBOND_MAX_SLAVES];
} maps;

static struct pins pins = {
	.settings = &maps.settings,
	.table = &maps.table,
	.bond = &maps.bond,
	.slaves = maps.slaves,
};

static int clear(void **state)
{
	memset(&maps, 0, sizeof(maps));
	return 0;
}

static struct option_value sample(const struct option_spec *option)
{
	static const char *const texts[] = {
		"7", "1", "eth7", "02:00:5e:10:00:0f", "192.0.2.7,192.0.2.8", "2001:db8::7"
	};
	struct option_value value;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (!option_parse(option, texts[i], &value, NULL))
			return value;
	fail_msg("%s takes none of the samples", option->name);
	return value;
}

static bool is_kept(enum option_id id)
{
	return id != OPT_ACTIVE_SLAVE && option_at(id)->home != OPTION_NOWHERE &&
	       !option_at(id)->is_alias;
}

/* All at once, so that two that share memory are found. */
TEST(every_option_has_its_own_place, clear)
{
	struct option_value value, expected;

	for (unsigned int id = 0; id < OPT_COUNT; id++) {
		expected = sample(option_at(id));
		if (is_kept(id))
			values_write(&pins, option_at(id), SLOT, &expected);
	}
	for (unsigned int id = 0; id < OPT_COUNT; id++) {
		expected = sample(option_at(id));
		if (!is_kept(id))
			continue;
		values_read(&pins, option_at(id), SLOT, &value);
		assert_memory_equal(&value, &expected, sizeof(value));
	}
}

TEST(a_slave_has_its_own_values, clear)
{
	struct option_value value;

	for (unsigned int id = OPT_WEIGHT; id < OPT_COUNT; id++) {
		value = sample(option_at(id));
		values_write(&pins, option_at(id), SLOT, &value);
		values_read(&pins, option_at(id), SLOT + 1, &value);
		assert_int_equal(value.number, 0);
	}
	assert_int_equal(maps.slaves[SLOT].actor_port_prio, 7);
	assert_int_equal(maps.slaves[SLOT + 1].actor_port_prio, 0);
}

TEST(a_mac_is_six_bytes, clear)
{
	static const uint8_t expected[XBOND_MAC_SIZE] = { 0x02, 0x00, 0x5e, 0x10, 0x00, 0x0f };
	struct option_value value = sample(option_at(OPT_AD_ACTOR_SYSTEM));

	memset(&maps.bond, 0xff, sizeof(maps.bond));
	values_write(&pins, option_at(OPT_AD_ACTOR_SYSTEM), 0, &value);
	assert_memory_equal(maps.bond.ad_actor_system, expected, sizeof(expected));
	assert_int_equal(maps.bond.pad0[0], 0xff);
	assert_int_equal(maps.bond.max_links, UINT32_MAX);
}

TEST(a_team_sends_unless_slaves_have_their_own_addresses, clear)
{
	struct option_set team = { .given[OPT_DEVICE] = true };

	team.value[OPT_DEVICE].number = XBOND_DEVICE_TEAM;
	values_fill(&maps.bond, &maps.settings, &team);
	assert_int_equal(maps.settings.path, XBOND_PATH_COUNTED);
	assert_true(maps.bond.team_sends);
	team.given[OPT_MAC_POLICY] = true;
	team.value[OPT_MAC_POLICY].number = XBOND_MAC_FILTER;
	values_fill(&maps.bond, &maps.settings, &team);
	assert_int_equal(maps.settings.path, XBOND_PATH_DIRECT);
	assert_false(maps.bond.team_sends);
	team.given[OPT_MAC_POLICY] = false;
	team.given[OPT_PATH] = true;
	team.value[OPT_PATH].number = XBOND_PATH_DIRECT;
	values_fill(&maps.bond, &maps.settings, &team);
	assert_int_equal(maps.settings.path, XBOND_PATH_DIRECT);
	assert_true(maps.bond.team_sends);
}

TEST(an_alias_that_is_not_given_changes_nothing, clear)
{
	struct option_set given = { .given[OPT_NUM_GRAT_ARP] = true };

	given.value[OPT_NUM_GRAT_ARP].number = 7;
	values_fill(&maps.bond, &maps.settings, &given);
	assert_int_equal(maps.bond.num_peer_notif, 7);
	given = (struct option_set){ .given[OPT_NUM_UNSOL_NA] = true };
	given.value[OPT_NUM_UNSOL_NA].number = 9;
	values_fill(&maps.bond, &maps.settings, &given);
	assert_int_equal(maps.bond.num_peer_notif, 9);
}
