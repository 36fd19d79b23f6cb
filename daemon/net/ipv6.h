/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What net.ipv6.conf.DEV says of a device in our own namespace: disable_ipv6, forwarding. */
#ifndef XBOND_DAEMON_NET_IPV6_H
#define XBOND_DAEMON_NET_IPV6_H

#include "daemon/net/nl.h"

/* 0 or 1; -1: there is no such switch (no IPv6, or no such device). */
int ipv6_disabled(const char *name);
/* 0 or -errno; nothing to do where there is no switch. */
int ipv6_set_disabled(const char *name, int disabled);

typedef void (*ipv6_visitor)(int ifindex, void *arg);
/* Every device that forwards IPv6; some twice when devices change meanwhile. 0 or -errno. */
int ipv6_visit_routers(struct nl *nl, ipv6_visitor visit, void *arg);

#endif
