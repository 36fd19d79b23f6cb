/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fail_over_mac: the MAC addresses of bond0 and of the slaves follow the active slave, and then the
 * failover is announced. bond_evaluate() asks for this, because it touches no device itself.
 */
#ifndef XBOND_DAEMON_DEVICE_FAIL_OVER_MAC_H
#define XBOND_DAEMON_DEVICE_FAIL_OVER_MAC_H

#include "daemon/bond/bond.h"

/* Returns -errno. */
int fail_over_mac_start(struct bond *bond);
void fail_over_mac_stop(struct bond *bond);
/* Does what bond_evaluate() has asked for. */
void fail_over_mac_follow(struct bond *bond);
/* The bond is being adopted: what an earlier bondd has begun is due, before it is announced. */
void fail_over_mac_recall(struct bond *bond);

#endif
