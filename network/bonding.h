/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bonds of the kernel's bonding driver over rtnetlink: reads their options as those of the
 * option table, and makes bonds with such options. Both sides have the same numbers. Knows no
 * bonds of xbond.
 */
#ifndef XBOND_NETWORK_BONDING_H
#define XBOND_NETWORK_BONDING_H

#include "network/link.h"
#include "options/option_set.h"

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

#endif
