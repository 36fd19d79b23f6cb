/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks of doctor on facts by hand: what takes a NIC, another kernel or much traffic.
 * tests/cli/test_doctor.py and tests/net/test_doctor.py have the others.
 */
#include <string.h>

#include <linux/if.h>
#include <linux/if_ether.h>

#include "cli/doctor/doctor.h"
#include "common/clock.h"
#include "network/driver.h"
#include "tests/unit/unit.h"

#define SLAVES 2
#define NOW_NS (1000 * NS_PER_S)

static struct xbond_settings settings;
static struct xbond_table table;
static struct xbond_bond bond_pin;
static struct xbond_slave slaves[XBOND_MAX_SLAVES];
static struct link_info links[2 + SLAVES]; /* the slaves, bond0, and another one */
static struct doctor_bond bond;
static struct doctor_facts facts;
static struct doctor_report report;

static struct link_info *const own = &links[SLAVES], *const other = &links[SLAVES + 1];

static void make_link(struct link_info *link, int ifindex, const char *name)
{
	*link = (struct link_info){
		.ifindex = ifindex, .mtu = 1500, .flags = IFF_UP, .vlan_id = -1, .lower_nsid = -1
	};
	strcpy(link->name, name);
}

static void make_slave(unsigned int slot)
{
	struct doctor_slave *slave = &bond.slave[slot];

	slaves[slot] = (struct xbond_slave){ .state = XBOND_SLOT_MEMBER,
					     .link = XBOND_LINK_UP,
					     .ifindex = slot + 1,
					     .speed_mbps = 1000,
					     .duplex = LACP_DUPLEX_FULL };
	strcpy(slaves[slot].name, slot ? "eth1" : "eth0");
	make_link(&links[slot], (int)slot + 1, slaves[slot].name);
	slave->slot = slot;
	slave->pin = &slaves[slot];
	slave->device.link = &links[slot];
	table.tx_mask |= 1ull << slot;
}

/* A balance-xor bond of two slaves, in which nothing is wrong. */
static int reset(void **state)
{
	settings = (struct xbond_settings){ 0 };
	table = (struct xbond_table){ .selection = XBOND_SELECT_HASH };
	bond_pin = (struct xbond_bond){ .mode = XBOND_MODE_BALANCE_XOR,
					.netnsid = -1,
					.mtu = 1500,
					.state = XBOND_BOND_READY,
					.carrier = 1,
					.active_slot = XBOND_NO_SLOT };
	memset(&bond, 0, sizeof(bond));
	strcpy(bond.name, "bond0");
	bond.is_open = true;
	bond.pins = (struct pins){
		.settings = &settings, .table = &table, .bond = &bond_pin, .slaves = slaves
	};
	bond.slave_count = SLAVES;
	for (unsigned int slot = 0; slot < SLAVES; slot++)
		make_slave(slot);
	make_link(own, 10, "bond0");
	make_link(other, 11, "other");
	bond.device.link = own;
	bond.rp_filter = bond.forwarding = -1;
	facts = (struct doctor_facts){ .bond = &bond, .bond_count = 1 };
	facts.links = (struct link_list){ links, 2 + SLAVES };
	facts.host = (struct doctor_host){ .kernel = DOCTOR_KERNEL(6, 18),
					   .has_bpffs = true,
					   .bondd_answers = true,
					   .now_ns = NOW_NS };
	table.heartbeat_ns = clock_now_ns();
	doctor_report_init(&report);
	report.check = "check";
	return 0;
}

static int end(void **state)
{
	doctor_report_done(&report);
	return 0;
}

static bool last_has(const char *key, const char *words)
{
	return strstr(json_string_value(json_object_get(report.last, key)), words);
}

/* How many it found of this severity; what it found before is forgotten. */
static size_t count_bond(enum doctor_severity severity,
			 void (*check)(const struct doctor_facts *, const struct doctor_bond *,
				       struct doctor_report *))
{
	doctor_report_done(&report);
	doctor_report_init(&report);
	report.check = "check";
	check(&facts, &bond, &report);
	return json_array_size(report.findings[severity]);
}

static size_t count_host(enum doctor_severity severity,
			 void (*check)(const struct doctor_facts *, struct doctor_report *))
{
	doctor_report_done(&report);
	doctor_report_init(&report);
	report.check = "check";
	check(&facts, &report);
	return json_array_size(report.findings[severity]);
}

