/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All slaves' carriers at once, for bondd, without the RTNL lock that netlink and ethtool wait for.
 * bondd runs it by BPF_PROG_RUN on a packet of no meaning. It is a TC program because the map of
 * the devices is reserved for those.
 */
#ifndef XBOND_BPF_NETDEV_LOOK_H
#define XBOND_BPF_NETDEV_LOOK_H

#include "bpf/netdev.h"
#include "bpf/losses.h"

#define NETDEV_LOOK_UP 1
#define NETDEV_LOOK_LOST 2

/* Global, for the same reason as select_is_up(). */
__noinline __u32 netdev_look_at(__u32 slot)
{
	__u64 state;

	if (!netdev_is_readable()) /* it is verified by itself */
		return 0;
	state = netdev_state(slot);
	if ((state & NETDEV_SENDS) == NETDEV_START)
		return NETDEV_LOOK_UP;
	return (state & NETDEV_MAY_SEND) == NETDEV_START ? 0 : NETDEV_LOOK_LOST;
}

/* Returns 1, or 0 if the kernel's devices cannot be read. */
SEC("tc")
int xbond_look(struct __sk_buff *skb)
{
	__u64 up = 0, lost = 0;

	(void)skb;
	if (!netdev_is_readable())
		return 0;
	for (__u32 slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		__u32 seen = netdev_look_at(slot);

		up |= (__u64)(seen & NETDEV_LOOK_UP) << slot;
		lost |= (__u64)(seen >> 1 & 1) << slot;
	}
	wake.up = up;
	wake.lost = lost;
	return 1;
}

#endif
