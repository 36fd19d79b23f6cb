/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Replaces XDP programs that another build has attached by those of this build, in their links or
 * in libxdp's dispatcher. A program directly replaces a program, so no driver resets its NIC.
 */
#ifndef XBOND_DAEMON_SLAVE_XDP_UPGRADE_H
#define XBOND_DAEMON_SLAVE_XDP_UPGRADE_H

#include "daemon/bond/bond.h"

/*
 * Called at adoption; xdp_upgrade_tx() also when a policy has come or gone. If this build's program
 * cannot be attached, the other one stays, and the log says so.
 */
void xdp_upgrade_slave(struct bond *bond, unsigned int slot);
void xdp_upgrade_tx(struct bond *bond);

#endif