TEST(test_nothing_is_wrong, reset, end)
{
	json_t *found;

	settings.path = XBOND_PATH_COUNTED;
	bond.config_is = DOCTOR_CONFIG_NONE;
	for (const struct doctor_check *check = doctor_checks; check->name; check++) {
		report.check = check->name;
		if (check->host)
			check->host(&facts, &report);
		else if (check->bond && check->bond != doctor_check_config &&
			 check->bond != doctor_check_no_effect)
			check->bond(&facts, &bond, &report);
	}
	found = doctor_report_json(&report);
	assert_int_equal(json_array_size(found), 0);
	json_decref(found);
}

TEST(test_the_worst_comes_first, reset, end)
{
	static const enum doctor_severity order[] = { DOCTOR_NOTE, DOCTOR_BAD, DOCTOR_WARNING };
	json_t *found;

	for (int i = 0; i < 3; i++) {
		doctor_found(&report, order[i], NULL, "%d", order[i]);
		doctor_advise(&report, "none");
	}
	found = doctor_report_json(&report);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(
			json_string_value(json_object_get(json_array_get(found, i), "finding"))[0],
			'2' - (int)i);
	json_decref(found);
}

TEST(test_kernels, reset, end)
{
	facts.host.has_jit = DOCTOR_NO;
	assert_int_equal(count_host(DOCTOR_WARNING, doctor_check_bpf), 1);
	facts.host.kernel = DOCTOR_KERNEL(6, 1);
	assert_int_equal(count_host(DOCTOR_NOTE, doctor_check_kernel), 3);
	facts.host.kernel = DOCTOR_KERNEL(6, 9);
	assert_int_equal(count_host(DOCTOR_NOTE, doctor_check_kernel), 1);
	facts.host.has_btf = DOCTOR_NO;
	assert_int_equal(count_host(DOCTOR_WARNING, doctor_check_kernel), 1);
}

/* Notes about the main loop if the last of its slow turns was so long ago. */
static int count_slow_turns(unsigned int turns, unsigned int ago_s)
{
	facts.host.loop.slow_turns = turns;
	facts.host.loop.slow_ns = facts.host.loop.worst_ns = NS_PER_S;
	facts.host.loop.slow_ended_ns = NOW_NS - ago_s * NS_PER_S;
	return count_host(DOCTOR_NOTE, doctor_check_loop);
}

TEST(test_main_loop, reset, end)
{
	facts.host.loop_is_known = true;
	facts.host.loop.worst_ns = NS_PER_S / 4;
	assert_int_equal(count_host(DOCTOR_NOTE, doctor_check_loop), 0);
	assert_int_equal(count_slow_turns(1, 60), 1);
	assert_int_equal(count_slow_turns(1, 2 * 3600), 0);
	assert_int_equal(count_slow_turns(3, 2 * 3600), 1);
	assert_int_equal(count_slow_turns(3, 25 * 3600), 0);
	assert_int_equal(count_host(DOCTOR_BAD, doctor_check_bondd), 0);
	facts.host.bondd_is_silent = true;
	assert_int_equal(count_host(DOCTOR_BAD, doctor_check_bondd), 1);
	facts.host.bondd_is_silent = false;
	facts.host.loop.began_ns = NOW_NS - NS_PER_S;
	assert_int_equal(count_host(DOCTOR_BAD, doctor_check_bondd), 0);
	facts.host.loop.began_ns = NOW_NS - 3 * NS_PER_S;
	assert_int_equal(count_host(DOCTOR_BAD, doctor_check_bondd), 1);
}

TEST(test_policy_that_nothing_asks, reset, end)
{
	strcpy(bond.policy, "by_vlan");
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_policy), 0);
	strcpy(bond.policy_problem, "it has no effect in this mode");
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_policy), 1);
}

TEST(test_carrier_source_of_old_kernels, reset, end)
{
	struct xbond_failover failover = { .carrier_source = XBOND_CARRIER_POLL };

	bond.pins.failover = &failover;
	assert_int_equal(count_host(DOCTOR_WARNING, doctor_check_carrier_source), 1);
	facts.host.kernel = DOCTOR_KERNEL(6, 1);
	assert_int_equal(count_host(DOCTOR_WARNING, doctor_check_carrier_source), 0);
	assert_int_equal(count_host(DOCTOR_NOTE, doctor_check_carrier_source), 1);
	assert_true(last_has("advice", "Linux 6.2"));
}

