/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
/* A handle: xsk_slaves.c opens and closes sockets as the bond has slaves, xsk_send.c sends. */
#ifndef XBOND_XSK_XSK_BOND_H
#define XBOND_XSK_XSK_BOND_H

#include <poll.h>

#include "bpf/slots.h"
#include "xbond/loader.h"
#include "xbond/xsk.h"
#include "xsk/choice.h"
#include "xsk/xsk_port.h"

#define XSK_PUBLIC __attribute__((visibility("default")))
#define XSK_LOOK_NS 10000000 /* how often something is tried again that needs system calls */
#define XSK_CHECK_NS 1000000000
#define XSK_STILL_NS 1000000 /* how often slaves in zero-copy mode are looked at */

/*
 * xsk_filter.c: bpf/port_filter.bpf.c on one slave: by itself, or, if the slave has an XDP program,
 * in libxdp's dispatcher. The handles of a process share it, whatever thread they are of; it is
 * attached while one of them has it.
 */

/* Whose slave it is, and what is wanted. */
struct filter_rule {
	const struct choice *choice;
	__u32 slot, ifindex;
	__u64 namespace;
	const struct xbond_xsk_options *options;
	int linked_fd; /* of filter_link_function(); -1: the options have no function */
};

struct filter;

/*
 * The filter with the user's function, from its object file. Returns a descriptor; -EINVAL: it is
 * no such file, or another error.
 */
int filter_link_function(const char *function);

/*
 * Returns 0 or -errno: -EADDRINUSE: another handle has another filter there; -EBUSY: there is
 * another program, or the slave has just left this slot; -ENOTDIR: there is no place for the pin;
 * -ENXIO: nobody has made one (options.sockets).
 */
int filter_attach(struct filter **ret, const struct filter_rule *rule);
/*
 * Frames of this queue go to the socket, until it is closed. Returns 0 or -errno: -EBUSY: another
 * handle found that the slave has left the slot.
 */
int filter_add(const struct filter *filter, __u32 queue, int socket_fd);
/* options.sockets: is another map pinned there by now? */
int filter_is_old(const struct filter *filter);
/* For one handle. After the last one, frames go to the bond again. */
void filter_detach(struct filter *filter);

struct xbond_xsk {
	char bond[XBOND_PATH_SIZE];
	struct xbond_xsk_options options; /* without a function it is "" */
	/* The options point here; pins or sockets: */
	char pins[XBOND_PATH_SIZE], function[XBOND_PATH_SIZE];
	int linked_fd; /* as in struct filter_rule */
	struct choice choice;
	struct area area;
	struct port port[XBOND_MAX_SLAVES][XBOND_XSK_QUEUES]; /* the first ones send */
	struct filter *filter[XBOND_MAX_SLAVES];	      /* NULL: none */
	struct pollfd polled[XBOND_MAX_SLAVES * XBOND_XSK_QUEUES];
	__u64 slots;  /* that have sockets */
	__u64 unsent; /* of them, without zero copy: the ring has frames for which there was no room
		       */
	__u32 ports_open;
	__u32 next_slot, next_queue[XBOND_MAX_SLAVES]; /* to receive by */
	__u32 ifindex[XBOND_MAX_SLAVES];	       /* of the table, as it was last seen */
	__u64 waiting;			/* slots whose socket could not be opened yet */
	__u64 look_ns;			/* when to look again */
	__u64 check_ns;			/* when to look at sockets that receive; 0: never */
	__u64 still_ns;			/* when to look whether queues have stopped */
	__u64 renew_ns;			/* when to renew the program that looks at carriers */
	__u32 reaped[XBOND_MAX_SLAVES]; /* as it was then */
	int control_fd;			/* for ioctl() */
	int is_opening;			/* whoever waits for the handle can wait for slaves */
	__u64 namespace;		/* its cookie */
	struct xbond_xsk_counts counts;
	struct xbond_counters batch[XBOND_MAX_SLAVES]; /* not added to the bond's yet */
};

