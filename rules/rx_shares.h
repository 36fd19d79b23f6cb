/* SPDX-License-Identifier: GPL-2.0-or-later */
/* balance-alb: which slave the neighbours send to. Pure. */
#ifndef XBOND_RULES_RX_SHARES_H
#define XBOND_RULES_RX_SHARES_H

#include <stdint.h>

#include "bpf/abi.h"

/*
 * Neighbours are numbered as they are met, so they are dealt out to the members in turn. Those
 * whose slot is not usable are dealt out to the others, and go back when it returns. Of the usable
 * slots only the fastest count (0 Mbit/s: unknown, as fast as any), as kernel bonding has it.
 * Without a usable slot all is XBOND_NO_SLOT.
 */
void rx_shares(uint8_t ret_slot[XBOND_RLB_SHARES], uint64_t members, uint64_t usable,
	       const uint32_t speed_mbps[XBOND_MAX_SLAVES]);

#endif
