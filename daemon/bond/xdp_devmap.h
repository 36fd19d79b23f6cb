/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The devmaps of the program at the port side: which device each slot is, and where a broadcast
 * goes.
 */
#ifndef XBOND_DAEMON_BOND_XDP_DEVMAP_H
#define XBOND_DAEMON_BOND_XDP_DEVMAP_H

#include "daemon/bond/bond.h"

/*
 * mask: the slots by which a broadcast leaves. Does nothing while xdp_tx is off, or if nothing has
 * changed.
 */
void xdp_devmap_publish(struct bond *bond, uint64_t mask);

#endif
