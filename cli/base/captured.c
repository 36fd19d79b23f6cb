/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/base/captured.h"

#include <arpa/inet.h>
#include <linux/if_arp.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <string.h>

#define MACS (2 * ETH_ALEN)
#define TAG 4

/* The headers of LINKTYPE_LINUX_SLL and LINKTYPE_LINUX_SLL2, big-endian. */
struct cooked {
	uint16_t packet_type, hardware, address_length;
	uint8_t address[8];
	uint16_t protocol;
};
_Static_assert(sizeof(struct cooked) == 16, "LINKTYPE_LINUX_SLL");

struct cooked2 {
	uint16_t protocol, reserved;
	uint32_t ifindex;
	uint16_t hardware;
	uint8_t packet_type, address_length, address[8];
};
_Static_assert(sizeof(struct cooked2) == 20, "LINKTYPE_LINUX_SLL2");

static uint16_t captured_type_at(const struct captured *captured, uint32_t offset)
{
	return (uint16_t)(captured->head[offset] << 8 | captured->head[offset + 1]);
}

/* Moves a tag of the head beside the packet, as the kernel does before its TC hooks. */
static void captured_untag(struct captured *captured)
{
	uint16_t type = captured_type_at(captured, MACS);

	if (captured->vlan_tci >= 0 || captured->size < MACS + TAG + 2 ||
	    (type != ETH_P_8021Q && type != ETH_P_8021AD))
		return;
	captured->vlan_tci = captured_type_at(captured, MACS + 2);
	captured->size -= TAG;
	memmove(captured->head + MACS, captured->head + MACS + TAG, captured->size - MACS);
}

/* What follows the Ethernet header. */
static void captured_put(struct captured *captured, const uint8_t *bytes, uint32_t kept)
{
	uint32_t room = CAPTURED_HEAD - captured->size;

	if (kept > room)
		kept = room;
	memcpy(captured->head + captured->size, bytes, kept);
	captured->size += kept;
}

static bool captured_take_ethernet(const uint8_t *bytes, uint32_t kept, struct captured *captured)
{
	if (kept < ETH_HLEN)
		return false;
	captured_put(captured, bytes, kept);
	return true;
}

static void captured_put_header(struct captured *captured, const uint8_t *source,
				const void *protocol)
{
	memcpy(captured->head + ETH_ALEN, source, ETH_ALEN);
	memcpy(captured->head + MACS, protocol, 2);
	captured->size = ETH_HLEN;
	captured->no_dest = true;
}

/* A packet type below 0x600 stands for frames without one, whose length field is not captured. */
static bool captured_take_cooked(const uint8_t *bytes, uint32_t kept, struct captured *captured)
{
	struct cooked header;

	if (kept < sizeof(header))
		return false;
	memcpy(&header, bytes, sizeof(header));
	if (ntohs(header.hardware) != ARPHRD_ETHER || ntohs(header.address_length) != ETH_ALEN ||
	    ntohs(header.protocol) < ETH_P_802_3_MIN)
		return false;
	captured->received = ntohs(header.packet_type) != PACKET_OUTGOING;
	captured_put_header(captured, header.address, &header.protocol);
	captured_put(captured, bytes + sizeof(header), kept - (uint32_t)sizeof(header));
	return true;
}

static bool captured_take_cooked2(const uint8_t *bytes, uint32_t kept, struct captured *captured)
{
	struct cooked2 header;

	if (kept < sizeof(header))
		return false;
	memcpy(&header, bytes, sizeof(header));
	if (ntohs(header.hardware) != ARPHRD_ETHER || header.address_length != ETH_ALEN ||
	    ntohs(header.protocol) < ETH_P_802_3_MIN)
		return false;
	captured->received = header.packet_type != PACKET_OUTGOING;
	captured_put_header(captured, header.address, &header.protocol);
	captured_put(captured, bytes + sizeof(header), kept - (uint32_t)sizeof(header));
	return true;
}

bool captured_take(enum captured_link link, const uint8_t *bytes, uint32_t kept, uint32_t length,
		   int32_t vlan_tci, struct captured *ret_captured)
{
	struct captured *captured = ret_captured;
	uint32_t header = ETH_HLEN;
	bool taken = false;

	captured->size = 0;
	captured->cut = kept < length;
	captured->no_dest = captured->received = false;
	captured->vlan_tci = vlan_tci;
	memset(captured->head, 0, ETH_HLEN);
	switch (link) {
	case CAPTURED_ETHERNET: taken = captured_take_ethernet(bytes, kept, captured); break;
	case CAPTURED_COOKED:
		taken = captured_take_cooked(bytes, kept, captured);
		header = sizeof(struct cooked);
		break;
	case CAPTURED_COOKED2:
		taken = captured_take_cooked2(bytes, kept, captured);
		header = sizeof(struct cooked2);
		break;
	}
	if (length < header)
		length = header;
	captured->length = length - header + ETH_HLEN + (vlan_tci >= 0 ? TAG : 0);
	if (taken)
		captured_untag(captured);
	return taken;
}
