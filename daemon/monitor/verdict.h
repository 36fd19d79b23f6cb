/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one door through which a monitor's verdict on a slave's link reaches the bond. A link works
 * if every monitor that has spoken of it says so; a monitor that has not spoken has no part in
 * that. bond_link_works() and bond_link_why() read what is written here.
 */
#ifndef XBOND_DAEMON_MONITOR_VERDICT_H
#define XBOND_DAEMON_MONITOR_VERDICT_H

#include "daemon/bond/bond.h"

/* As just learnt. True: the link works now and did not, or the other way round. Does not evaluate.
 */
bool verdict_set(struct bond *bond, unsigned int slot, enum link_monitor monitor, bool works);
/* What the monitor has said last; false: that it does not work, or nothing. */
bool verdict_of(const struct bond *bond, unsigned int slot, enum link_monitor monitor);

#endif
