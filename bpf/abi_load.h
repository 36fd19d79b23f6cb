/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Steering by load: what is counted, and what moves. A part of abi.h, which includes it. */
#ifndef XBOND_ABI_LOAD_H
#define XBOND_ABI_LOAD_H

/*
 * What one bucket has sent by one CPU, while XBOND_F_LOADS is set. Readers take differences.
 * Writer: BPF.
 */
struct xbond_load {
	__u64 bytes;
	__u32 packets;
	__u32 last; /* when the last packet was sent: CLOCK_MONOTONIC by XBOND_LOAD_TICK_SHIFT */
};
_Static_assert(sizeof(struct xbond_load) == 16, "load ABI");

#define XBOND_LOAD_TICK_SHIFT 20 /* a tick is 2^20 ns, which is 1.05 ms */

/*
 * Buckets that are about to have another owner. A bucket changes in mid-traffic at its first packet
 * after a gap of gap_ns, so nothing overtakes what was sent before. bondd then writes the new owner
 * into the buckets, and ends the move.
 */
struct xbond_moves {
	/* Writer: bondd, which writes `to` last when a move begins, and first when it ends. */
	__u8 to[XBOND_BUCKETS]; /* the new owner's slot plus 1; 0: the bucket does not move */
	__u8 from[XBOND_BUCKETS];
	/* The bucket that moves the other way when this one has moved; XBOND_BUCKETS: none. */
	__u16 partner[XBOND_BUCKETS];
	/* Writer: BPF; bondd only before a move begins, and `moved` when it ends. */
	__u8 moved[XBOND_BUCKETS]; /* the gap has been seen, or is not waited for any longer */
	__u64 seen_ns[XBOND_BUCKETS];
	/* Writer: bondd. */
	__u64 gap_ns;
	/* For `show`; since the bond was made. */
	__u64 rounds;	/* intervals at whose end buckets began to move */
	__u64 finished; /* buckets that have moved */
	__u64 given_up; /* that had no gap, and stayed */
	__u64 round_ns; /* when the last one was */
	__u64 pad0[3];
};
_Static_assert(sizeof(struct xbond_moves) == 13 * XBOND_BUCKETS + 64, "moves ABI");

#define XBOND_FLOWLETS 8192 /* flows that are told apart */
#define XBOND_FLOWLET_SLOT (XBOND_MAX_SLAVES - 1ULL)

/* While XBOND_F_FLOWLETS is set: where each flow goes until its next gap. */
struct xbond_flowlets {
	/* Writer: bondd. The slots that may get flows after a gap; 0: all that may transmit. */
	__u64 slots;
	__u64 pad0[7];
	/*
	 * Writer: BPF. The slot is in the bits of XBOND_FLOWLET_SLOT; the others are those of when
	 * the flow sent. 0: a flow that was never seen.
	 */
	__u64 flow[XBOND_FLOWLETS];
};
_Static_assert(sizeof(struct xbond_flowlets) == 64 + 8 * XBOND_FLOWLETS, "flowlets ABI");

/* What one CPU has sent of late, halved every XBOND_RECENT_NS. Writer: BPF. */
struct xbond_recent {
	__u64 since_ns;
	__u64 sent[XBOND_MAX_SLAVES]; /* bytes by table.byte_cost */
};
_Static_assert(sizeof(struct xbond_recent) == 8 + 8 * XBOND_MAX_SLAVES, "recent ABI");

#define XBOND_RECENT_NS (1ULL << 25) /* 34 ms */

#endif
