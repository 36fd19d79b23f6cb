/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * After a failover: reports a multicast group that a device has joined, by IGMPv2 (RFC 2236) or
 * MLDv1 (RFC 2710). Switches that snoop then forward the group to the new port before the next
 * query.
 */
#ifndef XBOND_DAEMON_ANNOUNCE_ANNOUNCE_GROUPS_H
#define XBOND_DAEMON_ANNOUNCE_ANNOUNCE_GROUPS_H

#include "daemon/announce/announce_frames.h"

/* source: an address of the device, or zero. */
void announce_group_ipv4(const struct announce_sender *sender, const uint8_t source[4],
			 const uint8_t group[4]);
/* source: link-local, or unspecified. Only snooping switches accept the latter (RFC 3590). */
void announce_group_ipv6(const struct announce_sender *sender, const uint8_t source[16],
			 const uint8_t group[16]);

#endif
