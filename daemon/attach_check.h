/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Are the TC and netkit programs of a bond where they must be? Looks at each attachment, puts back
 * what somebody has taken off, replaces what another build has attached; counts and says what it
 * found (xbond_attached). XDP programs: xdp.c, xdp_upgrade.c.
 */
#ifndef XBOND_DAEMON_ATTACH_CHECK_H
#define XBOND_DAEMON_ATTACH_CHECK_H

#include "daemon/bond.h"

/*
 * Now and then: everything. Some three system calls for each attachment. While a bond is adopted
 * (bond->adopting), programs of another build are no loss.
 */
void attach_check(struct bond *bond);
/* After news of the slave's filters. */
void attach_check_slave(struct bond *bond, unsigned int slot);
/*
 * Of bond0 and the port side. came_back: bond0 was in another namespace, and left its filters
 * behind.
 */
void attach_check_pair(struct bond *bond, bool came_back);
/*
 * One more loss, of the slot, or of the pair (XBOND_MAX_SLAVES), that another module has found and
 * put right.
 */
void attach_check_count(struct bond *bond, unsigned int slot);
/* The slot ends. */
void attach_check_forget(struct bond *bond, unsigned int slot);

#endif
