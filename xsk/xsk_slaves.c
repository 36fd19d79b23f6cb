/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>

#include "xsk/xsk_bond.h"

#define XSK_RESET_TURNS 1000 /* of XSK_LOOK_NS */

__u64 xsk_missed_by(const struct xbond_xsk *xsk, __u32 slot)
{
	__u64 missed = 0;

	for (__u32 queue = 0; queue < xsk_queues(xsk, slot); queue++)
		missed += port_missed(&xsk->port[slot][queue]);
	return missed;
}

static void xsk_close_sockets(struct xbond_xsk *xsk, __u32 slot)
{
	xsk->counts.missed += xsk_missed_by(xsk, slot);
	for (__u32 queue = 0; queue < xsk->options.queues; queue++) {
		xsk->ports_open -= xsk->port[slot][queue].socket != NULL;
		port_close(&xsk->port[slot][queue], &xsk->area);
	}
	xsk->slots &= ~slots_bit(slot);
	xsk->unsent &= ~slots_bit(slot);
}

static void xsk_remove_filter(struct xbond_xsk *xsk, __u32 slot)
{
	if (xsk->filter[slot])
		filter_detach(xsk->filter[slot]);
	xsk->filter[slot] = NULL;
}

void xsk_close_slot(struct xbond_xsk *xsk, __u32 slot)
{
	xsk_remove_filter(xsk, slot);
	xsk_close_sockets(xsk, slot);
	xsk->waiting &= ~slots_bit(slot);
}

/* Does the kernel answer this about the slave? */
static int xsk_kernel_says(const struct xbond_xsk *xsk, __u32 slot, unsigned long what,
			   struct ifreq *request)
{
	return if_indextoname(xsk->ifindex[slot], request->ifr_name) &&
	       !ioctl(xsk->control_fd, what, request);
}

/* Does the kernel say that the slave can send? */
static int xsk_slave_runs(const struct xbond_xsk *xsk, __u32 slot)
{
	struct ifreq request = { 0 };

	return xsk_kernel_says(xsk, slot, SIOCGIFFLAGS, &request) &&
	       (request.ifr_flags & (IFF_UP | IFF_RUNNING)) == (IFF_UP | IFF_RUNNING);
}

__u32 xsk_mtu(const struct xbond_xsk *xsk, __u32 slot)
{
	struct ifreq request = { 0 };

	return xsk_kernel_says(xsk, slot, SIOCGIFMTU, &request) ? (__u32)request.ifr_mtu
								: ETH_MAX_MTU;
}

/* By the device or its driver: the kernel's flags may follow a second later. */
int xsk_has_carrier(const struct xbond_xsk *xsk, __u32 slot)
{
	struct ethtool_value link = { .cmd = ETHTOOL_GLINK };
	struct ifreq request = { .ifr_data = (char *)&link };
	__u64 lost;

	if (choice_look(&xsk->choice, &lost))
		return !slots_have(lost, slot);
	return xsk_kernel_says(xsk, slot, SIOCETHTOOL, &request) ? !!link.data
								 : xsk_slave_runs(xsk, slot);
}

int xsk_lost(const struct xbond_xsk *xsk, __u64 *ret_lost)
{
	if (choice_look(&xsk->choice, ret_lost))
		return 1;
	*ret_lost = 0;
	slots_for_each (xsk->slots, slot)
		*ret_lost |= xsk_slave_runs(xsk, slot) ? 0 : slots_bit(slot);
	return 0;
}

/* A slave may have fewer queues than are asked for; the kernel says so by EINVAL. */
static int xsk_open_sockets(struct xbond_xsk *xsk, __u32 slot)
{
	int r = 0;

	for (__u32 i = 0; !r && i < xsk->options.queues; i++) {
		r = port_open(&xsk->port[slot][i], &xsk->area, xsk->ifindex[slot],
			      slot * XBOND_XSK_QUEUES + i, xsk->options.queue + i,
			      xsk->options.bind);
		if (r == -EINVAL && i)
			return 0;
		if (r)
			break;
		xsk->slots |= slots_bit(slot);
		xsk->ports_open++;
		xsk->counts.opened++;
	}
	return r;
}

