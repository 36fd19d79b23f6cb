/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/receivers.h"

uint64_t receivers_fastest(uint64_t working, const uint32_t speed_mbps[XBOND_MAX_SLAVES])
{
	uint64_t fastest = 0;
	uint32_t highest = 0;

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		if (!(working >> slot & 1) || speed_mbps[slot] < highest)
			continue;
		if (speed_mbps[slot] > highest)
			fastest = 0;
		highest = speed_mbps[slot];
		fastest |= 1ULL << slot;
	}
	return fastest;
}

static unsigned int receivers_idlest(const size_t *clients, uint64_t among)
{
	unsigned int idlest = XBOND_NO_SLOT;

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (among >> slot & 1 &&
		    (idlest == XBOND_NO_SLOT || clients[slot] < clients[idlest]))
			idlest = slot;
	return idlest;
}

static bool receivers_may_stay(uint8_t slot, uint64_t working)
{
	return slot < XBOND_MAX_SLAVES && working >> slot & 1;
}

static void receivers_move(uint8_t *slot, size_t *clients, uint64_t among)
{
	*slot = (uint8_t)receivers_idlest(clients, among);
	clients[*slot]++;
}

void receivers_share(uint8_t *slot, size_t count, uint64_t working, uint64_t among, bool level)
{
	uint64_t stays = level ? among : working;
	size_t clients[XBOND_MAX_SLAVES] = { 0 };

	if (!among)
		return;
	for (size_t i = 0; i < count; i++)
		if (receivers_may_stay(slot[i], stays))
			clients[slot[i]]++;
	for (size_t i = 0; i < count; i++)
		if (!receivers_may_stay(slot[i], stays))
			receivers_move(&slot[i], clients, among);
	for (size_t i = 0; level && i < count; i++)
		if (clients[slot[i]] > clients[receivers_idlest(clients, among)] + 1) {
			clients[slot[i]]--;
			receivers_move(&slot[i], clients, among);
		}
}
