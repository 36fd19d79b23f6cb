/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/rx_shares.h"

#include "common/slots.h"

static uint64_t rx_shares_fastest(uint64_t usable, const uint32_t *speed_mbps)
{
	uint32_t best = 0;
	uint64_t fastest = 0;

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (slots_have(usable, slot) && speed_mbps[slot] > best)
			best = speed_mbps[slot];
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (slots_have(usable, slot) && (!speed_mbps[slot] || speed_mbps[slot] == best))
			fastest |= slots_bit(slot);
	return fastest;
}

static unsigned int rx_shares_list(uint64_t slots, uint8_t ret_list[XBOND_MAX_SLAVES])
{
	unsigned int count = 0;

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (slots_have(slots, slot))
			ret_list[count++] = (uint8_t)slot;
	return count;
}

void rx_shares(uint8_t ret_slot[XBOND_RLB_SHARES], uint64_t members, uint64_t usable,
	       const uint32_t speed_mbps[XBOND_MAX_SLAVES])
{
	uint64_t fastest = rx_shares_fastest(usable, speed_mbps);
	uint8_t home[XBOND_MAX_SLAVES], other[XBOND_MAX_SLAVES];
	unsigned int homes = rx_shares_list(members | fastest, home);
	unsigned int others = rx_shares_list(fastest, other), turn = 0;

	for (unsigned int i = 0; i < XBOND_RLB_SHARES; i++) {
		if (!others)
			ret_slot[i] = XBOND_NO_SLOT;
		else if (slots_have(fastest, home[i % homes]))
			ret_slot[i] = home[i % homes];
		else
			ret_slot[i] = other[turn++ % others];
	}
}
