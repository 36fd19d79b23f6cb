/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kinds of device that bond0 can be: one end of a pair, of two kinds, or a team. Decides which
 * one a bond gets, and makes it. Called by device.c; knows nothing of programs.
 */
#ifndef XBOND_DAEMON_DEVICE_DEVICE_PAIR_H
#define XBOND_DAEMON_DEVICE_DEVICE_PAIR_H

#include "daemon/bond/bond.h"

/*
 * Makes the pair with the names of the bond, or the team, and records its kind. -EOPNOTSUPP: netkit
 * or a team was requested by name.
 */
int device_pair_make(struct bond *bond, uint32_t bond_mtu, uint32_t port_mtu, struct err *err);

#endif
