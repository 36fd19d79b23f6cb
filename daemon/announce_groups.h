/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * After a failover: the multicast groups that a device has joined, by an IGMPv2 (RFC 2236) or MLDv1 (RFC 2710)
 * report each, so that switches that snoop forward them to the new port before the next query.
 */
#ifndef XBOND_DAEMON_ANNOUNCE_GROUPS_H
#define XBOND_DAEMON_ANNOUNCE_GROUPS_H

#include <stdint.h>

/* fd: a packet socket. ipv4: an address of the device, or zero. */
void announce_groups(int fd, int ifindex, const uint8_t *mac, const uint8_t ipv4[4]);

#endif
