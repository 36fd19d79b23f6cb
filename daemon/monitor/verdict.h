/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The only way in which a monitor's verdict on a slave's link reaches the bond. A link works if
 * every monitor that has given a verdict on it says so. A monitor without a verdict does not count.
 * bond_link_works() and bond_link_why() read what is written here.
 */
#ifndef XBOND_DAEMON_MONITOR_VERDICT_H
#define XBOND_DAEMON_MONITOR_VERDICT_H

#include "daemon/bond/bond.h"

/*
 * Sets a verdict that was just found out. Returns true if the link works now and did not, or the
 * other way round. Does not evaluate.
 */
bool verdict_set(struct bond *bond, unsigned int slot, enum link_monitor monitor, bool works);
/* The last verdict of the monitor; false: the link does not work, or there is no verdict. */
bool verdict_of(const struct bond *bond, unsigned int slot, enum link_monitor monitor);

#endif