TEST(test_carrier_source_says_what_it_lacks, reset, end)
{
	struct xbond_failover failover = { .carrier_source = XBOND_CARRIER_TRACEPOINT };

	bond.pins.failover = &failover;
	assert_int_equal(count_host(DOCTOR_NOTE, doctor_check_carrier_source), 1);
	assert_true(last_has("advice", "trampolines"));
	failover.carrier_source = XBOND_CARRIER_POLL;
	assert_int_equal(count_host(DOCTOR_WARNING, doctor_check_carrier_source), 1);
	assert_true(last_has("advice", "refused"));
	facts.host.has_btf = DOCTOR_NO;
	assert_int_equal(count_host(DOCTOR_WARNING, doctor_check_carrier_source), 1);
	assert_true(last_has("advice", "no BTF"));
}

TEST(test_drivers_without_xdp, reset, end)
{
	bond_pin.rx_hook = XBOND_RX_AUTO;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_xdp), 0);
	bond_pin.rx_hook = XBOND_RX_XDP;
	slaves[1].rx_hook = XBOND_RX_XDP;
	bond.slave[0].device.xdp_is_known = true;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_xdp), 1);
	assert_true(last_has("finding", "no native XDP"));
	bond.slave[0].device.xdp = XDP_FEATURE_BASIC | XDP_FEATURE_REDIRECT;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_xdp), 1);
	assert_false(last_has("finding", "no native XDP"));
}

TEST(test_path_says_what_is_in_the_way, reset, end)
{
	settings.path = XBOND_PATH_DIRECT;
	table.flags = XBOND_F_FORCE_COUNTED;
	bond.device.is_captured = true;
	assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_path), 1);
	assert_true(last_has("finding", "captures"));
	bond.device.is_captured = false;
	own->xdp_id = 7;
	assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_path), 1);
	assert_true(last_has("finding", "XDP"));
	own->xdp_id = 0;
	strcpy(own->qdisc, "noqueue");
	assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_path), 1);
	assert_true(last_has("finding", "filters"));
	strcpy(own->qdisc, "fq");
	assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_path), 1);
	assert_true(last_has("finding", "root qdisc"));
	own->flags = 0;
	assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_path), 1);
	assert_true(last_has("finding", "administratively down"));
	bond.device.link = NULL;
	assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_path), 1);
	assert_true(last_has("finding", "another network namespace"));
}

TEST(test_each_offload, reset, end)
{
	static const struct {
		enum doctor_offload offload;
		const char *words;
	} offloads[] = { { DOCTOR_TSO, "TCP segmentation" },
			 { DOCTOR_CHECKSUM, "checksumming" },
			 { DOCTOR_SCATTER, "scatter-gather" },
			 { DOCTOR_GRO, "generic receive" } };

	bond.slave[0].device.offloads_are_known = bond.slave[1].device.offloads_are_known = true;
	for (size_t i = 0; i < sizeof(offloads) / sizeof(offloads[0]); i++) {
		bond.slave[0].device.offloads = bond.slave[1].device.offloads = 0;
		assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_offloads), 0);
		bond.slave[1].device.offloads = 1u << offloads[i].offload;
		assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_offloads), 1);
		assert_true(last_has("finding", offloads[i].words));
		assert_true(last_has("finding", "unlike eth1"));
	}
}

TEST(test_half_duplex_with_lacp, reset, end)
{
	slaves[1].duplex = 0;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_speed), 1);
	assert_false(last_has("finding", "LACP"));
	bond_pin.mode = XBOND_MODE_8023AD;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_speed), 1);
	assert_true(last_has("finding", "LACP does not use it"));
}

/* Slave 1, by the monitor that speaks against it, though it is in use for want of others. */
static void hold_slave(enum xbond_monitor monitor)
{
	static struct xbond_verdict verdicts[XBOND_MAX_SLAVES];

	memset(verdicts, 0, sizeof(verdicts));
	verdicts[1] = (struct xbond_verdict){ .spoken = 1u << monitor | 1u, .works = 1u };
	bond.pins.monitors = verdicts;
}

TEST(test_slaves_that_are_used_though_held, reset, end)
{
	static const struct {
		enum xbond_monitor monitor;
		const char *finding, *limit;
	} cases[] = {
		{ XBOND_MONITOR_FLAPS,
		  "it is used although it is held down because it flaps: ", "flap_limit is" },
		{ XBOND_MONITOR_SILENCE,
		  "it is used although it receives nothing: ", "rx_silence is" },
		{ XBOND_MONITOR_ERRORS,
		  "it is used although it receives too many broken frames: ", "error_limit is" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		hold_slave(cases[i].monitor);
		assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_hold_down), 1);
		assert_true(last_has("finding", cases[i].finding));
		assert_true(last_has("finding", "no other slave works"));
		assert_true(last_has("advice", cases[i].limit));
		assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_link), 0);
	}
	bond_pin.min_links = 2;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_hold_down), 1);
	assert_true(last_has("finding", "fewer than min_links others work"));
}

