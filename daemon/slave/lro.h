/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Large receive offload (LRO) makes packets that cannot be sent on unchanged. The kernel turns it
 * off on devices below a port of a bridge, but does not know that slaves are below bond0. So bondd
 * turns it off on them while bond0, or a device on it, has a master. (Where IP is forwarded, the
 * kernel turns it off on every device of the namespace.) XDP and VLAN devices on a NIC also turn it
 * off, and nothing turns it on again afterwards; nor does it on ports of a team.
 */
#ifndef XBOND_DAEMON_SLAVE_LRO_H
#define XBOND_DAEMON_SLAVE_LRO_H

#include "daemon/bond/bond.h"

/* The reasons for which bondd may have turned it off, as flags of a slave's record. */
#define LRO_REASONS (XBOND_SLAVE_HAD_LRO | XBOND_SLAVE_LRO_OFF | XBOND_SLAVE_LRO_VLAN)
/*
 * Called before something turns it off for this reason: records that, if it is on or off only for
 * other reasons.
 */
void lro_hold(struct bond *bond, unsigned int slot, uint32_t reason);
/* The reason has gone; when the last one goes, it is turned on again. */
void lro_let_go(struct bond *bond, unsigned int slot, uint32_t reason);
#endif
