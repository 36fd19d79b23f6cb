/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which way the kernel's routes lead to an address; and new routes, for the CNI plugin. */
#ifndef XBOND_NETWORK_ROUTE_H
#define XBOND_NETWORK_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "network/nl.h"

struct route {
	int ifindex;	    /* the device that packets leave by */
	uint8_t source[16]; /* the address that they get; zero: none */
};

/*
 * to: 4 or 16 bytes, by family. ifindex: only by this device; 0: by any. Returns 0 or -errno;
 * -ENETUNREACH and the like: there is no route.
 */
int route_get(struct nl *nl, int family, const uint8_t *to, int ifindex, struct route *ret_route);

struct route_change {
	int ifindex;
	int family;
	unsigned char prefix_length;
	uint8_t to[16];
	bool has_gateway; /* otherwise the network is on the link */
	uint8_t gateway[16];
	uint32_t priority, table; /* 0: the kernel's default; the main one */
	uint32_t mtu, advmss;	  /* 0: not said */
};

/* -EEXIST: there is such a route. */
int route_add(struct nl *nl, const struct route_change *route, struct err *err);

#endif
