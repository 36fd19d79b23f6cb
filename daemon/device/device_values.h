/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * MAC address and MTU that somebody has given bond0: every slave takes them, or bond0 gets its old
 * ones back, as the kernel's bonding would have refused. Called by device_sync.c with what bond0
 * has now.
 */
#ifndef XBOND_DAEMON_DEVICE_DEVICE_VALUES_H
#define XBOND_DAEMON_DEVICE_DEVICE_VALUES_H

#include <stdint.h>

#include "daemon/bond/bond.h"

void device_follow_mac(struct bond *bond, const uint8_t *mac);
/*
 * Of a bond that is adopted: its members get its MAC address. A bondd that died may have taken one
 * over from bond0, and not have come to the slave that refuses it.
 */
void device_adopt_mac(struct bond *bond);
void device_follow_mtu(struct bond *bond, uint32_t mtu);

#endif
