/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The probes of the ARP monitor, byte by byte, and their VLAN tags, from the devices on bond0. */
#include <string.h>

#include "daemon/monitor/arp.h"
#include "tests/unit/unit.h"

static const uint8_t mac[6] = { 0x02, 0, 0x5e, 0x10, 0, 0x01 };
static const uint8_t source4[16] = { 192, 0, 2, 1 }, target4[16] = { 192, 0, 2, 254 };
static const uint8_t source6[16] = { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 };
static const uint8_t target6[16] = { 0x20, 0x01, 0x0d, 0xb8, [13] = 0xaa, 0xbb, 0xcc };
static const uint8_t none[16];

static const struct arp_tag tags[] = { { 0x88a8, 100 }, { 0x8100, 4094 } };

static void assert_bytes(const uint8_t *frame, size_t size, const uint8_t *expected,
			 size_t expected_size)
{
	assert_int_equal(size, expected_size);
	assert_memory_equal(frame, expected, size);
}

TEST(a_request)
{
	static const uint8_t expected[] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02, 0, 0x5e, 0x10, 0,    0x01, 8, 6,
		0,    1,    8,	  0,	6,    4,    0,	  1, 0x02, 0,	 0x5e, 0x10, 0, 0x01,
		192,  0,    2,	  1,	0,    0,    0,	  0, 0,	   0,	 192,  0,    2, 254,
	};
	const struct arp_probe probe = { .source = source4, .target = target4, .mac = mac };
	uint8_t frame[ARP_FRAME_SIZE];

	assert_bytes(frame, arp_frame_request(&probe, frame), expected, sizeof(expected));
}

TEST(a_reply)
{
	static const uint8_t to[6] = { 0x06, 1, 2, 3, 4, 5 };
	static const uint8_t expected[] = {
		0x06, 1, 2, 3, 4,    5, 0x02, 0, 0x5e, 0x10, 0,	   0x01, 8, 6,
		0,    1, 8, 0, 6,    4, 0,    2, 2,    0,    0x5e, 0x10, 0, 0x01,
		192,  0, 2, 1, 0x06, 1, 2,    3, 4,    5,    192,  0,	 2, 254,
	};
	const struct arp_probe probe = {
		.source = source4, .target = target4, .mac = mac, .to = to
	};
	uint8_t frame[ARP_FRAME_SIZE];

	assert_bytes(frame, arp_frame_reply(&probe, frame), expected, sizeof(expected));
}

TEST(a_rarp)
{
	static const uint8_t expected[] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02, 0,	0x5e, 0x10, 0, 0x01,
		0x81, 0,    0,	  5,	0x80, 0x35, 0,	  1,	8,    0,    6, 4,
		0,    3,    0x02, 0,	0x5e, 0x10, 0,	  0x01, 0,    0,    0, 0,
		0x02, 0,    0x5e, 0x10, 0,    0x01, 0,	  0,	0,    0,
	};
	const struct arp_tag tag = { 0x8100, 5 };
	uint8_t frame[ARP_FRAME_SIZE];

	assert_bytes(frame, arp_frame_rarp(mac, &tag, frame), expected, sizeof(expected));
	assert_int_equal(arp_frame_rarp(mac, NULL, frame), 42);
	assert_memory_equal(frame + 12, expected + 16, 30);
}

/* To the host itself, by both addresses. */
TEST(a_solicitation_to_one)
{
	static const uint8_t to[6] = { 0x06, 1, 2, 3, 4, 5 };
	const struct arp_probe probe = {
		.source = source6, .target = target6, .mac = mac, .to = to
	};
	uint8_t frame[ARP_FRAME_SIZE];

	assert_int_equal(arp_frame_solicitation(&probe, frame), 86);
	assert_memory_equal(frame, to, 6);
	assert_memory_equal(frame + 38, target6, 16);
	assert_memory_equal(frame + 62, target6, 16);
	assert_memory_equal(frame + 80, mac, 6);
}

TEST(a_request_without_a_sender)
{
	const struct arp_probe probe = { .source = none, .target = target4, .mac = mac };
	uint8_t frame[ARP_FRAME_SIZE];

	assert_int_equal(arp_frame_request(&probe, frame), 42);
	assert_memory_equal(frame + 28, none, 4);
	assert_memory_equal(frame + 22, mac, 6);
}

