/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which way the kernel's routes lead to an address. */
#ifndef XBOND_NETWORK_ROUTE_H
#define XBOND_NETWORK_ROUTE_H

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

#endif