TEST(test_slaves_that_are_held, reset, end)
{
	hold_slave(XBOND_MONITOR_ERRORS);
	slaves[1].link = XBOND_LINK_DOWN;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_hold_down), 1);
	assert_true(last_has("finding", "it is not used: it receives too many broken frames"));
	slaves[1].link = XBOND_LINK_UP;
	strcpy(bond.slave[1].why, "backup: the active slave is eth0");
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_hold_down), 1);
	assert_true(last_has("finding", "it may be used although it receives too many"));
}

/* Whatever the pins say of it: bondd may be away. */
TEST(test_a_slave_that_was_set_down, reset, end)
{
	links[1].flags = 0;
	for (int link = XBOND_LINK_DOWN; link <= XBOND_LINK_UP; link++) {
		slaves[1].link = link;
		assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_link), 1);
		assert_true(last_has("finding", "it is administratively down"));
		assert_true(last_has("advice", "ip link set eth1 up"));
	}
	links[1].flags = IFF_UP;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_link), 0);
}

static void find(struct doctor_report *found, enum doctor_severity severity, const char *slave,
		 const char *check)
{
	found->check = check;
	doctor_found(found, severity, slave, "found");
}

TEST(test_what_is_bad_for_a_moment_only, reset, end)
{
	struct doctor_report before;

	doctor_report_init(&before);
	find(&before, DOCTOR_BAD, "eth0", "device");
	find(&before, DOCTOR_BAD, NULL, "attached");
	find(&report, DOCTOR_BAD, NULL, "device");
	find(&report, DOCTOR_BAD, "eth0", "device");
	find(&report, DOCTOR_BAD, "eth1", "attached");
	find(&report, DOCTOR_WARNING, "eth1", "link");
	doctor_report_confirm(&report, &before);
	assert_int_equal(json_array_size(report.findings[DOCTOR_BAD]), 1);
	assert_string_equal(json_string_value(json_object_get(
				    json_array_get(report.findings[DOCTOR_BAD], 0), "slave")),
			    "eth0");
	assert_int_equal(json_array_size(report.findings[DOCTOR_WARNING]), 1);
	doctor_report_done(&before);
}

TEST(test_broken_frames, reset, end)
{
	struct doctor_device *device = &bond.slave[1].device;

	device->stats_are_known = true;
	device->stats.rx.packets = 100000000;
	device->stats.rx.crc = 9;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_errors), 0);
	device->stats.rx.crc = 900; /* 9 in a million */
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_errors), 0);
	device->stats.rx.crc = 5000;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_errors), 1);
	device->stats.rx.crc = 0;
	device->stats.rx.missed = 200000;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_errors), 1);
	device->stats.rx.missed = 50000;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_errors), 0);
}

TEST(test_shares, reset, end)
{
	bond.slave[0].counters = (struct xbond_counters){ .tx_packets = 99000, .rx_packets = 500 };
	bond.slave[1].counters = (struct xbond_counters){ .tx_packets = 500, .rx_packets = 9000 };
	assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_balance), 0); /* too few */
	bond.slave[0].counters.tx_packets = 990000;
	assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_balance), 1);
	bond.slave[1].counters.rx_packets = 900000;
	assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_balance), 2);
	bond.slave[1].counters.tx_packets = bond.slave[0].counters.rx_packets = 400000;
	assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_balance), 0);
	bond.slave[1].counters.tx_packets = 0;
	settings.xmit_hash_policy = XBOND_POLICY_LAYER2;
	assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_balance), 1);
	assert_true(last_has("advice", "layer2 sends"));
	settings.xmit_hash_policy = XBOND_POLICY_LAYER34;
	assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_balance), 1);
	assert_true(last_has("advice", "few flows"));
	settings.weight[0] = 90;
	settings.weight[1] = 10; /* it is as asked for */
	assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_balance), 0);
}

TEST(test_mtu_of_a_device_on_the_bond, reset, end)
{
	other->lower = own->ifindex;
	strcpy(other->kind, "vlan");
	other->mtu = 9000;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_mtu), 1);
	other->mtu = 1496;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_mtu), 0);
}

TEST(test_lro, reset, end)
{
	bond.slave[1].device.offloads = 1u << DOCTOR_LRO;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_lro), 0);
	bond.forwarding = 1;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_lro), 1);
	bond.forwarding = 0;
	own->master = other->ifindex;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_lro), 1);
	assert_true(last_has("finding", "port of a bridge"));
}

