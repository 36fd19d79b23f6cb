/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/active.h"

static bool has(uint64_t mask, unsigned int slot)
{
	return slot < XBOND_MAX_SLAVES && mask >> slot & 1;
}

static unsigned int lowest(uint64_t mask)
{
	return mask ? (unsigned int)__builtin_ctzll(mask) : XBOND_NO_SLOT;
}

static struct active_choice choice(unsigned int slot, bool by_hand)
{
	return (struct active_choice){ .slot = slot, .by_hand = by_hand };
}

struct active_choice active_choose(const struct active_input *input, bool by_hand)
{
	uint64_t good = input->up & ~input->drained;
	bool keep = has(input->keepable, input->current) &&
		    (!has(input->drained, input->current) || !good);

	if (has(good, input->requested))
		return choice(input->requested, true);
	if (!keep || has(input->came_up, input->primary) || input->primary_changed)
		by_hand = false;
	if (has(good, input->primary) && !by_hand)
		return choice(input->primary, false);
	if (keep)
		return choice(input->current, by_hand);
	return choice(lowest(good ? good : input->up), false);
}
