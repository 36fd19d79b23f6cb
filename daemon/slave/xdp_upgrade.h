/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * XDP programs that another build has attached are replaced by this one's, in their links or in
 * libxdp's dispatcher: a program follows a program, so no driver resets its NIC for it.
 */
#ifndef XBOND_DAEMON_SLAVE_XDP_UPGRADE_H
#define XBOND_DAEMON_SLAVE_XDP_UPGRADE_H

#include "daemon/bond/bond.h"

/*
 * At adoption. Where this build's program cannot be attached the other one stays, and that is told.
 */
void xdp_upgrade_slave(struct bond *bond, unsigned int slot);
void xdp_upgrade_tx(struct bond *bond);

#endif
