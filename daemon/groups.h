/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The multicast groups that bond0 listens to, on its slaves' own lists as well. Slaves are allmulti, but NICs
 * may ignore that: virtual functions that their host does not trust do. The kernel does not say who has put
 * an address on a list, so one that bond0 leaves while no bondd runs stays there.
 */
#ifndef XBOND_DAEMON_GROUPS_H
#define XBOND_DAEMON_GROUPS_H

#include "daemon/daemon.h"

/* Twice a second: the kernel does not tell. A bond that is away keeps those it had. */
void groups_follow(struct daemon *daemon);
/* A bond is adopted: what it listens to now, without its slaves, which may have been joined by the last bondd. */
void groups_recall(struct bond *bond);
/* A slave comes, or goes under the name it has now. */
void groups_join(struct bond *bond, const char *slave);
void groups_leave(struct bond *bond, const char *slave);
void groups_free(struct bond *bond);

#endif
