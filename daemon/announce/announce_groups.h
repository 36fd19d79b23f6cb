/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * After a failover: a multicast group that a device has joined, by an IGMPv2 (RFC 2236) or MLDv1
 * (RFC 2710) report, so that switches that snoop forward it to the new port before the next query.
 */
#ifndef XBOND_DAEMON_ANNOUNCE_ANNOUNCE_GROUPS_H
#define XBOND_DAEMON_ANNOUNCE_ANNOUNCE_GROUPS_H

#include "daemon/announce/announce_frames.h"

/* source: an address of the device, or zero. */
void announce_group_ipv4(const struct announce_sender *sender, const uint8_t source[4],
			 const uint8_t group[4]);
/* source: link-local, or unspecified, which only snooping switches take (RFC 3590). */
void announce_group_ipv6(const struct announce_sender *sender, const uint8_t source[16],
			 const uint8_t group[16]);

#endif
