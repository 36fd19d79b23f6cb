/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of MAC addresses: those that a device receives, and those behind a bridge's ports. */
#ifndef XBOND_NETWORK_MAC_LISTS_H
#define XBOND_NETWORK_MAC_LISTS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "network/nl.h"

/*
 * Multicast addresses on a device's own list, which outlives the process (a packet socket's
 * membership does not). For devices in the namespace of the process.
 */

/*
 * Returns 0 or -errno. Adding an address twice is the same as adding it once. A use by the device's
 * own stack is counted separately.
 */
int multicast_add(int ifindex, const uint8_t mac[XBOND_MAC_SIZE]);
int multicast_delete(int ifindex, const uint8_t mac[XBOND_MAC_SIZE]);

/* Slow_Protocols_Multicast, IEEE 802.3 57A.3. */
extern const uint8_t multicast_slow_protocols[XBOND_MAC_SIZE];

struct multicast_entry {
	int ifindex;
	bool is_static; /* put there by multicast_add() or `ip maddr add`, by anybody */
	uint8_t mac[XBOND_MAC_SIZE];
};

typedef void (*multicast_visit)(const struct multicast_entry *entry, void *arg);
/* Every address of every device. Returns 0, or -errno before the first. */
int multicast_list(multicast_visit visit, void *arg);
/*
 * Is it on the device's list in the way in which multicast_add() would put it there? Returns 1 or
 * 0, or -errno if the list cannot be read.
 */
int multicast_is_static(int ifindex, const uint8_t mac[XBOND_MAC_SIZE]);

typedef void (*multicast_group)(int ifindex, const uint8_t *group, void *arg);
/* Every IP group of every device, in 4 or 16 bytes. Returns 0, or -errno before the first. */
int multicast_list_ipv4(multicast_group visit, void *arg);
int multicast_list_ipv6(multicast_group visit, void *arg);

/*
 * The secondary unicast addresses that a device receives: those of macvlans and VLANs on it that
 * have addresses of their own, and what somebody has added (`bridge fdb show dev DEV`).
 */

typedef void (*unicast_visitor)(const uint8_t mac[XBOND_MAC_SIZE], void *arg);
/* Of a device in the namespace of nl. Returns 0 or -errno; -EAGAIN: the list changed meanwhile. */
int unicast_visit(struct nl *nl, int ifindex, unicast_visitor visitor, void *arg);

/* The addresses that a bridge has behind its ports (`bridge fdb show br BRIDGE`). */

struct fdb_entry {
	uint8_t mac[XBOND_MAC_SIZE];
	int port;      /* its ifindex */
	uint16_t vlan; /* 0: the bridge does not tell VLANs apart */
};

typedef void (*fdb_visitor)(const struct fdb_entry *entry, void *arg);
/*
 * Those that it has learnt, and that somebody has added; not those of the bridge and of its ports
 * themselves, nor what a routing daemon knows from elsewhere, nor hosts that a port has not
 * admitted yet. Returns 0 or -errno; -EAGAIN: the list changed meanwhile.
 */
int fdb_visit(struct nl *nl, int bridge, fdb_visitor visitor, void *arg);

#define FDB_VLANS 4096
enum { FDB_NOT, FDB_UNTAGGED, FDB_TAGGED };
/*
 * How a port of a bridge that tells VLANs apart sends each of them. Returns 0 or -errno; what could
 * not be read is FDB_NOT, as are VLANs that the port is not in, or that are blocked there.
 */
int fdb_vlans(struct nl *nl, int port, uint8_t ret_how[FDB_VLANS]);

#endif
