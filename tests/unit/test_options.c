/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The option table: its own consistency, the parser's limits, refusals by mode, and the lines for
 * users.
 */
#include "common/mode.h"
#include "options/option_set.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/unit.h"

#define KERNEL_MODES 7

static void assert_modes(enum option_id id, const char *modes);
static void assert_line(enum option_id id, const char *text, const char *line);

static void assert_refused(enum option_id id, const char *text)
{
	const struct option_spec *option = option_at(id);
	char values[OPTION_VALUES_SIZE];
	struct option_value value;
	struct err err = { "" };

	assert_int_equal(option_parse(option, text, &value, &err), -EINVAL);
	assert_ptr_equal(strstr(err.text, option->name), err.text);
	assert_non_null(strstr(err.text, option_values(option, values)));
	assert_null(strchr(err.text, '\n'));
}

static uint32_t parsed(enum option_id id, const char *text)
{
	struct option_value value;
	struct err err = { "" };

	if (option_parse(option_at(id), text, &value, &err))
		fail_msg("%s: %s", text, err.text);
	return value.number;
}

static void assert_round_trip(enum option_id id, const char *text, const char *formatted)
{
	struct option_value value, again;
	char out[OPTION_TEXT_SIZE];

	assert_int_equal(option_parse(option_at(id), text, &value, NULL), 0);
	option_format(option_at(id), &value, out, sizeof(out));
	assert_string_equal(out, formatted);
	assert_int_equal(option_parse(option_at(id), out, &again, NULL), 0);
	assert_memory_equal(&value, &again, sizeof(value));
}

TEST(test_table_is_whole)
{
	char values[OPTION_VALUES_SIZE];

	for (unsigned int id = 0; id < OPT_COUNT; id++) {
		const struct option_spec *option = option_at(id);

		assert_int_equal(option->id, id);
		assert_non_null(option->name);
		assert_true(strlen(option_values(option, values)) > 1);
		assert_true(strlen(values) < sizeof(values) - 1);
		assert_non_null(option->help);
		assert_ptr_equal(option_find(option->scope, option->name), option);
		assert_int_equal(option->scope, id < OPT_WEIGHT ? OPTION_BOND : OPTION_SLAVE);
		assert_false(option->needs && option->effect);
	}
}

TEST(test_find)
{
	assert_null(option_find(OPTION_SLAVE, "mode"));
	assert_null(option_find(OPTION_BOND, "weight"));
	assert_null(option_find(OPTION_BOND, "Mode"));
	assert_null(option_find(OPTION_BOND, ""));
}

TEST(test_defaults_round_trip)
{
	for (unsigned int id = 0; id < OPT_COUNT; id++)
		if (id == OPT_FORCE)
			assert_round_trip(id, "no", "off");
		else if (id != OPT_HASH_SEED)
			assert_round_trip(id, option_at(id)->initial, option_at(id)->initial);
}

TEST(test_every_name_and_number)
{
	struct option_name name;
	char number[16];

	for (unsigned int id = 0; id < OPT_COUNT; id++) {
		const struct option_spec *option = option_at(id);

		for (unsigned int i = 0; option_name_at(option, i, &name); i++) {
			assert_int_equal(parsed(id, name.name), name.number);
			if (option->type != OPTION_ENUM)
				continue;
			snprintf(number, sizeof(number), "%u", name.number);
			assert_int_equal(parsed(id, number), name.number);
		}
		if (option->type == OPTION_ENUM)
			assert_refused(id, "99");
	}
	assert_round_trip(OPT_MODE, "2", "balance-xor");
	assert_round_trip(OPT_XMIT_HASH_POLICY, "3", "encap2+3");
	assert_round_trip(OPT_XMIT_HASH_POLICY, "4", "encap3+4");
	assert_round_trip(OPT_XMIT_HASH_POLICY, "5", "vlan+srcmac");
	assert_round_trip(OPT_XMIT_HASH_POLICY, "16", "flow");
}

TEST(test_number_limits)
{
	char text[32];

	for (unsigned int id = 0; id < OPT_COUNT; id++) {
		const struct option_spec *option = option_at(id);

		if (option->type != OPTION_UINT)
			continue;
		snprintf(text, sizeof(text), "%u", option->max);
		assert_round_trip(id, text, text);
		snprintf(text, sizeof(text), "%u", option->min);
		assert_round_trip(id, text, text);
		snprintf(text, sizeof(text), "%llu", option->max + 1ull);
		assert_refused(id, text);
		assert_refused(id, "99999999999999999999999");
		if (!option->min)
			continue;
		snprintf(text, sizeof(text), "%u", option->min - 1);
		assert_refused(id, text);
	}
}

