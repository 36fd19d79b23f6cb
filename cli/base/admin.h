/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a bond's device is administratively down. The maps do not have that. */
#ifndef XBOND_CLI_BASE_ADMIN_H
#define XBOND_CLI_BASE_ADMIN_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"

/* What is said of it; with the bond's name. */
#define ADMIN_IS_DOWN "the bond is administratively down: 'ip link set %s up' brings it up"

/*
 * False also if it is unknown, because the device is in another network namespace. There may be
 * a device of the same name here, so its MAC address must be the bond's, too.
 */
bool admin_is_down(const char *bond, const uint8_t mac[XBOND_MAC_SIZE]);

#endif
