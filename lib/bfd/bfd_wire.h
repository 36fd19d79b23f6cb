/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel's programs and the maps share with the core of BFD: where things are on the wire,
 * and the state of a session.
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

#endif
