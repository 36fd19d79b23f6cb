/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Somebody has given bond0 another MAC address or MTU: every slave takes it, or bond0 gets its old
 * one back, because kernel bonding would have refused it. Called by device_sync.c with the present
 * values of bond0.
 */
#ifndef XBOND_DAEMON_DEVICE_DEVICE_VALUES_H
#define XBOND_DAEMON_DEVICE_DEVICE_VALUES_H

#include <stdint.h>

#include "daemon/bond/bond.h"

void device_follow_mac(struct bond *bond, const uint8_t *mac);
/*
 * For a bond that is adopted: its members get its MAC address. A bondd that died may have taken a
 * new address from bond0, but may not have come to the slave that refuses it.
 */
void device_adopt_mac(struct bond *bond);
void device_follow_mtu(struct bond *bond, uint32_t mtu);

#endif
