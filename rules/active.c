/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/active.h"

#include "bpf/drain.h"
#include "common/slots.h"

/* The lowest slot of those that have the highest prio. */
static unsigned int active_highest(const struct active_input *input, uint64_t slots)
{
	unsigned int best = XBOND_NO_SLOT;

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (slots_have(slots, slot) &&
		    (best == XBOND_NO_SLOT || input->link[slot].prio > input->link[best].prio))
			best = slot;
	return best;
}

static unsigned int active_best(const struct active_input *input, uint64_t slots)
{
	return slots_have(slots, input->primary) ? input->primary : active_highest(input, slots);
}

/* The slave of these that is preferred to the current one, or XBOND_NO_SLOT. */
static unsigned int active_rival(const struct active_input *input, uint64_t slots)
{
	unsigned int best = active_best(input, slots);

	if (best == XBOND_NO_SLOT || input->current == input->primary)
		return XBOND_NO_SLOT;
	if (best == input->primary || input->link[best].prio > input->link[input->current].prio)
		return best;
	return XBOND_NO_SLOT;
}

/* Half before unknown, full before half. */
static unsigned int active_duplex_rank(const struct active_link *link)
{
	return link->duplex <= 1 ? link->duplex + 1 : 0;
}

static bool active_is_faster(const struct active_link *a, const struct active_link *b)
{
	if (a->speed_mbps != b->speed_mbps)
		return a->speed_mbps > b->speed_mbps;
	return active_duplex_rank(a) > active_duplex_rank(b);
}

/*
 * While the downdelay of the current slave runs, its speed says nothing. It is kept, but not
 * against one that comes up.
 */
static bool active_rival_wins(const struct active_input *input, unsigned int rival)
{
	if (input->reselect == XBOND_RESELECT_ALWAYS)
		return true;
	if (!slots_have(input->up, input->current))
		return slots_have(input->came_up, rival) || input->again;
	return input->reselect == XBOND_RESELECT_BETTER && !slots_have(input->unsure, rival) &&
	       !slots_have(input->unsure, input->current) &&
	       active_is_faster(&input->link[rival], &input->link[input->current]);
}

static bool active_is_kept(const struct active_input *input)
{
	return !input->free && slots_have(input->keepable, input->current) &&
	       (!slots_have(input->drained, input->current) || !(input->up & ~input->drained));
}

static void active_choose_kept(const struct active_input *input, uint64_t slots,
			       struct active_choice *choice)
{
	unsigned int rival = active_rival(input, slots);

	if (input->again || slots_have(input->came_up, rival))
		choice->by_hand = false;
	if (rival != XBOND_NO_SLOT && !choice->by_hand && active_rival_wins(input, rival))
		choice->slot = rival;
	else
		choice->slot = input->current;
}

struct active_choice active_choose(const struct active_input *input, bool by_hand)
{
	uint64_t slots = drain_usable(input->up, input->drained);
	bool takes_primary = input->primary_due && slots_have(slots, input->primary);
	struct active_choice choice = { .primary_due = input->primary_due && !takes_primary };

	if (slots_have(slots, input->requested)) {
		choice.slot = input->requested;
		choice.by_hand = true;
	} else if (!active_is_kept(input) || takes_primary) {
		choice.slot = active_best(input, slots);
	} else {
		choice.by_hand = by_hand;
		active_choose_kept(input, slots, &choice);
	}
	return choice;
}

void active_order(const struct active_input *input, uint64_t slots, uint8_t order[XBOND_MAX_SLAVES])
{
	for (unsigned int place = 0; place < XBOND_MAX_SLAVES; place++) {
		unsigned int best = active_best(input, slots);

		order[place] = (uint8_t)best;
		slots &= ~slots_bit(best);
	}
}
