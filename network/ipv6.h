/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The values disable_ipv6, accept_dad and forwarding of net.ipv6.conf.DEV, for a device in the
 * namespace of the process.
 */
#ifndef XBOND_NETWORK_IPV6_H
#define XBOND_NETWORK_IPV6_H

#include "network/nl.h"

/* Returns 0 or 1; -1 if there is no such switch (no IPv6, or no such device). */
int ipv6_disabled(const char *name);
/* Returns 0 or -errno. Does nothing if there is no switch. */
int ipv6_set_disabled(const char *name, int disabled);

/*
 * Gives a device the accept_dad of net.ipv6.conf.default. The kernel does that itself, but not for
 * a device that is made without ARP, as a netkit is: it would never detect that another host has
 * its address. Returns 0 or -errno. Does nothing without IPv6.
 */
int ipv6_set_default_dad(const char *name);

typedef void (*ipv6_visitor)(int ifindex, void *arg);
/*
 * Every device that forwards IPv6. Some may appear twice if devices change meanwhile. Returns 0 or
 * -errno.
 */
int ipv6_visit_routers(struct nl *nl, ipv6_visitor visit, void *arg);

#endif
