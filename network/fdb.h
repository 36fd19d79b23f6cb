/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The addresses that a bridge has behind its ports (`bridge fdb show br BRIDGE`). */
#ifndef XBOND_NETWORK_FDB_H
#define XBOND_NETWORK_FDB_H

#include <stdint.h>

#include "bpf/abi.h"
#include "network/nl.h"

struct fdb_entry {
	uint8_t mac[XBOND_MAC_SIZE];
	int port;      /* its ifindex */
	uint16_t vlan; /* 0: the bridge does not tell VLANs apart */
};

typedef void (*fdb_visitor)(const struct fdb_entry *entry, void *arg);
/*
 * Those that it has learnt, and that somebody has added; not those of the bridge and of its ports
 * themselves. Returns 0 or -errno; -EAGAIN: the list changed meanwhile.
 */
int fdb_visit(struct nl *nl, int bridge, fdb_visitor visitor, void *arg);

#endif
