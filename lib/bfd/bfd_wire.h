/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
/*
 * What the kernel's programs and the maps share with the core of BFD: where things are on the wire,
 * the state of a session, and the rule by which a frame is judged.
 */
#ifndef XBOND_BFD_BFD_WIRE_H
#define XBOND_BFD_BFD_WIRE_H

#include <stdint.h>

/*
 * Where things are in a BFD Control packet (RFC 5880, 4.1) and in the frame of micro-BFD (RFC 7130)
 * that carries it. The kernel's programs use it, too.
 */

#define BFD_PACKET_SIZE 24 /* without an authentication section */
#define BFD_PACKET_SIZE_AUTH 26
#define BFD_VERSION 1

/* Offsets. */
#define BFD_AT_VERSION 0 /* and diagnostic, its lower five bits */
#define BFD_AT_STATE 1	 /* its upper two bits, and flags */
#define BFD_AT_MULTIPLIER 2
#define BFD_AT_LENGTH 3
#define BFD_AT_MY_DISCR 4
#define BFD_AT_YOUR_DISCR 8
#define BFD_AT_MIN_TX 12
#define BFD_AT_MIN_RX 16
#define BFD_AT_MIN_ECHO 20

#define BFD_FLAG_POLL 0x20
#define BFD_FLAG_FINAL 0x10
#define BFD_FLAG_INDEPENDENT 0x08
#define BFD_FLAG_AUTHENTICATED 0x04
#define BFD_FLAG_DEMAND 0x02
#define BFD_FLAG_MULTIPOINT 0x01

#define BFD_PROTOCOL_UDP 17
#define BFD_MICRO_PORT 6784	    /* RFC 7130, 2.2 */
#define BFD_FIRST_SOURCE_PORT 49152 /* RFC 5881, 4 */
#define BFD_SOURCE_PORTS 16384
#define BFD_TTL 255 /* RFC 5881, 5: on reception, too */

/* 01-00-5E-90-00-01, RFC 7130, 2.3. */
#define BFD_MICRO_MAC                              \
	{                                          \
		0x01, 0x00, 0x5e, 0x90, 0x00, 0x01 \
	}

#define BFD_ETHER_SIZE 14
#define BFD_IPV4_SIZE 20
#define BFD_IPV6_SIZE 40
#define BFD_UDP_SIZE 8
#define BFD_FRAME_SIZE (BFD_ETHER_SIZE + BFD_IPV6_SIZE + BFD_UDP_SIZE + BFD_PACKET_SIZE)

/*
 * The state of one BFD session: plain, fixed-width, without pointers, in host byte order, so that
 * it can live in a pinned map and the next bondd can take it over. Only bfd_session.c writes it;
 * everyone may read. Times are absolute, in nanoseconds of the caller's clock, 0 for never;
 * intervals are in microseconds, as on the wire. Clauses are those of RFC 5880.
 */

/* 4.1; the numbers are those on the wire. */
enum bfd_state {
	BFD_ADMIN_DOWN = 0,
	BFD_DOWN = 1,
	BFD_INIT = 2,
	BFD_UP = 3,
};

/* 4.1: why the session last left the state Up, or a state on the way there. */
enum bfd_diag {
	BFD_DIAG_NONE = 0,
	BFD_DIAG_TIME_EXPIRED = 1,
	BFD_DIAG_ECHO_FAILED = 2,
	BFD_DIAG_NEIGHBOR_DOWN = 3,
	BFD_DIAG_PLANE_RESET = 4,
	BFD_DIAG_PATH_DOWN = 5,
	BFD_DIAG_CONCATENATED_DOWN = 6,
	BFD_DIAG_ADMIN_DOWN = 7,
	BFD_DIAG_REVERSE_DOWN = 8,
};

/* Whether the session may be held against the link (RFC 7130, 4). */
enum bfd_excuse {
	BFD_EXCUSE_NONE = 0,	 /* it has been up, or had its time for that */
	BFD_EXCUSE_NEVER_UP = 1, /* not yet: the far end may not speak BFD */
	BFD_EXCUSE_ADMIN = 2,	 /* the far end has turned it off; until it is up again */
};

struct bfd_session {
	uint32_t local_discr;  /* never 0 */
	uint32_t remote_discr; /* 0: unknown */
	uint8_t state;	       /* enum bfd_state */
	uint8_t remote_state;
	uint8_t diag; /* enum bfd_diag */
	uint8_t remote_diag;
	uint8_t multiplier;
	uint8_t remote_multiplier;
	uint8_t remote_demand;
	uint8_t excuse; /* enum bfd_excuse */
	uint8_t polls;	/* a Poll Sequence runs */
	/* The parameters changed again meanwhile, so another Poll Sequence follows. */
	uint8_t polls_again;
	uint8_t owes_final;
	uint8_t hurries;	 /* what is sent would differ from the last: send now (6.8.7) */
	uint32_t interval_us;	 /* as configured, for both directions */
	uint32_t desired_tx_us;	 /* bfd.DesiredMinTxInterval: as told to the far end */
	uint32_t required_rx_us; /* bfd.RequiredMinRxInterval, likewise */
	uint32_t tx_in_force_us; /* 6.8.3: the old one while a Poll Sequence runs */
	uint32_t rx_in_force_us;
	uint32_t remote_min_rx_us;
	uint32_t remote_min_tx_us;
	uint32_t random;   /* of the jitter */
	uint32_t lost;	   /* how often it left the state Up */
	uint64_t since_ns; /* in this state */
	uint64_t heard_ns; /* the last packet that was not discarded */
	uint64_t sent_ns;  /* the last packet */
	uint64_t due_ns;   /* of the next periodic packet */
};

/* The ends of a session. An IPv4 address is in the first four bytes. */
struct bfd_ends {
	uint32_t six; /* IPv6 */
	uint8_t local[16], remote[16];
};

/*
 * The frame of micro-BFD (RFC 7130): Ethernet, IPv4 or IPv6 without options, UDP. The rule by which
 * a frame is judged is compiled into the kernel's programs, too, so it works on bytes in memory and
 * calls nothing.
 */

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

/* Where the packet begins in a frame that is good. */
BFD_RULE uint32_t bfd_frame_packet_at(const struct bfd_ends *ends)
{
	return BFD_ETHER_SIZE + (ends->six ? BFD_IPV6_SIZE : BFD_IPV4_SIZE) + BFD_UDP_SIZE;
}

#endif