static int xsk_is_used(struct xbond_xsk *xsk, __u32 slot)
{
	choice_refresh(&xsk->choice);
	return xsk_has_carrier(xsk, slot) &&
	       slots_have(__atomic_load_n(&xsk->choice.table->tx_mask, __ATOMIC_RELAXED), slot);
}

static int xsk_add_filter(struct xbond_xsk *xsk, __u32 slot)
{
	const struct filter_rule rule = { .choice = &xsk->choice,
					  .slot = slot,
					  .ifindex = xsk->ifindex[slot],
					  .namespace = xsk->namespace,
					  .options = &xsk->options,
					  .linked_fd = xsk->linked_fd };
	const struct timespec pause = { .tv_nsec = XSK_LOOK_NS };
	int was_used = xsk->is_opening && xsk_is_used(xsk, slot);
	int r = filter_attach(&xsk->filter[slot], &rule);

	/* A driver that resets its NIC for this: the others' turn comes when it can send again. */
	for (int turn = 0; !r && was_used && turn < XSK_RESET_TURNS; turn++) {
		if (xsk_is_used(xsk, slot))
			break;
		nanosleep(&pause, NULL);
	}
	return r;
}

static __u32 xsk_slaves(const struct xbond_xsk *xsk)
{
	__u32 count = 0;

	for (__u32 slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		count += choice_ifindex(&xsk->choice, slot) != 0;
	return count;
}

/* The first slaves leave room for those that come, which may have as many queues. */
static int xsk_fill_slot(struct xbond_xsk *xsk, __u32 slot)
{
	__u32 queues = xsk_queues(xsk, slot), all = queues * xsk_slaves(xsk);
	int r = 0;

	if (all < xsk->ports_open)
		all = xsk->ports_open;
	for (__u32 i = 0; !r && i < queues; i++) {
		xsk_fill(xsk, &xsk->port[slot][i], all);
		r = filter_add(xsk->filter[slot], xsk->port[slot][i].queue,
			       xsk_socket__fd(xsk->port[slot][i].socket));
	}
	if (r == -EBUSY) /* another handle has taken it off */
		xsk_remove_filter(xsk, slot);
	return r;
}

/*
 * If it fails, the filter stays until the slot is closed: with each further try some drivers would
 * reset the NIC twice.
 */
static int xsk_try_slot(struct xbond_xsk *xsk, __u32 slot)
{
	int r = !xsk->filter[slot] && xsk_needs_filter(xsk) ? xsk_add_filter(xsk, slot) : 0;

	if (r)
		return r;
	r = xsk_open_sockets(xsk, slot);
	if (!r && xsk_is_zero_copy(xsk) && xsk->ports_open * xsk->area.ring > xsk->area.frames)
		r = -ENOBUFS;
	if (!r && xsk->filter[slot])
		r = xsk_fill_slot(xsk, slot);
	return r;
}

static int xsk_open_slot(struct xbond_xsk *xsk, __u32 slot)
{
	int r = xsk_try_slot(xsk, slot);

	if (r) {
		xsk_close_sockets(xsk, slot);
		xsk->waiting |= slots_bit(slot);
		xsk->choice.up &= ~slots_bit(slot);
	} else {
		xsk->waiting &= ~slots_bit(slot);
		xsk->choice.up |= slots_bit(slot);
	}
	return r;
}

int xsk_settle_slaves(struct xbond_xsk *xsk, __u32 *ret_slot)
{
	int r = 0;

	for (__u32 slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		__u32 now = choice_ifindex(&xsk->choice, slot);
		int failed;

		if (now != xsk->ifindex[slot]) {
			xsk_close_slot(xsk, slot);
			xsk->ifindex[slot] = now;
			xsk->choice.up |= slots_bit(slot);
		} else if (!xsk->is_opening || !slots_have(xsk->waiting, slot)) {
			continue;
		}
		failed = now ? xsk_open_slot(xsk, slot) : 0;
		if (failed && failed != -ENETDOWN && !r) {
			*ret_slot = slot;
			r = failed;
		}
	}
	return r;
}

/* The bond that has this name now. Its slaves may have kept their devices, and their slots not. */
static int xsk_find_bond(struct xbond_xsk *xsk)
{
	char why[XBOND_WHY_SIZE];

	for (__u32 slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		xsk_close_slot(xsk, slot);
	memset(xsk->ifindex, 0, sizeof(xsk->ifindex));
	choice_close(&xsk->choice);
	return choice_open(&xsk->choice, xsk->bond, why);
}

/* The kernel's flags alone would open a socket for frames that come back a millisecond later. */
static int xsk_can_send(const struct xbond_xsk *xsk, __u32 slot)
{
	return xsk_slave_runs(xsk, slot) && (!xsk_is_zero_copy(xsk) || xsk_has_carrier(xsk, slot));
}

/*
 * What only they notice who ask. options.sockets: the process that has the pins was started anew,
 * or noticed a slave later.
 */
static void xsk_check(struct xbond_xsk *xsk)
{
	__u64 now_ns = choice_time_ns();

	if (now_ns < xsk->check_ns)
		return;
	xsk->check_ns = now_ns + XSK_CHECK_NS;
	slots_for_each (xsk->slots, slot) {
		int is_alive = port_is_bound(&xsk->port[slot][0]);

		if (is_alive && xsk->options.sockets && filter_is_old(xsk->filter[slot])) {
			xsk_remove_filter(xsk, slot);
			is_alive = !xsk_add_filter(xsk, slot) && !xsk_fill_slot(xsk, slot);
		}
		if (!is_alive)
			xsk_is_cut(xsk, slot, 1);
	}
}

/* What needs system calls: slaves that were cut, and sockets that could not be opened. */
static void xsk_look(struct xbond_xsk *xsk)
{
	slots_for_each (~xsk->choice.up | xsk->waiting, slot) {
		if (!xsk->ifindex[slot] || !xsk_can_send(xsk, slot))
			continue;
		if (slots_have(xsk->waiting, slot))
			xsk_open_slot(xsk, slot);
		else
			xsk->choice.up |= slots_bit(slot);
	}
}

void xsk_is_cut(struct xbond_xsk *xsk, __u32 slot, int stuck)
{
	__u64 now_ns = choice_time_ns();

	xsk->choice.up &= ~slots_bit(slot);
	/* Not later than before: with each call that meets a cut slave, it would never come. */
	if (now_ns >= xsk->look_ns)
		xsk->look_ns = now_ns + XSK_LOOK_NS;
	if (!stuck)
		return;
	xsk_close_sockets(xsk, slot);
	xsk->waiting |= slots_bit(slot);
}

XSK_PUBLIC int xbond_xsk_update(struct xbond_xsk *xsk)
{
	__u32 slot;
	__u64 now_ns;

	choice_refresh(&xsk->choice);
	if (xsk_is_zero_copy(xsk) || xsk->unsent)
		xsk_rescue(xsk);
	if (xsk->check_ns)
		xsk_check(xsk);
	if (choice_is_current(&xsk->choice)) {
		if (memcmp(xsk->ifindex, (const void *)xsk->choice.table->ifindex,
			   sizeof(xsk->ifindex)))
			xsk_settle_slaves(xsk, &slot);
		if (!~xsk->choice.up && !xsk->waiting)
			return 0;
	}
	now_ns = choice_time_ns();
	if (now_ns < xsk->look_ns)
		return choice_is_current(&xsk->choice) ? 0 : -ENOENT;
	xsk->look_ns = now_ns + XSK_LOOK_NS;
	if (!choice_is_current(&xsk->choice)) {
		if (xsk_find_bond(xsk))
			return -ENOENT;
		xsk_settle_slaves(xsk, &slot);
	}
	xsk_look(xsk);
	return 0;
}
