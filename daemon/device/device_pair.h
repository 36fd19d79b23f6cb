/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The two kinds of pair that bond0 may be one end of: which one a bond gets, and making it.
 * Called by device.c; knows nothing of programs.
 */
#ifndef XBOND_DAEMON_DEVICE_DEVICE_PAIR_H
#define XBOND_DAEMON_DEVICE_DEVICE_PAIR_H

#include "daemon/bond/bond.h"

/*
 * Makes the pair of the bond's names, and records its kind. -EOPNOTSUPP: netkit was asked for by
 * name.
 */
int device_pair_make(struct bond *bond, uint32_t bond_mtu, uint32_t port_mtu, struct err *err);
/* A netkit has no XDP: refuses the options of a bond that ask for both. */
int device_pair_check(const struct xbond_bond *pin, struct err *err);

#endif