TEST(test_drivers_without_vlans, reset, end)
{
	bond.slave[0].device.offloads = 1u << DOCTOR_NO_VLANS;
	assert_int_equal(count_bond(DOCTOR_BAD, doctor_check_vlan), 0);
	other->lower = own->ifindex;
	other->vlan_id = 5;
	assert_int_equal(count_bond(DOCTOR_BAD, doctor_check_vlan), 1);
}

TEST(test_full_receive_filters, reset, end)
{
	links[0].promiscuity = 1;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_promiscuous), 0);
	bond_pin.mac_policy = XBOND_MAC_FILTER;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_promiscuous), 1);
	bond.slave[0].device.is_captured = true;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_promiscuous), 0);
	bond.slave[0].device.is_captured = false;
	strcpy(links[0].kind, "veth");
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_promiscuous), 0);
}

static void set_mac(struct link_info *link)
{
	static const uint8_t mac[] = { 2, 0, 0, 0, 0, 1 };

	link->type = 1; /* ARPHRD_ETHER */
	link->has_mac = true;
	memcpy(link->mac, mac, sizeof(mac));
}

/* VLANs have the address of the device that they are on; slaves may be VLANs. */
TEST(test_mac_addresses_of_the_family, reset, end)
{
	set_mac(own);
	set_mac(other);
	set_mac(&links[0]);
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_mac), 1);
	links[0].vlan_id = 5;
	links[0].lower = other->ifindex;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_mac), 0);
	links[0].lower = 0;
	other->lower = own->ifindex;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_mac), 0);
	other->lower = 0;
	own->master = links[1].ifindex;
	strcpy(links[1].kind, "openvswitch");
	strcpy(other->kind, "openvswitch");
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_mac), 0);
	own->master = 0;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_mac), 1);
	other->flags = 0;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_mac), 0);
}

TEST(test_uses_of_the_port_side, reset, end)
{
	struct address address = { .ifindex = 11 };

	bond_pin.ifindex = 10;
	bond_pin.port_ifindex = 11;
	strcpy(other->qdisc, "noqueue");
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_port_side), 0);
	strcpy(other->qdisc, "fq");
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_port_side), 1);
	assert_true(last_has("finding", "root qdisc"));
	facts.address = &address;
	facts.address_count = 1;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_port_side), 1);
	assert_true(last_has("finding", "IP address"));
	address.ifindex = 10;
	strcpy(other->qdisc, "noop");
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_port_side), 0);
	bond.port_has_socket = true;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_port_side), 1);
	bond_pin.port_ifindex = 10; /* a team */
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_port_side), 0);
}

TEST(test_two_timestamps, reset, end)
{
	facts.host.has_ptp4l = true;
	strcpy(own->kind, "netkit");
	assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_timestamps), 0);
	strcpy(own->kind, "veth");
	assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_timestamps), 1);
	settings.path = XBOND_PATH_DIRECT;
	assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_timestamps), 0);
	table.flags = XBOND_F_FORCE_COUNTED;
	assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_timestamps), 1);
	facts.host.has_ptp4l = false;
	assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_timestamps), 0);
}

TEST(test_a_pair_that_could_be_a_team, reset, end)
{
	strcpy(own->kind, "veth");
	assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_device_kind), 0);
	facts.host.has_team = true;
	assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_device_kind), 1);
	assert_true(last_has("advice", "device team"));
	bond_pin.mode = XBOND_MODE_BALANCE_ALB;
	assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_device_kind), 0);
	bond_pin.mode = XBOND_MODE_BALANCE_XOR;
	strcpy(own->kind, "team");
	assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_device_kind), 0);
}

TEST(test_a_bond_that_ifupdown_makes_needs_no_file, reset, end)
{
	bond.config_is = DOCTOR_CONFIG_NONE;
	assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_config), 1);
	assert_true(last_has("advice", "bondctl save"));
	bond.manager = "ifupdown";
	assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_config), 1);
	assert_false(last_has("advice", "save"));
	assert_true(last_has("advice", "bond-driver xbond"));
}

