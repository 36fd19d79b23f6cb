/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's own ways to make one device of many: its bonding driver, and its team. */
#ifndef XBOND_NETWORK_BONDING_H
#define XBOND_NETWORK_BONDING_H

#include "network/link.h"
#include "options/option_set.h"

/*
 * The bonds of the kernel's bonding driver over rtnetlink: reads their options as those of the
 * option table, and makes bonds with such options. Both sides have the same numbers. Knows no
 * bonds of xbond.
 */

/*
 * The options of a bond that are not the table's default. The mode is always given, also one that
 * xbond does not have; options that its mode does not take are left out. -EPROTONOSUPPORT: the
 * device is no such bond.
 */
int bonding_read(struct nl *nl, int ifindex, struct option_set *ret_options, struct err *err);

/* The ifindex of the slave that modes with an active slave have chosen; 0: none, or other modes. */
int bonding_active_slave(struct nl *nl, int ifindex);

struct bonding_slave {
	bool has_link;
	/*
	 * 802.3ad: its port does, and the partner's collects; otherwise, and as long as the port
	 * has no aggregator, the same as has_link.
	 */
	bool distributes;
	bool has_aggregator;
	struct option_set options;
};

/* -EPROTONOSUPPORT: it is no slave of such a bond. */
int bonding_read_slave(struct nl *nl, int ifindex, struct bonding_slave *ret_slave);

/*
 * The number of each port in LACPDUs: a line "NAME NUMBER" of /proc/net/bonding for each slave, in
 * the order in which they were added. Outside of 802.3ad the numbers are 1, 2, 3.
 */
typedef void (*bonding_port_visitor)(const char *slave, unsigned int number, void *arg);
int bonding_visit_ports(const char *bond, bonding_port_visitor visit, void *arg);

/*
 * Makes a bond, down, with this address and with those options that are given and that the driver
 * has for the mode. -EEXIST, -EOPNOTSUPP (the kernel has no bonding driver) and others.
 */
int bonding_create(struct nl *nl, const struct link_end *end, const struct option_set *options,
		   struct err *err);
/* Options of a slave of such a bond. */
int bonding_set_slave(struct nl *nl, int ifindex, const struct option_set *options,
		      struct err *err);

/*
 * The kernel's team device, without teamd. Ports hand what they receive to it in place.
 *
 * A team without a mode sends nothing. With the mode loadbalance it sends a packet by the port that
 * is mapped to the lowest bits of the packet's hash (skb->hash); such a team gives its ports its
 * own MAC address. (A team would also send by the port whose queue_id a packet asks for. But when
 * that port's device does not take the packet, the kernel frees it twice.)
 */

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
