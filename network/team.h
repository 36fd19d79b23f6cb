/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's team device, without teamd. Ports hand what they receive to it in place.
 *
 * A team without a mode sends nothing. With the mode loadbalance it sends a packet by the port that
 * is mapped to the lowest bits of the packet's hash (skb->hash); such a team gives its ports its
 * own MAC address. (A team would also send by the port whose queue_id a packet asks for. But when
 * that port's device does not take the packet, the kernel frees it twice.)
 */
#ifndef XBOND_NETWORK_TEAM_H
#define XBOND_NETWORK_TEAM_H

#include "network/link.h"

#define TEAM_KIND "team"

/*
 * Makes one, without a mode and without carrier: from now on only link_set_carrier() changes that.
 * -EOPNOTSUPP: the kernel has no team.
 */
int team_create(struct nl *nl, const struct link_end *device, int *ret_ifindex, struct err *err);

/*
 * Gives a team without ports the mode loadbalance, with so many numbers for ports (a power of two).
 * -EOPNOTSUPP: the kernel has no such mode.
 */
int team_let_send(int team, uint32_t numbers, struct err *err);

/* The team takes what the port receives, and may send by it; so it is unless somebody ended it. */
int team_use_port(int team, int port, struct err *err);
/*
 * A team that team_let_send() was called for sends by this port what has `number` in the
 * lowest bits of its hash. The kernel ends that when the port leaves, or is no longer used.
 */
int team_map_port(int team, unsigned int number, int port, struct err *err);

#endif
