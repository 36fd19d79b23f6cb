/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frame of micro-BFD (RFC 7130): Ethernet, IPv4 or IPv6 without options, UDP. The rule by which
 * a frame is judged is compiled into the kernel's programs, too, so it works on bytes in memory and
 * calls nothing.
 */
#ifndef XBOND_BFD_FRAME_H
#define XBOND_BFD_FRAME_H

#include <stdint.h>

#include "bfd/bfd_wire.h"

#define BFD_RULE static inline __attribute__((always_inline))

enum bfd_frame_kind {
	BFD_FRAME_OTHER, /* not of micro-BFD, or not for our address: somebody else's */
	BFD_FRAME_BAD,	 /* for us, but not as the far end must send it */
	BFD_FRAME_GOOD,
};

BFD_RULE uint32_t bfd_frame_word(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

BFD_RULE int bfd_frame_same(const uint8_t *a, const uint8_t *b, uint32_t size)
{
	uint8_t differ = 0;

	for (uint32_t i = 0; i < size; i++)
		differ |= a[i] ^ b[i];
	return !differ;
}

/* To the group of micro-BFD, or to somebody alone. Whether that is us, the caller knows. */
BFD_RULE int bfd_frame_is_addressed(const uint8_t *frame)
{
	const uint8_t group[6] = BFD_MICRO_MAC;

	return !(frame[0] & 1) || bfd_frame_same(frame, group, sizeof(group));
}

BFD_RULE uint32_t bfd_frame_sum(const uint8_t *at, uint32_t size, uint32_t sum)
{
	for (uint32_t i = 0; i < size; i += 2)
		sum += bfd_frame_word(at + i);
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

/*
 * `addresses` is where those of both ends begin; UDP follows them. A virtual NIC may deliver what
 * its sender has left to be filled in: then there is the sum of the pseudo header. Only IPv4 does
 * without a sum. Datagrams that are longer than usual are not compared.
 */
BFD_RULE int bfd_frame_udp_sum_is_right(const uint8_t *addresses, uint32_t size, int six)
{
	const uint8_t *udp = addresses + size;
	uint32_t length = bfd_frame_word(udp + 4), told = bfd_frame_word(udp + 6);
	uint32_t pseudo = bfd_frame_sum(addresses, size, BFD_PROTOCOL_UDP + length);

	if (!told)
		return !six;
	return length != BFD_UDP_SIZE + BFD_PACKET_SIZE || told == pseudo ||
	       bfd_frame_sum(udp, BFD_UDP_SIZE + BFD_PACKET_SIZE, pseudo) == 0xffff;
}

/* `at` is where UDP begins; the datagram must lie within `room` bytes. */
BFD_RULE int bfd_frame_has_room(const uint8_t *frame, uint32_t at, uint32_t room)
{
	uint32_t udp = bfd_frame_word(frame + at + 4);

	return udp >= BFD_UDP_SIZE + BFD_PACKET_SIZE && udp <= room;
}

BFD_RULE enum bfd_frame_kind bfd_frame_judge4(const uint8_t *frame, uint32_t length,
					      const struct bfd_ends *ends)
{
	const uint8_t *ip = frame + BFD_ETHER_SIZE;
	uint32_t at = BFD_ETHER_SIZE + BFD_IPV4_SIZE, total = bfd_frame_word(ip + 2);

	if (bfd_frame_word(frame + 12) != 0x0800 || ip[0] != 0x45 || ip[9] != BFD_PROTOCOL_UDP ||
	    bfd_frame_word(ip + 6) & 0x3fff || bfd_frame_word(frame + at + 2) != BFD_MICRO_PORT ||
	    !bfd_frame_same(ip + 16, ends->local, 4))
		return BFD_FRAME_OTHER;
	if (ip[8] != BFD_TTL || !bfd_frame_same(ip + 12, ends->remote, 4) ||
	    total < BFD_IPV4_SIZE + BFD_UDP_SIZE + BFD_PACKET_SIZE ||
	    total + BFD_ETHER_SIZE > length ||
	    !bfd_frame_has_room(frame, at, total - BFD_IPV4_SIZE) ||
	    bfd_frame_sum(ip, BFD_IPV4_SIZE, 0) != 0xffff ||
	    !bfd_frame_udp_sum_is_right(ip + 12, 8, 0))
		return BFD_FRAME_BAD;
	return bfd_frame_is_addressed(frame) ? BFD_FRAME_GOOD : BFD_FRAME_BAD;
}

BFD_RULE enum bfd_frame_kind bfd_frame_judge6(const uint8_t *frame, uint32_t length,
					      const struct bfd_ends *ends)
{
	const uint8_t *ip = frame + BFD_ETHER_SIZE;
	uint32_t at = BFD_ETHER_SIZE + BFD_IPV6_SIZE, payload = bfd_frame_word(ip + 4);

	if (bfd_frame_word(frame + 12) != 0x86dd || ip[0] >> 4 != 6 || ip[6] != BFD_PROTOCOL_UDP ||
	    bfd_frame_word(frame + at + 2) != BFD_MICRO_PORT ||
	    !bfd_frame_same(ip + 24, ends->local, 16))
		return BFD_FRAME_OTHER;
	if (ip[7] != BFD_TTL || !bfd_frame_same(ip + 8, ends->remote, 16) ||
	    payload < BFD_UDP_SIZE + BFD_PACKET_SIZE ||
	    payload + BFD_ETHER_SIZE + BFD_IPV6_SIZE > length ||
	    !bfd_frame_has_room(frame, at, payload) || !bfd_frame_udp_sum_is_right(ip + 8, 32, 1))
		return BFD_FRAME_BAD;
	return bfd_frame_is_addressed(frame) ? BFD_FRAME_GOOD : BFD_FRAME_BAD;
}

/* `frame` has BFD_FRAME_SIZE bytes, zeroes behind its end; `length` is the whole frame's. */
BFD_RULE enum bfd_frame_kind bfd_frame_judge(const uint8_t *frame, uint32_t length,
					     const struct bfd_ends *ends)
{
	return ends->six ? bfd_frame_judge6(frame, length, ends)
			 : bfd_frame_judge4(frame, length, ends);
}

/* Where the packet begins, and what the datagram has of it, in a frame that is good. */
BFD_RULE uint32_t bfd_frame_packet_at(const struct bfd_ends *ends)
{
	return BFD_ETHER_SIZE + (ends->six ? BFD_IPV6_SIZE : BFD_IPV4_SIZE) + BFD_UDP_SIZE;
}

BFD_RULE uint32_t bfd_frame_packet_size(const uint8_t *frame, const struct bfd_ends *ends)
{
	return bfd_frame_word(frame + bfd_frame_packet_at(ends) - 4) - BFD_UDP_SIZE;
}

#endif
