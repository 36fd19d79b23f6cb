/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frames by which a host announces where its MAC address is now: ARP, RARP and neighbour
 * advertisements. announce_round.c has the reports of multicast groups.
 */
#ifndef XBOND_DAEMON_ANNOUNCE_ANNOUNCE_FRAMES_H
#define XBOND_DAEMON_ANNOUNCE_ANNOUNCE_FRAMES_H

#include <stdint.h>

struct announce_sender {
	int fd; /* a packet socket */
	int ifindex;
	const uint8_t *mac;
};

/* An ARP request of the IPv4 address for itself (RFC 5227, 3). */
void announce_arp(const struct announce_sender *sender, const uint8_t address[4]);
/* For a device without addresses: at least the switches learn. */
void announce_rarp(const struct announce_sender *sender);

enum { ANNOUNCE_ROUTER = 1, ANNOUNCE_OVERRIDE = 2 };
/* An unsolicited neighbour advertisement (RFC 4861, 7.2.6) to all nodes. */
void announce_advertisement(const struct announce_sender *sender, const uint8_t address[16],
			    int flags);

#endif
