/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The door through which every verdict on a slave's link reaches its bond. The monitors call it;
 * bond_link_works() and bond_link_why() read what they said. The map of monitors has a copy.
 */
#ifndef XBOND_DAEMON_MONITOR_VERDICT_H
#define XBOND_DAEMON_MONITOR_VERDICT_H

#include "daemon/bond/bond.h"

/*
 * The monitor says whether the link works. Returns true if it has not said so before; the caller
 * then evaluates the bond.
 */
bool verdict_set(struct bond *bond, unsigned int slot, enum xbond_monitor monitor, bool works);
/* It no longer has a verdict. Returns true if its last one was no; the caller then evaluates. */
bool verdict_forget(struct bond *bond, unsigned int slot, enum xbond_monitor monitor);
/* Does the monitor say that the link works? */
bool verdict_of(const struct bond *bond, unsigned int slot, enum xbond_monitor monitor);
/* Has it a verdict? */
bool verdict_is_known(const struct bond *bond, unsigned int slot, enum xbond_monitor monitor);

/* The slave is new: nobody has a verdict. */
void verdict_begin(struct bond *bond, unsigned int slot);
/* The slave is taken over from another bondd, with the verdicts that it left. */
void verdict_adopt(struct bond *bond, unsigned int slot);

#endif
