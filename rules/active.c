/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/active.h"

#include "common/slots.h"

static unsigned int active_lowest(uint64_t mask)
{
	return mask ? (unsigned int)__builtin_ctzll(mask) : XBOND_NO_SLOT;
}

static struct active_choice active_choice_of(unsigned int slot, bool by_hand)
{
	return (struct active_choice){ .slot = slot, .by_hand = by_hand };
}

struct active_choice active_choose(const struct active_input *input, bool by_hand)
{
	uint64_t good = input->up & ~input->drained;
	bool keep = slots_have(input->keepable, input->current) &&
		    (!slots_have(input->drained, input->current) || !good);

	if (slots_have(good, input->requested))
		return active_choice_of(input->requested, true);
	if (!keep || slots_have(input->came_up, input->primary) || input->primary_changed)
		by_hand = false;
	if (slots_have(good, input->primary) && !by_hand)
		return active_choice_of(input->primary, false);
	if (keep)
		return active_choice_of(input->current, by_hand);
	return active_choice_of(active_lowest(good ? good : input->up), false);
}