TEST(test_numbers_are_digits_only)
{
	static const char *const texts[] = { "",   " ",	  "-1",	  "+1",	 " 1",
					     "1 ", "1ms", "0x10", "1.5", "seven" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		for (unsigned int id = 0; id < OPT_COUNT; id++)
			if (option_at(id)->type != OPTION_IFNAME &&
			    (option_at(id)->type != OPTION_INT || strcmp(texts[i], "-1")))
				assert_refused(id, texts[i]);
}

TEST(test_numbers_with_a_sign)
{
	static const char *const refused[] = {
		"-", "--1", "+1", "2147483648", "-2147483649", "-99999999999999999999"
	};

	assert_round_trip(OPT_PRIO, "-2147483648", "-2147483648");
	assert_round_trip(OPT_PRIO, "2147483647", "2147483647");
	assert_round_trip(OPT_PRIO, "-0", "0");
	assert_int_equal(parsed(OPT_PRIO, "-1"), UINT32_MAX);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		assert_refused(OPT_PRIO, refused[i]);
}

static void assert_added(struct option_set *set, const char *name, const char *text,
			 const char *why)
{
	struct err err = { "" };

	assert_int_equal(option_set_add(set, OPTION_BOND, name, text, &err), *why ? -EINVAL : 0);
	assert_string_equal(err.text, why);
}

TEST(test_an_option_with_two_names)
{
	struct option_set set = { 0 };

	assert_true(option_at(OPT_NUM_UNSOL_NA)->is_alias);
	assert_int_equal(option_at(OPT_NUM_GRAT_ARP)->offset, option_at(OPT_NUM_UNSOL_NA)->offset);
	assert_added(&set, "num_grat_arp", "3", "");
	assert_added(&set, "num_unsol_na", "3", "");
	set = (struct option_set){ 0 };
	assert_added(&set, "num_unsol_na", "3", "");
	assert_added(&set, "num_grat_arp", "4",
		     "num_grat_arp: is another name for num_unsol_na, which is given with another "
		     "value; give one of them");
}

/* The kernel's names, numbers and defaults. */
TEST(test_failover)
{
	assert_round_trip(OPT_PRIMARY_RESELECT, "0", "always");
	assert_round_trip(OPT_PRIMARY_RESELECT, "1", "better");
	assert_round_trip(OPT_PRIMARY_RESELECT, "2", "failure");
	assert_round_trip(OPT_FAIL_OVER_MAC, "0", "none");
	assert_round_trip(OPT_FAIL_OVER_MAC, "1", "active");
	assert_round_trip(OPT_FAIL_OVER_MAC, "2", "follow");
	assert_round_trip(OPT_NUM_GRAT_ARP, "255", "255");
	assert_refused(OPT_NUM_UNSOL_NA, "256");
	assert_refused(OPT_RESEND_IGMP, "256");
	assert_refused(OPT_PEER_NOTIF_DELAY, "300001");
	for (int id = OPT_NUM_GRAT_ARP; id <= OPT_NUM_UNSOL_NA; id++)
		assert_string_equal(option_at(id)->initial, "1");
	assert_string_equal(option_at(OPT_RESEND_IGMP)->initial, "1");
	assert_modes(OPT_PRIO, "rerrree");
	assert_modes(OPT_PRIMARY_RESELECT, "kekkkee");
	assert_modes(OPT_FAIL_OVER_MAC, "kekkkkk");
	assert_modes(OPT_NUM_UNSOL_NA, "kekkkkk");
}

TEST(test_booleans)
{
	assert_int_equal(parsed(OPT_DRAIN, "on"), 1);
	assert_int_equal(parsed(OPT_DRAIN, "yes"), 1);
	assert_int_equal(parsed(OPT_DRAIN, "1"), 1);
	assert_int_equal(parsed(OPT_DRAIN, "off"), 0);
	assert_int_equal(parsed(OPT_DRAIN, "no"), 0);
	assert_int_equal(parsed(OPT_DRAIN, "0"), 0);
	assert_refused(OPT_DRAIN, "true");
	assert_refused(OPT_DRAIN, "2");
}

TEST(test_names_of_slaves)
{
	assert_round_trip(OPT_PRIMARY, "eth0", "eth0");
	assert_round_trip(OPT_PRIMARY, "a23456789012345", "a23456789012345");
	assert_round_trip(OPT_PRIMARY, "", "none");
	assert_round_trip(OPT_PRIMARY, "none", "none");
	assert_refused(OPT_PRIMARY, "a234567890123456");
	assert_refused(OPT_PRIMARY, "02:00:00:00:00:01");
	assert_refused(OPT_ACTIVE_SLAVE, "02:00:00:00:00:01");
	assert_refused(OPT_ACTIVE_SLAVE, "a b");
}

#define SIXTEEN(a) a "0," a "1," a "2," a "3," a "4," a "5," a "6," a "7," SIXTEEN_2(a)
#define SIXTEEN_2(a) a "8," a "9," a "10," a "11," a "12," a "13," a "14," a "15"

TEST(test_lists_of_addresses)
{
	assert_round_trip(OPT_ARP_IP_TARGET, "none", "none");
	assert_round_trip(OPT_ARP_IP_TARGET, "192.0.2.1", "192.0.2.1");
	assert_round_trip(OPT_ARP_IP_TARGET, "192.0.2.2,192.0.2.1", "192.0.2.2,192.0.2.1");
	assert_round_trip(OPT_ARP_IP_TARGET, SIXTEEN("192.0.2.1"), SIXTEEN("192.0.2.1"));
	assert_round_trip(OPT_NS_IP6_TARGET, SIXTEEN("2001:db8:1:2:3:4:5:6f"),
			  SIXTEEN("2001:db8:1:2:3:4:5:6f"));
	assert_round_trip(OPT_NS_IP6_TARGET, "2001:0DB8::1,fe80::1", "2001:db8::1,fe80::1");
}

TEST(test_addresses_that_nobody_answers_for)
{
	static const char *const texts[] = {
		",",
		"192.0.2.1,",
		",192.0.2.1",
		"192.0.2.1,,192.0.2.2",
		"192.0.2.1 ",
		"192.0.2",
		"192.0.2.1/24",
		"0.0.0.0",
		"0.1.2.3",
		"127.0.0.1",
		"224.0.0.1",
		"255.255.255.255",
		"2001:db8::1",
		"192.0.2.1,192.0.2.1",
		SIXTEEN("192.0.2.1") ",192.0.2.9",
		"host",
		"192.0.2.1xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
	};
	static const char *const texts6[] = {
		"::",
		"::1",
		"ff02::1",
		"192.0.2.1",
		"2001:db8::1,",
		"2001:db8::1%eth0",
		"2001:db8::1,2001:db8:0::1",
		SIXTEEN("2001:db8::1") ",2001:db8::9",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_refused(OPT_ARP_IP_TARGET, texts[i]);
	for (size_t i = 0; i < sizeof(texts6) / sizeof(texts6[0]); i++)
		assert_refused(OPT_NS_IP6_TARGET, texts6[i]);
	assert_line(OPT_ARP_IP_TARGET, SIXTEEN("192.0.2.1") ",192.0.2.9",
		    "arp_ip_target: 192.0.2.9 is one too many; allowed: IPV4[,IPV4]...|none, "
		    "at most 16");
}

TEST(test_random_seed_is_a_number)
{
	uint32_t first = parsed(OPT_HASH_SEED, "random");
	struct option_value value = { .number = 0 };
	char text[16];
	int same = 0;

	for (int i = 0; i < 8; i++)
		same += parsed(OPT_HASH_SEED, "random") == first;
	assert_true(same < 8);
	option_format(option_at(OPT_HASH_SEED), &value, text, sizeof(text));
	assert_string_equal(text, "0");
}

static void assert_line(enum option_id id, const char *text, const char *line)
{
	struct option_value value;
	struct err err = { "" };

	option_parse(option_at(id), text, &value, &err);
	assert_string_equal(err.text, line);
}

static void assert_modes(enum option_id id, const char *modes)
{
	struct err err;

	for (uint32_t mode = 0; mode < KERNEL_MODES; mode++) {
		err.text[0] = '\0';
		if (modes[mode] == 'r') {
			assert_int_equal(option_check_mode(option_at(id), mode, &err), -EACCES);
			assert_ptr_equal(strstr(err.text, option_at(id)->name), err.text);
			assert_non_null(strstr(err.text, mode_name(mode)));
		} else {
			assert_int_equal(option_check_mode(option_at(id), mode, &err), 0);
		}
		assert_int_equal(option_has_effect(option_at(id), mode), modes[mode] == 'e');
	}
}

/* A letter per mode of the kernel, in their order: e effect, k kept without effect, r refused. */
TEST(test_modes)
{
	assert_modes(OPT_PACKETS_PER_SLAVE, "errrerr");
	assert_modes(OPT_BYTES_PER_SLAVE, "errrerr");
	assert_modes(OPT_PRIMARY, "rerrree");
	assert_modes(OPT_ACTIVE_SLAVE, "rerrree");
	assert_modes(OPT_XMIT_HASH_POLICY, "kkekeee");
	assert_modes(OPT_SYMMETRIC, "kkekeee");
	assert_modes(OPT_IP6_FLOW_LABEL, "kkekeee");
	assert_modes(OPT_QUEUE_ID, "eeeeeee");
	assert_modes(OPT_ALL_SLAVES_ACTIVE, "kekkkee");
	assert_modes(OPT_WEIGHT, "ekekeee");
	assert_modes(OPT_DRAIN, "eeeeeee");
	assert_modes(OPT_MIN_LINKS, "eeeeeee");
	assert_modes(OPT_UPDELAY, "eeeeeee");
	assert_modes(OPT_ARP_INTERVAL, "eeeeekk");
	assert_modes(OPT_ARP_IP_TARGET, "eeeeekk");
	assert_modes(OPT_NS_IP6_TARGET, "eeeeekk");
	assert_modes(OPT_ARP_VALIDATE, "eeeeerr");
	assert_modes(OPT_ARP_MISSED_MAX, "eeeeerr");
	assert_modes(OPT_TLB_DYNAMIC_LB, "rrrrree");
	assert_modes(OPT_LP_INTERVAL, "kkkkkee");
	for (unsigned int id = OPT_LACP_RATE; id < OPT_WEIGHT; id++)
		assert_modes(id, id == OPT_AD_SELECT ? "kkkkekk" : "rrrrerr");
	assert_modes(OPT_ACTOR_PORT_PRIO, "rrrrerr");
}

TEST(test_device)
{
	assert_round_trip(OPT_DEVICE, "0", "auto");
	assert_round_trip(OPT_DEVICE, "1", "veth");
	assert_round_trip(OPT_DEVICE, "2", "netkit");
	assert_line(OPT_DEVICE, "tap",
		    "device: 'tap' is not allowed; allowed: auto|veth|netkit|team|pair");
	assert_modes(OPT_DEVICE, "eeeeeee");
}

/* Names, the kernel's numbers, limits, defaults (bonding.rst; for xbond's own: xbond.conf(5)). */
TEST(test_lacp)
{
	static const struct {
		enum option_id id;
		const char *name, *initial, *last;
		uint32_t number; /* of last */
	} expected[] = {
		{ OPT_LACP_RATE, "lacp_rate", "slow", "fast", 1 },
		{ OPT_LACP_ACTIVE, "lacp_active", "on", "off", 0 },
		{ OPT_LACP_TX, "lacp_tx", "hash", "balance-rr", 1 },
		{ OPT_AD_SELECT, "ad_select", "stable", "actor_port_prio", 3 },
		{ OPT_AD_ACTOR_SYS_PRIO, "ad_actor_sys_prio", "65535", "1", 1 },
		{ OPT_AD_ACTOR_SYSTEM, "ad_actor_system", "none", "none", 0 },
		{ OPT_AD_USER_PORT_KEY, "ad_user_port_key", "0", "1023", 1023 },
		{ OPT_COUPLED_CONTROL, "coupled_control", "on", "off", 0 },
		{ OPT_BROADCAST_NEIGHBOR, "broadcast_neighbor", "off", "on", 1 },
		{ OPT_MAX_LINKS, "max_links", "0", "64", 64 },
		{ OPT_LACP_REVERT, "lacp_revert", "on", "off", 0 },
		{ OPT_LACP_WTR, "lacp_wtr", "0", "65535", 65535 },
		{ OPT_MIN_LINKS_LACP, "min_links_lacp", "off", "on", 1 },
		{ OPT_LACP_PARTNER, "lacp_partner", "none", "none", 0 },
		{ OPT_LACP_STRICT, "lacp_strict", "off", "on", 1 },
		{ OPT_LACP_FALLBACK, "lacp_fallback", "one", "all", 2 },
		{ OPT_LACP_FALLBACK_DELAY, "lacp_fallback_delay", "3000", "0", 0 },
		{ OPT_LACP_HOLD, "lacp_hold", "on", "off", 0 },
		{ OPT_DRAIN_MARKERS, "drain_markers", "off", "on", 1 },
		{ OPT_ACTOR_PORT_PRIO, "actor_port_prio", "255", "0", 0 },
	};

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		assert_string_equal(option_at(expected[i].id)->name, expected[i].name);
		assert_string_equal(option_at(expected[i].id)->initial, expected[i].initial);
		assert_int_equal(parsed(expected[i].id, expected[i].last), expected[i].number);
	}
	assert_refused(OPT_AD_ACTOR_SYS_PRIO, "0");
	assert_refused(OPT_AD_USER_PORT_KEY, "1024");
	assert_refused(OPT_MAX_LINKS, "65");
}

TEST(test_mac)
{
	static const char *const refused[] = {
		"",
		"00:00:00:00:00",
		"00:00:00:00:00:00:00",
		"0:0:0:0:0:0",
		"00-00-00-00-00-00",
		"00:00:00:00:00:0g",
		"00:00:00:00:00:00 ",
		"+1:00:00:00:00:00",
		"01:80:c2:00:00:02",
		"ff:ff:ff:ff:ff:ff",
	};
	struct option_value value;

	assert_round_trip(OPT_AD_ACTOR_SYSTEM, "02:00:5e:10:00:0f", "02:00:5e:10:00:0f");
	assert_round_trip(OPT_AD_ACTOR_SYSTEM, "02:00:5E:10:00:0F", "02:00:5e:10:00:0f");
	assert_round_trip(OPT_AD_ACTOR_SYSTEM, "00:00:00:00:00:00", "none");
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		assert_refused(OPT_AD_ACTOR_SYSTEM, refused[i]);
	assert_int_equal(
		option_parse(option_at(OPT_AD_ACTOR_SYSTEM), "02:00:5e:10:00:0f", &value, NULL), 0);
	assert_false(option_is_default(option_at(OPT_AD_ACTOR_SYSTEM), &value));
	assert_int_equal(option_parse(option_at(OPT_AD_ACTOR_SYSTEM), "none", &value, NULL), 0);
	assert_true(option_is_default(option_at(OPT_AD_ACTOR_SYSTEM), &value));
}

TEST(test_lines)
{
	struct err err;

	assert_line(OPT_MIN_LINKS, "65", "min_links: '65' is not allowed; allowed: 0..64");
	assert_line(OPT_XMIT_HASH_POLICY, "layer4",
		    "xmit_hash_policy: 'layer4' is not allowed; allowed: "
		    "layer2|layer3+4|layer2+3|encap2+3|encap3+4|vlan+srcmac|flow");
	assert_line(OPT_XMIT_HASH_POLICY, "6",
		    "xmit_hash_policy: '6' is not allowed; allowed: "
		    "layer2|layer3+4|layer2+3|encap2+3|encap3+4|vlan+srcmac|flow");
	assert_line(OPT_MIIMON, "0",
		    "miimon: 0 is refused, because polling carrier is the safety net under link "
		    "events; allowed: 1..2147483647");
	assert_line(OPT_AD_ACTOR_SYSTEM, "01:80:c2:00:00:02",
		    "ad_actor_system: '01:80:c2:00:00:02' is a multicast address, which no system "
		    "can have; allowed: MAC|none");
	option_check_mode(option_at(OPT_LACP_RATE), XBOND_MODE_BALANCE_XOR, &err);
	assert_string_equal(
		err.text,
		"lacp_rate: refused in mode balance-xor; it is an option of mode 802.3ad only");
	option_check_mode(option_at(OPT_PRIMARY), XBOND_MODE_BALANCE_RR, &err);
	assert_string_equal(err.text,
			    "primary: refused in mode balance-rr; it is an option of modes "
			    "active-backup, balance-tlb, balance-alb only");
}
