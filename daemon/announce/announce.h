/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * After a failover in active-backup: frames from bond0 that teach switches and neighbours where its
 * MAC address is now, one per IP address and multicast group, there and on the devices above, as
 * the kernel's driver has its stack send them (NETDEV_NOTIFY_PEERS, NETDEV_RESEND_IGMP). A thread
 * of its own reads what there is to say and sends it, with pauses: the main loop does not wait for
 * it.
 */
#ifndef XBOND_DAEMON_ANNOUNCE_ANNOUNCE_H
#define XBOND_DAEMON_ANNOUNCE_ANNOUNCE_H

#include "common/err.h"

struct announcer;

/* Signals must be blocked. NULL: err says why. */
struct announcer *announcer_new(struct err *err);
void announcer_free(struct announcer *announcer);

/*
 * For the bond with this port side. ifindex: of its device; 0: it is in another namespace. What was
 * still to be sent for it is not: everything begins anew.
 */
void announce(struct announcer *announcer, int ifindex, int port_ifindex);
/* The bond ends: what is still to be sent for it is not. */
void announce_no_more(struct announcer *announcer, int port_ifindex);

#endif