/* How many of a slave's have sockets. */
static inline __u32 xsk_queues(const struct xbond_xsk *xsk, __u32 slot)
{
	__u32 count = 0;

	while (count < xsk->options.queues && xsk->port[slot][count].socket)
		count++;
	return count;
}

/* Half of the area may be with the kernel for receiving, by so many ports. */
static inline void xsk_fill(struct xbond_xsk *xsk, struct port *port, __u32 ports)
{
	__u32 most = xsk->area.frames / 2 / ports;

	port_fill(port, &xsk->area, most < xsk->area.ring ? most : xsk->area.ring);
}

/*
 * balance-tlb and balance-alb: an address in a frame that is the slave's own becomes bond0's.
 * Returns whether it was one.
 */
static inline int xsk_own_to_bond(const struct xbond_xsk *xsk, __u32 slot, void *address)
{
	const struct xbond_alb *alb = xsk->choice.alb;
	__u64 own = __atomic_load_n(&alb->mac[slot], __ATOMIC_RELAXED);
	__u64 bond = __atomic_load_n(&alb->bond_mac, __ATOMIC_RELAXED);

	if (!own || own == bond || memcmp(address, &own, XBOND_MAC_SIZE))
		return 0;
	memcpy(address, &bond, XBOND_MAC_SIZE);
	return 1;
}

static inline int xsk_is_zero_copy(const struct xbond_xsk *xsk)
{
	return !!(xsk->options.bind & XDP_ZEROCOPY);
}

static inline int xsk_asks_by_fields(const struct xbond_xsk_options *options)
{
	for (int i = 0; i < XBOND_XSK_PORTS; i++)
		if (options->ports[i])
			return 1;
	return options->ether_type || options->family;
}

/* Does the handle itself say what is to be received? */
static inline int xsk_asks(const struct xbond_xsk_options *options)
{
	return *options->function || xsk_asks_by_fields(options);
}

static inline int xsk_receives(const struct xbond_xsk_options *options)
{
	return options->sockets || xsk_asks(options);
}

/*
 * In zero-copy mode also for those that only send: some drivers need an XDP program then, and a
 * queue receives nothing, for the bond either, unless the socket gives it frames.
 */
static inline int xsk_needs_filter(const struct xbond_xsk *xsk)
{
	return xsk_receives(&xsk->options) || xsk_is_zero_copy(xsk);
}

/*
 * Sockets of exactly the slaves that the table has now. *ret_slot: of the error that is returned. A
 * slave that is down is no error: it gets its socket when it is up. While the handle is opened,
 * slaves that still wait for their sockets are tried again.
 */
int xsk_settle_slaves(struct xbond_xsk *xsk, __u32 *ret_slot);
/*
 * The slave has no carrier. stuck: its ring has frames that the kernel could still send when it is
 * up again.
 */
void xsk_is_cut(struct xbond_xsk *xsk, __u32 slot, int stuck);
/* By the sockets that are open. */
__u64 xsk_missed_by(const struct xbond_xsk *xsk, __u32 slot);
void xsk_close_slot(struct xbond_xsk *xsk, __u32 slot);
__u32 xsk_mtu(const struct xbond_xsk *xsk, __u32 slot);
/* Where choice_look() cannot look, this takes the RTNL lock. */
int xsk_has_carrier(const struct xbond_xsk *xsk, __u32 slot);
/*
 * Slots without carrier. It never takes the lock. Returns whether the devices say so themselves;
 * otherwise it may be a second late.
 */
int xsk_lost(const struct xbond_xsk *xsk, __u64 *ret_lost);

/* xbond_xsk_take() without xsk_rescue(), which needs it. */
int xsk_take(struct xbond_xsk *xsk, struct xbond_xsk_frame *frames, int most);

/* Adds a batch to the bond's counts. */
void xsk_count(struct xbond_xsk *xsk, __u32 slot);
/*
 * What slaves had no room for is tried again.
 * Zero copy: the kernel does not say that a slave cannot send, and some NICs finish frames that
 * they cannot send. So carriers are looked at, and what is left in a queue without one leaves by
 * other slaves.
 */
void xsk_rescue(struct xbond_xsk *xsk);

#endif
