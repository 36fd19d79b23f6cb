/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bfd/bfd_build.h"

#include <string.h>

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
