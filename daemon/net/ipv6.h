/* SPDX-License-Identifier: GPL-2.0-or-later */
/* net.ipv6.conf.DEV.disable_ipv6 of a device in our own namespace. */
#ifndef XBOND_DAEMON_NET_IPV6_H
#define XBOND_DAEMON_NET_IPV6_H

/* 0 or 1; -1: there is no such switch (no IPv6, or no such device). */
int ipv6_disabled(const char *name);
/* 0 or -errno; nothing to do where there is no switch. */
int ipv6_set_disabled(const char *name, int disabled);

#endif
