/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Announcements after a failover in active-backup: frames from bond0 that teach switches and
 * neighbours where its MAC address is now. One for each IP address and multicast group, of bond0
 * and of the devices above it, as the kernel's driver makes its stack send them
 * (NETDEV_NOTIFY_PEERS, NETDEV_RESEND_IGMP). A thread of its own finds out what to announce and
 * sends it, with pauses, so the main loop does not wait for it.
 */
#ifndef XBOND_DAEMON_ANNOUNCE_ANNOUNCE_H
#define XBOND_DAEMON_ANNOUNCE_ANNOUNCE_H

#include <stdint.h>

#include "common/err.h"

struct announcer;

/* Signals must be blocked. Returns NULL on failure, with a line in err. */
struct announcer *announcer_new(struct err *err);
void announcer_free(struct announcer *announcer);

struct announce_order {
	int port_ifindex; /* of the bond's port side; where bond0 is, is found each time */
	unsigned int addresses, groups;		   /* how often each is announced */
	uint32_t address_delay_ms, group_delay_ms; /* between two times */
};

/*
 * Announces a bond, the first time at once. What an earlier order for this bond has left to do is
 * dropped: everything starts again.
 */
void announce(struct announcer *announcer, const struct announce_order *order);
/* The bond ends. Its announcements that are not sent yet are dropped. */
void announce_no_more(struct announcer *announcer, int port_ifindex);

#endif
