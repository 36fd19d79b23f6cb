/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A multicast address on a device's own list, which outlives the process (a packet socket's
 * membership does not). Devices of our own namespace.
 */
#ifndef XBOND_DAEMON_NET_MULTICAST_H
#define XBOND_DAEMON_NET_MULTICAST_H

#include <stdint.h>

#include "bpf/abi.h"

/* 0 or -errno. The kernel counts: each add wants its delete. */
int multicast_add(const char *name, const uint8_t mac[XBOND_MAC_SIZE]);
int multicast_delete(const char *name, const uint8_t mac[XBOND_MAC_SIZE]);

#endif
