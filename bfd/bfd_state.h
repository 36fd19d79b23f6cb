/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of one BFD session: plain, fixed-width, without pointers, in host byte order, so that
 * it can live in a pinned map and the next bondd can take it over. Only bfd_session.c writes it;
 * everyone may read. Times are absolute, in nanoseconds of the caller's clock, 0 for never;
 * intervals are in microseconds, as on the wire. Clauses are those of RFC 5880.
 */
#ifndef XBOND_BFD_STATE_H
#define XBOND_BFD_STATE_H

#include <stdint.h>

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
