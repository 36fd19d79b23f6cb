/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The devmap by which XDP programs broadcast: the bond's own, and those of others. The other one,
 * which says what device a slot is, follows dataplane_set_device().
 */
#ifndef XBOND_DAEMON_BOND_XDP_DEVMAP_H
#define XBOND_DAEMON_BOND_XDP_DEVMAP_H

#include "daemon/bond/bond.h"

/* mask: the slots by which a broadcast leaves. */
void xdp_devmap_publish(struct bond *bond, uint64_t mask);

#endif
