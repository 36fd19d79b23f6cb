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

#include "common/err.h"

struct announcer;

/* Signals must be blocked. Returns NULL on failure, with a line in err. */
struct announcer *announcer_new(struct err *err);
void announcer_free(struct announcer *announcer);

/*
 * Announces the bond with this port side. ifindex: that of bond0; 0 if bond0 is in another
 * namespace. Announcements of this bond that are not sent yet are dropped: everything starts again.
 */
void announce(struct announcer *announcer, int ifindex, int port_ifindex);
/* The bond ends. Its announcements that are not sent yet are dropped. */
void announce_no_more(struct announcer *announcer, int port_ifindex);

#endif