TEST(test_arp_probes_where_replies_come_by_one_link, reset, end)
{
	static const struct {
		uint32_t mode;
		size_t notes;
	} cases[] = { { XBOND_MODE_BALANCE_XOR, 1 },
		      { XBOND_MODE_BALANCE_RR, 1 },
		      { XBOND_MODE_8023AD, 1 },
		      { XBOND_MODE_ACTIVE_BACKUP, 0 },
		      { XBOND_MODE_BROADCAST, 0 } };
	struct xbond_verdict monitors[XBOND_MAX_SLAVES] = { 0 };

	bond_pin.arp_ip_target[0] = 1;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bond_pin.mode = cases[i].mode;
		bond_pin.arp_interval_ms = 0;
		count_bond(DOCTOR_NOTE, doctor_check_arp);
		bond_pin.arp_interval_ms = 1000;
		assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_arp), cases[i].notes);
		bond_pin.broadcast_neighbor = 1;
		assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_arp), 0);
		bond_pin.broadcast_neighbor = 0;
	}
	bond_pin.mode = XBOND_MODE_BALANCE_XOR;
	bond.pins.monitors = monitors;
	monitors[1].spoken = 1u << XBOND_MONITOR_ARP;
	slaves[1].link = XBOND_LINK_DOWN;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_link), 1);
	assert_true(last_has("advice", "arp_interval is for active-backup"));
}

static void see(unsigned int slot, uint32_t asked, uint32_t answered)
{
	struct doctor_seen *seen = &bond.slave[slot].seen;

	*seen = (struct doctor_seen){ .is_known = true,
				      .talks_are_known = true,
				      .sent = 100,
				      .received = 100,
				      .talk = { .asked = asked,
						.answered = answered,
						.unanswered = asked - answered,
						.hears = answered } };
}

static void see_both(uint32_t asked, uint32_t answered)
{
	see(0, asked, answered);
	see(1, asked, answered);
}

TEST(test_unanswered_over_one_slave, reset, end)
{
	struct talk_sums *talk = &bond.slave[1].seen.talk;

	see(0, 8, 8);
	see(1, 8, 0); /* one-way senders, for all that is known */
	assert_int_equal(count_bond(DOCTOR_BAD, doctor_check_unanswered), 0);
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_unanswered), 0);
	talk->proven = 3;
	assert_int_equal(count_bond(DOCTOR_BAD, doctor_check_unanswered), 1);
	assert_true(last_has("slave", "eth1") && last_has("finding", "8 of 8"));
	talk->answered = 1;
	assert_int_equal(count_bond(DOCTOR_BAD, doctor_check_unanswered), 0);
	talk->answered = talk->proven = 0;
	talk->owed = 8;
	talk->peers = 2; /* perhaps they are gone */
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_unanswered), 0);
	talk->peers = 3;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_unanswered), 1);
	bond.slave[0].seen.talks_are_known = false;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_unanswered), 0);
}

TEST(test_unanswered_because_one_slave_hears_nothing, reset, end)
{
	see_both(8, 6);
	bond.slave[1].seen.received = 0; /* as with a far end that hashes otherwise */
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_unanswered), 0);
	bond.slave[0].seen.talk.expected = 3;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_unanswered), 1);
	assert_true(last_has("slave", "eth1") && last_has("finding", "received nothing"));
	bond.slave[1].seen.dropped = 1;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_unanswered), 0);
}

TEST(test_unanswered_because_one_slave_hears_next_to_nothing, reset, end)
{
	struct doctor_seen *right = &bond.slave[1].seen;

	see_both(8, 6);
	bond.slave[0].seen.talk.expected = 3;
	bond.slave[0].seen.received = 900;
	right->sent = 2000;
	right->received = 8;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_unanswered), 1);
	assert_true(last_has("slave", "eth1") &&
		    last_has("finding", "received next to nothing (8 frames)"));
	right->received = 9; /* one in a hundred of what the other receives */
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_unanswered), 0);
	right->received = 1;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_unanswered), 1);
	assert_true(last_has("finding", "(1 frame)"));
	right->sent = 100; /* it is used so little that nobody may have to answer */
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_unanswered), 0);
	bond.slave[0].seen.received = 9; /* too few to compare one frame with */
	right->sent = 2000;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_unanswered), 0);
}

TEST(test_unanswered_at_all, reset, end)
{
	see(0, 0, 0);
	see(1, 8, 0);
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_unanswered), 0);
	bond.slave[1].seen.talk.owed = 8;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_unanswered), 1);
	assert_true(last_has("slave", "eth1"));
	bond.slave[0].seen.talk.hears = 5; /* others are there, and these peers may not be */
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_unanswered), 0);
	bond.slave[1].seen.talk.heard = 3;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_unanswered), 1);
	bond.slave[0].seen.talk.answered = 1;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_unanswered), 0);
}

