/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a device is administratively down. The maps do not have that. */
#ifndef XBOND_COMMON_SET_DOWN_H
#define XBOND_COMMON_SET_DOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"

/* What is said of it; with the bond's name. */
#define SET_DOWN_BOND "the bond is administratively down: 'ip link set %s up' brings it up"

/*
 * False also if it is unknown, because the device is in another network namespace. There may be
 * a device of the same name here, so its MAC address must be this one, too.
 */
bool set_down_is(const char *name, const uint8_t mac[XBOND_MAC_SIZE]);

#endif
