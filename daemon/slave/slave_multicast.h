/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The multicast groups that bond0 listens to, on its slaves' own lists as well. Slaves are
 * allmulti, but NICs may ignore that: virtual functions that their host does not trust do. The
 * kernel does not say who has put an address on a list, so what bondd puts there is recorded first,
 * in a pinned map, and what was there before is left alone.
 */
#ifndef XBOND_DAEMON_SLAVE_SLAVE_MULTICAST_H
#define XBOND_DAEMON_SLAVE_SLAVE_MULTICAST_H

#include "daemon/bond/daemon.h"

/*
 * A bond is made or adopted: opens the record, or makes it. A bond of an older bondd, which kept
 * none: taken for bondd's is what both bond0 and the slave listen to now.
 */
void slave_multicast_open(struct bond *bond);
/*
 * Twice a second, because the kernel does not tell: all bonds. One that is away keeps what it had.
 */
void slave_multicast_follow(struct daemon *daemon);
/* At once, on these slots; none is left. */
void slave_multicast_join(struct bond *bond, uint64_t slots);
/* The slot's device is released: it leaves what bondd has put on its list. */
void slave_multicast_leave(struct bond *bond, unsigned int slot);
/* The same where the device is gone, and its list with it. */
void slave_multicast_forget(struct bond *bond, unsigned int slot);
/* The pin stays. */
void slave_multicast_free(struct bond *bond);

#endif