TEST(test_refused_frames, reset, end)
{
	see(0, 8, 8);
	see(1, 0, 0);
	bond.slave[1].seen.talk.alone = 5;
	assert_int_equal(count_bond(DOCTOR_BAD, doctor_check_refused), 0);
	bond.slave[1].seen.dropped = 5;
	assert_int_equal(count_bond(DOCTOR_BAD, doctor_check_refused), 1);
	bond.slave[1].seen.talk.alone = 4;
	assert_int_equal(count_bond(DOCTOR_BAD, doctor_check_refused), 0);
}

TEST(test_a_slave_that_loses_a_part, reset, end)
{
	struct talk_sums *left = &bond.slave[0].seen.talk, *right = &bond.slave[1].seen.talk;

	facts.watched_s = 5;
	see_both(100, 100);
	left->sent = (struct talk_segments){ 1000, 4 };
	right->sent = (struct talk_segments){ 1000, 20 };
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_loss), 1);
	assert_true(last_has("slave", "eth1") && last_has("finding", "that it sent"));
	bond.slave[1].seen.sent_bytes = 5ull * 1000000000 / 8 * 10; /* a full link */
	slaves[1].speed_mbps = 10000;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_loss), 0);
	bond.slave[1].seen.sent_bytes = 0;
	right->sent.again = 19; /* less than one in fifty */
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_loss), 0);
	right->sent.again = 20;
	left->sent.again = 5; /* that other links have, too */
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_loss), 0);
	left->sent = (struct talk_segments){ 199, 0 }; /* nothing to compare with */
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_loss), 0);
	right->got = (struct talk_segments){ 100, 10 };
	left->got = (struct talk_segments){ 200, 0 };
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_loss), 1);
	assert_true(last_has("finding", "that it received"));
	right->got.again = 9;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_loss), 0);
	right->answered = 95;
	right->unanswered = right->proven = 5;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_loss), 1);
	assert_true(last_has("finding", "not answered"));
	right->proven = 4;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_loss), 0);
}

TEST(test_a_slow_slave, reset, end)
{
	struct talk_times *left = bond.slave[0].seen.talk.times,
			  *right = bond.slave[1].seen.talk.times;
	const struct talk_times late = { 6, 5, 5 * 90000000, 5 * 400000 };

	facts.watched_s = 5;
	see_both(100, 100);
	left[TALK_SENT].all = 20;
	right[TALK_SENT] = left[TALK_RECEIVED] = late;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_slow), 1);
	assert_true(last_has("slave", "eth1") && last_has("finding", "to what it sent"));
	assert_true(last_has("finding", "waited 90.0 ms for answers to what it sent; over other "
					"slaves 0.4 ms"));
	right[TALK_SENT].late = 4;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_slow), 1);
	assert_true(last_has("slave", "eth0") && last_has("finding", "that it received"));
	left[TALK_RECEIVED].all = 7; /* fewer than three of four */
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_slow), 0);
	left[TALK_RECEIVED].all = 6;
	bond.slave[0].seen.received_bytes = 5ull * 1000000000 / 8 * 10; /* a full link */
	slaves[0].speed_mbps = 10000;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_slow), 0);
}

TEST(test_a_dead_slave_is_told_once, reset, end)
{
	struct talk_sums *right = &bond.slave[1].seen.talk;

	facts.watched_s = 5;
	see(0, 100, 100);
	see(1, 100, 0);
	right->proven = 100;
	right->sent = (struct talk_segments){ 100, 50 };
	bond.slave[0].seen.talk.sent.all = 200;
	assert_int_equal(count_bond(DOCTOR_BAD, doctor_check_unanswered), 1);
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_loss), 0);
	right->unanswered = 0; /* it only receives */
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_loss), 1);
}

TEST(test_a_smaller_mtu_at_the_far_end, reset, end)
{
	struct talk_sums *left = &bond.slave[0].seen.talk, *right = &bond.slave[1].seen.talk;

	see_both(8, 8);
	right->long_lost = 3;
	right->shortest_lost = 1400;
	right->longest_answered = 1399;
	left->longest_answered = 1500;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_far_mtu), 1);
	assert_true(last_has("slave", "eth1") && last_has("finding", "1400 bytes or more"));
	right->longest_answered = 1400;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_far_mtu), 0);
	right->longest_answered = 1399;
	right->short_lost = 1;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_far_mtu), 0);
	right->short_lost = 0;
	left->long_lost = left->longest_answered = 1;
	left->shortest_lost = 1300;
	right->longest_answered = 1200;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_far_mtu), 1);
	assert_true(json_is_null(json_object_get(report.last, "slave")));
}

