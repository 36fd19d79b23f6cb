/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns the kernel's messages about devices into requests that make the same. Called by netconf.c
 * only.
 */
#ifndef XBOND_NETWORK_NETCONF_MESSAGE_H
#define XBOND_NETWORK_NETCONF_MESSAGE_H

#include "network/netconf.h"

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

/* Changes a request that netconf_add() has taken: to the devices `to`. */
void netconf_readdress(struct nlmsghdr *request, const struct netconf_device *devices,
		       size_t count);

#endif
