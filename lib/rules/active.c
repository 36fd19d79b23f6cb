/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/active.h"

#include "bpf/slots.h"

/* The lowest slot of those that have the highest prio. */
static unsigned int active_highest(const struct active_input *input, uint64_t slots)
{
	unsigned int best = XBOND_NO_SLOT;

	slots_for_each (slots, slot)
		if (best == XBOND_NO_SLOT || input->link[slot].prio > input->link[best].prio)
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

uint64_t standby_next(struct standby_state *state, const struct standby_input *input)
{
	uint64_t left = state->standby & input->selected & ~input->distributing;

	if (left & ~state->coming)
		state->until_ns = input->now_ns + STANDBY_TIME_NS;
	state->standby = input->standby;
	state->coming = (state->coming | left) & ~input->standby & ~input->distributing;
	state->refused &= ~input->distributing;
	if (state->coming && input->now_ns >= state->until_ns) {
		state->refused |= state->coming;
		state->coming = 0;
	}
	if (!state->coming)
		state->until_ns = 0;
	return state->coming | (state->standby & ~state->refused);
}

uint64_t marker_wait_ask(struct marker_wait *wait, const struct marker_wait_input *input)
{
	uint64_t ask;

	if (input->changed)
		wait->asked &= input->draining;
	ask = input->losers & ~wait->asked;
	if (ask && !wait->until_ns)
		wait->until_ns = input->now_ns + MARKER_WAIT_NS;
	wait->asked |= ask;
	return ask;
}

bool marker_wait_goes_on(struct marker_wait *wait, const struct marker_wait_input *input)
{
	if (input->losers & input->draining && input->now_ns < wait->until_ns)
		return true;
	*wait = (struct marker_wait){ 0 };
	return false;
}

uint64_t receivers_fastest(uint64_t working, const uint32_t speed_mbps[XBOND_MAX_SLAVES])
{
	uint64_t fastest = 0;
	uint32_t highest = 0;

	slots_for_each (working, slot) {
		if (speed_mbps[slot] < highest)
			continue;
		if (speed_mbps[slot] > highest)
			fastest = 0;
		highest = speed_mbps[slot];
		fastest |= slots_bit(slot);
	}
	return fastest;
}

static unsigned int receivers_idlest(const size_t *clients, uint64_t among)
{
	unsigned int idlest = XBOND_NO_SLOT;

	slots_for_each (among, slot)
		if (idlest == XBOND_NO_SLOT || clients[slot] < clients[idlest])
			idlest = slot;
	return idlest;
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
		if (slots_have(stays, slot[i]))
			clients[slot[i]]++;
	for (size_t i = 0; i < count; i++)
		if (!slots_have(stays, slot[i]))
			receivers_move(&slot[i], clients, among);
	for (size_t i = 0; level && i < count; i++)
		if (clients[slot[i]] > clients[receivers_idlest(clients, among)] + 1) {
			clients[slot[i]]--;
			receivers_move(&slot[i], clients, among);
		}
}