/* It may be the only one that carries long frames. */
TEST(test_what_is_too_long_is_not_lost_by_a_link, reset, end)
{
	struct talk_sums *left = &bond.slave[0].seen.talk, *right = &bond.slave[1].seen.talk;

	facts.watched_s = 5;
	see(0, 100, 99);
	see(1, 100, 50);
	right->proven = right->long_lost = 50;
	left->long_lost = 1;
	left->shortest_lost = right->shortest_lost = 1400;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_loss), 0);
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_far_mtu), 1);
	left->long_lost = left->shortest_lost = 0;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_far_mtu), 1);
	assert_true(json_is_null(json_object_get(report.last, "slave")));
	right->short_lost = 1;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_loss), 1);
}

TEST(test_the_address_of_the_bond_at_the_far_end, reset, end)
{
	struct address own_address = { .family = AF_INET, .bytes = { 10, 0, 0, 7 } };
	struct talk_sums *talk = &bond.slave[1].seen.talk;

	see_both(8, 8);
	assert_int_equal(count_bond(DOCTOR_BAD, doctor_check_far_mac), 0);
	memcpy(talk->twin_ip, own_address.bytes, sizeof(talk->twin_ip));
	assert_int_equal(count_bond(DOCTOR_BAD, doctor_check_far_mac), 1);
	assert_true(last_has("finding", "10.0.0.7"));
	facts.address = &own_address;
	facts.address_count = 1;
	assert_int_equal(count_bond(DOCTOR_BAD, doctor_check_far_mac), 0);
	talk->from_self = 3;
	assert_int_equal(count_bond(DOCTOR_BAD, doctor_check_far_mac), 1);
	bond.device.link = NULL; /* whose addresses are not known here */
	assert_int_equal(count_bond(DOCTOR_BAD, doctor_check_far_mac), 0);
}

TEST(test_a_switch_without_a_channel, reset, end)
{
	see_both(8, 8);
	bond.slave[1].seen.talk.comes_back = true;
	for (int mode = 0; mode <= XBOND_MODE_BALANCE_ALB; mode++) {
		bond.pins.bond->mode = (__u32)mode;
		assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_channel),
				 mode == XBOND_MODE_BALANCE_RR || mode == XBOND_MODE_BALANCE_XOR ||
					 mode == XBOND_MODE_BROADCAST);
	}
}

TEST(test_lacp_that_nobody_answers, reset, end)
{
	see_both(8, 8);
	bond.slave[1].seen.talk.lacpdus = 1;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_lacp_unused), 1);
	bond_pin.mode = XBOND_MODE_ACTIVE_BACKUP;
	assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_lacp_unused), 1);
	bond_pin.mode = XBOND_MODE_8023AD;
	assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_lacp_unused), 0);
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_lacp_unused), 0);
}

TEST(test_xdp_programs_of_others, reset, end)
{
	links[1].xdp_id = 7;
	assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_other_xdp), 1);
	assert_true(last_has("finding", "id 7"));
	see(1, 0, 0);
	bond.slave[1].seen.at_device = 100;
	assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_other_xdp), 1);
	bond.slave[1].seen.received = 0;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_other_xdp), 1);
	slaves[1].rx_hook = XBOND_RX_XDP; /* it is the bond's own */
	assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_other_xdp), 0);
	links[1].xdp_generic_id = 8;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_other_xdp), 1);
}

TEST(test_afxdp, reset, end)
{
	struct xdp_socket sockets[] = { { .ifindex = 2, .queue = 0 },
					{ .ifindex = 2, .queue = 0 } };

	slaves[1].ifindex = 2;
	bond.slave[1].queues = 4;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_afxdp), 0);
	facts.sockets = (struct xdp_sockets){ sockets, 2 };
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_afxdp), 0); /* it only sends */
	bond.slave[1].seen.by_afxdp = 1;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_afxdp), 1);
	assert_true(last_has("finding", "1 of 4 queues"));
	bond.slave[1].queues = 2;
	sockets[1].queue = 1;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_afxdp), 0);
	bond.slave[1].seen.missed = 5;
	assert_int_equal(count_bond(DOCTOR_WARNING, doctor_check_afxdp), 1);
	assert_true(last_has("finding", "5 frames"));
	assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_afxdp), 0);
	bond.slave[1].device.xdp_is_known = true;
	bond.slave[1].device.xdp = XDP_FEATURE_BASIC;
	assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_afxdp), 0);
	bond.slave[1].device.xdp |= XDP_FEATURE_ZEROCOPY;
	assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_afxdp), 1);
	assert_true(last_has("finding", "are copied"));
	sockets[0].zero_copy = sockets[1].zero_copy = true;
	assert_int_equal(count_bond(DOCTOR_NOTE, doctor_check_afxdp), 0);
}