TEST(tags_from_the_outside)
{
	static const uint8_t expected[] = { 0x88, 0xa8, 0, 100, 0x81, 0, 0x0f, 0xfe, 8, 6, 0, 1 };
	const struct arp_probe probe = {
		.source = source4, .target = target4, .mac = mac, .tags = tags, .tag_count = 2
	};
	uint8_t frame[ARP_FRAME_SIZE];

	assert_int_equal(arp_frame_request(&probe, frame), 50);
	assert_memory_equal(frame + 12, expected, sizeof(expected));
	assert_int_equal(arp_frame_solicitation(&probe, frame), 94);
}

/* Sum over pseudo header and message, with the checksum in it: all ones. */
static uint32_t sum_of(const uint8_t *packet, size_t length)
{
	uint32_t sum = 58 + (uint32_t)length;

	for (size_t i = 8; i < 40 + length; i += 2)
		sum += (uint32_t)(packet[i] << 8 | packet[i + 1]);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

TEST(a_solicitation)
{
	static const uint8_t to[] = { 0x33, 0x33, 0xff, 0xaa, 0xbb, 0xcc };
	static const uint8_t group[] = { 0xff, 2, 0, 0, 0,    0,    0,	  0,
					 0,    0, 0, 1, 0xff, 0xaa, 0xbb, 0xcc };
	static const uint8_t option[] = { 1, 1, 0x02, 0, 0x5e, 0x10, 0, 0x01 };
	const struct arp_probe probe = { .source = source6, .target = target6, .mac = mac };
	uint8_t frame[ARP_FRAME_SIZE], *packet = frame + 14;

	assert_int_equal(arp_frame_solicitation(&probe, frame), 14 + 40 + 32);
	assert_memory_equal(frame, to, 6);
	assert_memory_equal(frame + 6, mac, 6);
	assert_memory_equal(frame + 12, "\x86\xdd\x60\0\0\0\0\x20\x3a\xff", 10);
	assert_memory_equal(packet + 8, source6, 16);
	assert_memory_equal(packet + 24, group, 16);
	assert_int_equal(packet[40], 135);
	assert_memory_equal(packet + 48, target6, 16);
	assert_memory_equal(packet + 64, option, 8);
	assert_int_equal(sum_of(packet, 32), 0xffff);
}

/* Without a source there must be no source link-layer address (RFC 4861, 4.3). */
TEST(a_solicitation_without_a_sender)
{
	const struct arp_probe probe = { .source = none, .target = target6, .mac = mac };
	uint8_t frame[ARP_FRAME_SIZE];

	assert_int_equal(arp_frame_solicitation(&probe, frame), 14 + 40 + 24);
	assert_int_equal(frame[19], 24);
	assert_int_equal(sum_of(frame + 14, 24), 0xffff);
}

/* The tags of a probe. */

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
static struct arp_tags found;

static bool leads(int ifindex)
{
	return arp_tags_to_bond(&links, ifindex, BOND, &found);
}

TEST(vlans)
{
	assert_true(leads(BOND));
	assert_int_equal(found.count, 0);
	assert_true(leads(VLAN));
	assert_int_equal(found.count, 1);
	assert_int_equal(found.tag[0].id, 100);
	assert_true(leads(INNER));
	assert_int_equal(found.count, 2);
	assert_int_equal(found.tag[0].protocol, 0x88a8);
	assert_int_equal(found.tag[0].id, 100);
	assert_int_equal(found.tag[1].protocol, 0x8100);
	assert_int_equal(found.tag[1].id, 200);
	assert_false(leads(DEEP)); /* one tag too many */
}

TEST(bridges)
{
	assert_false(leads(BRIDGE));
	devices[0].master = BRIDGE;
	assert_true(leads(BRIDGE));
	assert_int_equal(found.count, 0);
	assert_true(leads(ON_BRIDGE));
	devices[0].master = 0;
	devices[3].master = BRIDGE; /* the VLAN is the port */
	assert_true(leads(ON_BRIDGE));
	assert_int_equal(found.count, 1);
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
