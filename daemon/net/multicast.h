/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A multicast address on a device's own list, which outlives the process (a packet socket's
 * membership does not). Devices of our own namespace.
 */
#ifndef XBOND_DAEMON_NET_MULTICAST_H
#define XBOND_DAEMON_NET_MULTICAST_H

#include <stdint.h>

#include "bpf/abi.h"

/* 0 or -errno. Adding twice is adding once; a use by the device's own stack is counted apart. */
int multicast_add(const char *name, const uint8_t mac[XBOND_MAC_SIZE]);
int multicast_delete(const char *name, const uint8_t mac[XBOND_MAC_SIZE]);

typedef void (*multicast_visit)(int ifindex, const uint8_t *mac, void *arg);
/* Every address of every device. 0, or -errno before the first. */
int multicast_list(multicast_visit visit, void *arg);

#endif
