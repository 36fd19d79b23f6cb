/* SPDX-License-Identifier: GPL-2.0-or-later */
/* IP addresses of a device. Link-local IPv6 addresses, which the kernel makes itself, do not count. */
#ifndef XBOND_DAEMON_NET_ADDRESS_H
#define XBOND_DAEMON_NET_ADDRESS_H

#include "daemon/net/nl.h"

struct address {
	int family;
	unsigned char prefix_length;
	unsigned char bytes[16];
	char text[64]; /* 192.0.2.1/24 */
};

/* At most max are stored; returns how many there are, or -errno. */
int address_list(struct nl *nl, int ifindex, struct address *ret_addresses, int max);
int address_delete(struct nl *nl, int ifindex, const struct address *address, struct err *err);
/* Puts back what was there. */
int address_add(struct nl *nl, int ifindex, const struct address *address);

#endif
