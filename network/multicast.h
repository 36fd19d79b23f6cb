/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Multicast addresses on a device's own list, which outlives the process (a packet socket's
 * membership does not). For devices in the namespace of the process.
 */
#ifndef XBOND_NETWORK_MULTICAST_H
#define XBOND_NETWORK_MULTICAST_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"

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

#endif
