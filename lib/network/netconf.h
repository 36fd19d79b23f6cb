/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is configured on devices, as requests that configure it again: masters with their ports'
 * options, VLANs and entries, addresses, neighbours and routes of all tables. The requests may be
 * applied to other devices than those they were read from. Knows nothing of bonds.
 */
#ifndef XBOND_NETWORK_NETCONF_H
#define XBOND_NETWORK_NETCONF_H

#include <stdbool.h>
#include <stddef.h>

#include "network/nl.h"

struct netconf {
	struct nlmsghdr **request; /* in the order in which they are applied */
	size_t count;
};

/* What is on device `from` goes to device `to`. */
struct netconf_device {
	int from, to;
};

/*
 * Adds what is configured on these devices. -EOPNOTSUPP: it cannot be done again (nexthop objects);
 * err says what.
 */
int netconf_read(struct nl *nl, const struct netconf_device *devices, size_t count,
		 struct netconf *conf, struct err *err);
/*
 * Does all of it, also when something is refused. Returns 0 or the -errno of the first request that
 * was refused, with a line in err. ret_refused: how many were. Either may be NULL. The kernel's own
 * doubles do not count.
 */
int netconf_apply(struct nl *nl, const struct netconf *conf, const struct netconf_device *devices,
		  size_t count, size_t *ret_refused, struct err *err);
/* Takes the IPv4 addresses of `conf` off this device, which it was read from. */
void netconf_remove_ipv4(struct nl *nl, const struct netconf *conf, int ifindex);
void netconf_free(struct netconf *conf);

/* Takes a copy. Returns false if it is no complete request of a kind that netconf_read() makes. */
bool netconf_add(struct netconf *conf, const void *request, size_t size);

/*
 * From here on: between netconf.c and netconf_message.c, which turns the kernel's messages about
 * devices into requests that make the same.
 */

/* What a message is about. */
struct netconf_source {
	const struct netconf_device *devices;
	size_t count;
	struct netconf *conf;
	bool has_nexthop_objects; /* they, and routes that use them, were left out */
	bool is_cut;		  /* a request would be too long */
};

/* Handlers of dumps: add a request for a message about one of the devices. */
void netconf_take_link(struct nlmsghdr *message, void *source);
void netconf_take_bridge_vlans(struct nlmsghdr *message, void *source);
void netconf_take_address(struct nlmsghdr *message, void *source);
void netconf_take_route(struct nlmsghdr *message, void *source);
void netconf_take_neighbour(struct nlmsghdr *message, void *source);
void netconf_take_bridge_entry(struct nlmsghdr *message, void *source);
/* Only finds out whether there is one. */
void netconf_take_nexthop(struct nlmsghdr *message, void *source);

#endif
