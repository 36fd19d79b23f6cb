/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `ips` and `routes` of a result of CNI: parsed, put on a device, compared with it. Also a target
 * of the fuzzers, because another plugin wrote the result.
 */
#ifndef XBOND_CNI_CNI_ADDRESSES_H
#define XBOND_CNI_CNI_ADDRESSES_H

#include <jansson.h>

#include "common/err.h"
#include "network/ip.h"

#define CNI_MAX_ADDRESSES 64
#define CNI_MAX_ROUTES 1024

struct cni_addresses {
	size_t address_count, route_count;
	struct address addresses[CNI_MAX_ADDRESSES]; /* without ifindex and text */
	struct route_change routes[CNI_MAX_ROUTES];  /* likewise */
};

/* interface: only those of this number; -1: all. A route without gw gets that of its family. */
int cni_addresses_read(struct cni_addresses *ret_addresses, const json_t *result, int interface,
		       struct err *err);
/* nl: of the namespace that the device is in. It must be up. */
int cni_addresses_apply(struct cni_addresses *addresses, struct nl *nl, int ifindex,
			struct err *err);
/* Returns -CNI_CHANGED if an address is missing. */
int cni_addresses_check(const struct cni_addresses *addresses, struct nl *nl, int ifindex,
			struct err *err);

#endif
