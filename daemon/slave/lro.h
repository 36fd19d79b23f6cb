/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Large receive offload makes packets that cannot be sent on as they came. The kernel turns it off
 * on what is below a port of a bridge, but does not know that slaves are below bond0. So it is off
 * on them while bond0, or a device on it, has a master. (Where IP is forwarded, the kernel turns it
 * off on every device of the namespace.) XDP and VLAN devices on a NIC turn it off, too, and
 * nothing turns it on again afterwards.
 */
#ifndef XBOND_DAEMON_SLAVE_LRO_H
#define XBOND_DAEMON_SLAVE_LRO_H

#include "daemon/bond/bond.h"

/* After a message of bond0, and now and then. Costs nothing where no slave has the feature. */
void lro_follow(struct bond *bond);
/* After a message of a device that may be on bond0. */
void lro_follow_upper(struct bond *bond, const struct link_info *link, bool gone);

/* The reasons why it may be off because of us, as flags of a slave's record. */
#define LRO_REASONS (XBOND_SLAVE_HAD_LRO | XBOND_SLAVE_LRO_OFF | XBOND_SLAVE_LRO_VLAN)
/* Before something turns it off for this reason: recorded, if it is on but for the others. */
void lro_hold(struct bond *bond, unsigned int slot, uint32_t reason);
/* The reason is no more; the last one turns it on again. */
void lro_let_go(struct bond *bond, unsigned int slot, uint32_t reason);
/* A slave is released under the name it has now: there are no reasons any more. */
void lro_restore(struct bond *bond, unsigned int slot, const char *name);

#endif
