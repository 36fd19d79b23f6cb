/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * balance-alb: which slave each client sends to, after slaves have failed, come back or changed.
 * Pure; bondd tells the clients.
 */
#ifndef XBOND_RULES_RECEIVERS_H
#define XBOND_RULES_RECEIVERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"

/*
 * The slots that are to get clients: of `working` those of the highest speed, as in the kernel's
 * driver. Speeds that are unknown are the lowest.
 */
uint64_t receivers_fastest(uint64_t working, const uint32_t speed_mbps[XBOND_MAX_SLAVES]);
/*
 * slot: of each client, or XBOND_NO_SLOT. Those whose slot is not in `working` get one of `among`,
 * the one with the fewest clients. level: also shares out all clients evenly among these, and moves
 * no more of them than that takes. `among` is a part of `working`; without any, nothing changes.
 */
void receivers_share(uint8_t *slot, size_t count, uint64_t working, uint64_t among, bool level);

#endif
