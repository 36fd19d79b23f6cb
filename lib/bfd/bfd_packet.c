/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bfd/bfd.h"

#include <string.h>

#include "bfd/bfd_wire.h"

static uint32_t bfd_packet_get(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void bfd_packet_put(uint8_t *at, uint32_t number)
{
	at[0] = (uint8_t)(number >> 24);
	at[1] = (uint8_t)(number >> 16);
	at[2] = (uint8_t)(number >> 8);
	at[3] = (uint8_t)number;
}

/* The order is that of 6.8.6. */
static enum bfd_refusal bfd_packet_check(const uint8_t *bytes, size_t length)
{
	uint8_t flags, state;

	if (length < BFD_PACKET_SIZE)
		return BFD_TOO_SHORT;
	flags = bytes[BFD_AT_STATE] & 0x3f;
	state = bytes[BFD_AT_STATE] >> 6;
	if (bytes[BFD_AT_VERSION] >> 5 != BFD_VERSION)
		return BFD_BAD_VERSION;
	if (bytes[BFD_AT_LENGTH] <
	    (flags & BFD_FLAG_AUTHENTICATED ? BFD_PACKET_SIZE_AUTH : BFD_PACKET_SIZE))
		return BFD_TOO_SHORT;
	if (bytes[BFD_AT_LENGTH] > length)
		return BFD_TOO_LONG;
	if (!bytes[BFD_AT_MULTIPLIER])
		return BFD_BAD_MULTIPLIER;
	if (flags & BFD_FLAG_MULTIPOINT)
		return BFD_MULTIPOINT;
	if (!bfd_packet_get(bytes + BFD_AT_MY_DISCR))
		return BFD_NO_DISCRIMINATOR;
	if (!bfd_packet_get(bytes + BFD_AT_YOUR_DISCR) && state != BFD_DOWN &&
	    state != BFD_ADMIN_DOWN)
		return BFD_NOT_YOURS;
	return flags & BFD_FLAG_AUTHENTICATED ? BFD_AUTHENTICATED : BFD_TAKEN;
}

enum bfd_refusal bfd_packet_decode(const uint8_t *bytes, size_t length,
				   struct bfd_packet *ret_packet)
{
	enum bfd_refusal refusal = bfd_packet_check(bytes, length);

	if (refusal)
		return refusal;
	*ret_packet = (struct bfd_packet){
		.diag = bytes[BFD_AT_VERSION] & 0x1f,
		.state = bytes[BFD_AT_STATE] >> 6,
		.poll = bytes[BFD_AT_STATE] & BFD_FLAG_POLL,
		.final = bytes[BFD_AT_STATE] & BFD_FLAG_FINAL,
		.control_plane_independent = bytes[BFD_AT_STATE] & BFD_FLAG_INDEPENDENT,
		.demand = bytes[BFD_AT_STATE] & BFD_FLAG_DEMAND,
		.multiplier = bytes[BFD_AT_MULTIPLIER],
		.my_discr = bfd_packet_get(bytes + BFD_AT_MY_DISCR),
		.your_discr = bfd_packet_get(bytes + BFD_AT_YOUR_DISCR),
		.min_tx_us = bfd_packet_get(bytes + BFD_AT_MIN_TX),
		.min_rx_us = bfd_packet_get(bytes + BFD_AT_MIN_RX),
		.min_echo_us = bfd_packet_get(bytes + BFD_AT_MIN_ECHO),
	};
	return BFD_TAKEN;
}

static uint8_t bfd_packet_flags(const struct bfd_packet *packet)
{
	return (uint8_t)((packet->poll ? BFD_FLAG_POLL : 0) | (packet->final ? BFD_FLAG_FINAL : 0) |
			 (packet->control_plane_independent ? BFD_FLAG_INDEPENDENT : 0) |
			 (packet->demand ? BFD_FLAG_DEMAND : 0));
}

void bfd_packet_encode(const struct bfd_packet *packet, uint8_t ret_bytes[BFD_PACKET_SIZE])
{
	ret_bytes[BFD_AT_VERSION] = (uint8_t)(BFD_VERSION << 5 | (packet->diag & 0x1f));
	ret_bytes[BFD_AT_STATE] = (uint8_t)(packet->state << 6 | bfd_packet_flags(packet));
	ret_bytes[BFD_AT_MULTIPLIER] = packet->multiplier;
	ret_bytes[BFD_AT_LENGTH] = BFD_PACKET_SIZE;
	bfd_packet_put(ret_bytes + BFD_AT_MY_DISCR, packet->my_discr);
	bfd_packet_put(ret_bytes + BFD_AT_YOUR_DISCR, packet->your_discr);
	bfd_packet_put(ret_bytes + BFD_AT_MIN_TX, packet->min_tx_us);
	bfd_packet_put(ret_bytes + BFD_AT_MIN_RX, packet->min_rx_us);
	bfd_packet_put(ret_bytes + BFD_AT_MIN_ECHO, packet->min_echo_us);
}

const char *bfd_state_name(unsigned int state)
{
	static const char *const names[] = {
		[BFD_ADMIN_DOWN] = "admin_down",
		[BFD_DOWN] = "down",
		[BFD_INIT] = "init",
		[BFD_UP] = "up",
	};

	return state <= BFD_UP ? names[state] : "unknown";
}

const char *bfd_diag_name(unsigned int diag)
{
	static const char *const names[] = {
		[BFD_DIAG_NONE] = "none",
		[BFD_DIAG_TIME_EXPIRED] = "control detection time expired",
		[BFD_DIAG_ECHO_FAILED] = "echo function failed",
		[BFD_DIAG_NEIGHBOR_DOWN] = "neighbor signaled session down",
		[BFD_DIAG_PLANE_RESET] = "forwarding plane reset",
		[BFD_DIAG_PATH_DOWN] = "path down",
		[BFD_DIAG_CONCATENATED_DOWN] = "concatenated path down",
		[BFD_DIAG_ADMIN_DOWN] = "administratively down",
		[BFD_DIAG_REVERSE_DOWN] = "reverse concatenated path down",
	};

	return diag < sizeof(names) / sizeof(names[0]) ? names[diag] : "unknown";
}

#define CLASS_CONTROL 0xc0 /* CS6: routing protocols */

/* The lower 16 bits. */
static void bfd_build_word(uint8_t *at, uint32_t word)
{
	at[0] = (uint8_t)(word >> 8);
	at[1] = (uint8_t)word;
}

static void bfd_build_ipv4(const struct bfd_ends *ends, uint8_t *ip)
{
	ip[0] = 0x45;
	ip[1] = CLASS_CONTROL;
	bfd_build_word(ip + 2, BFD_IPV4_SIZE + BFD_UDP_SIZE + BFD_PACKET_SIZE);
	bfd_build_word(ip + 6, 0x4000); /* don't fragment */
	ip[8] = BFD_TTL;
	ip[9] = BFD_PROTOCOL_UDP;
	memcpy(ip + 12, ends->local, 4);
	memcpy(ip + 16, ends->remote, 4);
	bfd_build_word(ip + 10, ~bfd_frame_sum(ip, BFD_IPV4_SIZE, 0));
}

static void bfd_build_ipv6(const struct bfd_ends *ends, uint8_t *ip)
{
	ip[0] = 0x60 | CLASS_CONTROL >> 4;
	bfd_build_word(ip + 4, BFD_UDP_SIZE + BFD_PACKET_SIZE);
	ip[6] = BFD_PROTOCOL_UDP;
	ip[7] = BFD_TTL;
	memcpy(ip + 8, ends->local, 16);
	memcpy(ip + 24, ends->remote, 16);
}

/* A sum of 0 would mean that there is none. */
static void bfd_build_checksum(const struct bfd_ends *ends, uint8_t *udp)
{
	uint32_t size = BFD_UDP_SIZE + BFD_PACKET_SIZE, addresses = ends->six ? 32 : 8;
	uint32_t sum = bfd_frame_sum(udp - addresses, addresses + size, BFD_PROTOCOL_UDP + size);

	bfd_build_word(udp + 6, sum != 0xffff ? ~sum : sum);
}

size_t bfd_build_frame(const struct bfd_ends *ends, const uint8_t mac[6], uint16_t source_port,
		       const struct bfd_packet *packet, uint8_t ret_frame[BFD_FRAME_SIZE])
{
	static const uint8_t group[6] = BFD_MICRO_MAC;
	uint8_t *body = ret_frame + bfd_frame_packet_at(ends), *udp = body - BFD_UDP_SIZE;

	memset(ret_frame, 0, BFD_FRAME_SIZE);
	memcpy(ret_frame, group, sizeof(group));
	memcpy(ret_frame + 6, mac, 6);
	bfd_build_word(ret_frame + 12, ends->six ? 0x86dd : 0x0800);
	if (ends->six)
		bfd_build_ipv6(ends, ret_frame + BFD_ETHER_SIZE);
	else
		bfd_build_ipv4(ends, ret_frame + BFD_ETHER_SIZE);
	bfd_build_word(udp, source_port);
	bfd_build_word(udp + 2, BFD_MICRO_PORT);
	bfd_build_word(udp + 4, BFD_UDP_SIZE + BFD_PACKET_SIZE);
	bfd_packet_encode(packet, body);
	bfd_build_checksum(ends, udp);
	return bfd_frame_packet_at(ends) + BFD_PACKET_SIZE;
}
