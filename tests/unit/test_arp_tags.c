/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The VLAN tags of probes, from the devices that are on bond0. */
#include <string.h>

#include "daemon/monitor/arp.h"
#include "tests/unit/unit.h"

enum { BOND = 5, PORT, ETH, VLAN, INNER, BRIDGE, ON_BRIDGE, ALONE, DEEP, AWAY, LOOP };

static struct link_info devices[] = {
	{ .ifindex = BOND, .kind = "veth", .lower = PORT, .lower_nsid = -1, .vlan_id = -1 },
	{ .ifindex = PORT, .kind = "veth", .lower = BOND, .lower_nsid = -1, .vlan_id = -1 },
	{ .ifindex = ETH, .lower_nsid = -1, .vlan_id = -1 },
	{ .ifindex = VLAN,
	  .kind = "vlan",
	  .lower = BOND,
	  .lower_nsid = -1,
	  .vlan_id = 100,
	  .vlan_protocol = 0x88a8 },
	{ .ifindex = INNER,
	  .kind = "vlan",
	  .lower = VLAN,
	  .lower_nsid = -1,
	  .vlan_id = 200,
	  .vlan_protocol = 0x8100 },
	{ .ifindex = BRIDGE, .kind = "bridge", .lower_nsid = -1, .vlan_id = -1 },
	{ .ifindex = ON_BRIDGE,
	  .kind = "macvlan",
	  .lower = BRIDGE,
	  .lower_nsid = -1,
	  .vlan_id = -1 },
	{ .ifindex = ALONE, .kind = "bridge", .lower_nsid = -1, .vlan_id = -1 },
	{ .ifindex = DEEP,
	  .kind = "vlan",
	  .lower = INNER,
	  .lower_nsid = -1,
	  .vlan_id = 300,
	  .vlan_protocol = 0x8100 },
	{ .ifindex = AWAY, .kind = "macvlan", .lower = BOND, .lower_nsid = 7, .vlan_id = -1 },
	{ .ifindex = LOOP, .kind = "bridge", .master = LOOP, .lower_nsid = -1, .vlan_id = -1 },
};

static const struct link_list links = { devices, sizeof(devices) / sizeof(devices[0]) };
static struct arp_tags tags;

static bool leads(int ifindex)
{
	return arp_tags_to_bond(&links, ifindex, BOND, &tags);
}

TEST(vlans)
{
	assert_true(leads(BOND));
	assert_int_equal(tags.count, 0);
	assert_true(leads(VLAN));
	assert_int_equal(tags.count, 1);
	assert_int_equal(tags.tag[0].id, 100);
	assert_true(leads(INNER));
	assert_int_equal(tags.count, 2);
	assert_int_equal(tags.tag[0].protocol, 0x88a8);
	assert_int_equal(tags.tag[0].id, 100);
	assert_int_equal(tags.tag[1].protocol, 0x8100);
	assert_int_equal(tags.tag[1].id, 200);
	assert_false(leads(DEEP)); /* one tag too many */
}

TEST(bridges)
{
	assert_false(leads(BRIDGE));
	devices[0].master = BRIDGE;
	assert_true(leads(BRIDGE));
	assert_int_equal(tags.count, 0);
	assert_true(leads(ON_BRIDGE));
	devices[0].master = 0;
	devices[3].master = BRIDGE; /* the VLAN is the port */
	assert_true(leads(ON_BRIDGE));
	assert_int_equal(tags.count, 1);
	devices[3].master = 0;
}

TEST(elsewhere)
{
	assert_false(leads(ETH));
	assert_false(leads(PORT));
	assert_false(leads(ALONE));
	assert_false(leads(AWAY)); /* its number is one of another namespace */
	assert_false(leads(LOOP));
	assert_false(leads(99));
}
