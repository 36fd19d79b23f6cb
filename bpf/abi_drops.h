/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why packets are not sent, not received or not read. A part of abi.h, which includes it. */
#ifndef XBOND_ABI_DROPS_H
#define XBOND_ABI_DROPS_H

/* common/readings.c has names and words for them. */
enum xbond_drop {
	/* To send: */
	XBOND_DROP_NO_SLAVE = 0, /* of the bond, not of a slave: none may transmit */
	XBOND_DROP_NO_COPY = 1,	 /* a copy could not be made, or its device refused it */
	/* Received: */
	XBOND_DROP_INACTIVE = 2,   /* the slave may not collect */
	XBOND_DROP_NO_CARRIER = 3, /* the bond has no carrier */
	/* Control packets: */
	XBOND_DROP_LACP_REFUSED = 4, /* nobody could take them while bondd was away */
	XBOND_DROP_LACP_QUEUE = 5,   /* the ring buffer was full */
	XBOND_DROP_BFD_REFUSED = 6,  /* the far end would not send them so */
	XBOND_DROP_BFD_QUEUE = 7,    /* the ring buffer was full */
	/* More than their budget. The budgets count these, not struct xbond_drops. */
	XBOND_DROP_LACP_FLOOD = 8,
	XBOND_DROP_LACP_STRANGERS = 9,
	XBOND_DROP_MARKER_FLOOD = 10,
	XBOND_DROP_BFD_FLOOD = 11,
	XBOND_DROP_BFD_STRANGERS = 12,
	XBOND_DROPS = 13,
};

/* The entry for what belongs to no slave. */
#define XBOND_DROPS_OF_BOND XBOND_MAX_SLAVES

/*
 * Writer: BPF, one copy per CPU and slot; bondd clears a slot that gets another device. By enum
 * xbond_drop.
 */
struct xbond_drops {
	__u64 packets[16];
};
_Static_assert(sizeof(struct xbond_drops) == 128, "drops ABI");
_Static_assert(XBOND_DROPS <= 16, "room for all reasons");

#endif
