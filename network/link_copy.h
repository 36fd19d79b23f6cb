/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes a device on another lower device as one that exists, and gives a device its sysctls. */
#ifndef XBOND_NETWORK_LINK_COPY_H
#define XBOND_NETWORK_LINK_COPY_H

#include "network/link.h"

/* Can link_copy() copy it? */
bool link_copy_can(const struct link_info *link);
/*
 * Makes another VLAN or macvlan device, down, of this name and on this lower device, with the same
 * options, MTU and, where it has one of its own, address.
 */
int link_copy(struct nl *nl, const struct link_info *link, const char *name, int lower,
	      struct err *err);

/* Writes what differs below /proc/sys/net/ipv[46]/{conf,neigh}. IPv6 stays on or off as it is. */
void link_copy_sysctls(const char *from, const char *to);
/*
 * Of a device that is made ready and must not take part yet: no IPv6, and its addresses are not
 * checked for doubles. link_copy_wake() and link_copy_settle() end
 * that.
 */
void link_copy_sleep(const char *name);
/* IPv6 as on the device `like`. New addresses are not checked until link_copy_settle(). */
void link_copy_wake(const char *name, const char *like);
void link_copy_settle(const char *name, const char *like);

#endif
