/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts the multicast groups that bond0 listens to, and the MAC addresses of macvlans and VLANs on
 * it, on its slaves' own lists as well, and on those of backups the groups to which the ARP monitor
 * sends its neighbour solicitations. Slaves are allmulti, and promiscuous if bond0 is, but NICs may
 * ignore that: virtual functions that their host does not trust do. The kernel does not say who has
 * put an address on a list. Therefore bondd first records in a pinned map what it puts there, and
 * leaves alone what was there before.
 */
#ifndef XBOND_DAEMON_SLAVE_SLAVE_MULTICAST_H
#define XBOND_DAEMON_SLAVE_SLAVE_MULTICAST_H

#include "daemon/bond/daemon.h"

/*
 * A bond is made or adopted: opens the record, or makes it. For a bond of an older bondd, which
 * kept no record: whatever both bond0 and the slave listen to now counts as put there by bondd.
 */
void slave_multicast_open(struct bond *bond);
/*
 * Called twice a second for all bonds, because the kernel does not report changes. A bond that is
 * away keeps what it had.
 */
void slave_multicast_follow(struct daemon *daemon);
/* The next check is due now. */
void slave_multicast_follow_soon(struct bond *bond);
/* Joins at once on these slots; leaves no group. */
void slave_multicast_join(struct bond *bond, uint64_t slots);
#endif
