/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The secondary unicast addresses that a device receives: those of macvlans and VLANs on it that
 * have addresses of their own, and what somebody has added (`bridge fdb show dev DEV`).
 */
#ifndef XBOND_NETWORK_UNICAST_H
#define XBOND_NETWORK_UNICAST_H

#include <stdint.h>

#include "bpf/abi.h"
#include "network/nl.h"

typedef void (*unicast_visitor)(const uint8_t mac[XBOND_MAC_SIZE], void *arg);
/* Of a device in the namespace of nl. Returns 0 or -errno; -EAGAIN: the list changed meanwhile. */
int unicast_visit(struct nl *nl, int ifindex, unicast_visitor visitor, void *arg);

#endif
