/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a decision from the verdicts on the slaves' links: delays, the active slave, shares, and
 * which slaves may receive. Called by evaluate.c. The rules themselves are in rules/.
 */

#include "bpf/rules.h"
#include "bpf/slots.h"
#include "common/clock.h"
#include "common/mode.h"
#include "daemon/bond/decision.h"
#include "daemon/bond/evaluate.h"
#include "rules/active.h"
#include "rules/buckets.h"
#include "rules/link_state.h"

static uint64_t decide_up_mask(struct bond *bond)
{
	uint64_t mask = 0;

	bond_for_each_member (bond, slot)
		if (bond_slave(bond, slot)->link == XBOND_LINK_UP)
			mask |= slots_bit(slot);
	return mask;
}

static void decide_step_link(struct bond *bond, unsigned int slot, uint64_t now_ns)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	struct member *member = &bond->members[slot];
	struct carrier_input input = {
		.carrier = bond_link_works(bond, slot),
		.needed = !(decide_up_mask(bond) & ~slots_bit(slot)),
		.now_ns = now_ns,
		.updelay_ms = bond_pin(bond)->updelay_ms,
		.downdelay_ms = bond_pin(bond)->downdelay_ms,
	};
	struct carrier_state state = { .link = slave->link,
				       .deadline_ns = member->delay.deadline_ns };

	state = carrier_next(state, &input);
	if (state.link == XBOND_LINK_DOWN && slave->link != XBOND_LINK_DOWN &&
	    slave->link != XBOND_LINK_GOING_UP) {
		if (!slots_have(bond->rx_turn.reset, slot))
			slave->link_failures++;
		else if (slave->resets < UINT16_MAX)
			slave->resets++;
	}
	if (slave->link == XBOND_LINK_DOWN && state.link != XBOND_LINK_DOWN)
		member->delay.back_ns = now_ns;
	slave->link = state.link;
	member->delay.deadline_ns = state.deadline_ns;
}

/* Links that go down come first, because they decide whether a link that comes up is needed. */
void decide_links(struct bond *bond, struct decision *decision)
{
	uint64_t now_ns = clock_now_ns();

	bond_for_each_member (bond, slot)
		decision->before[slot] = bond_slave(bond, slot)->link;
	for (int works = 0; works <= 1; works++)
		bond_for_each_member (bond, slot)
			if (bond_link_works(bond, slot) == works)
				decide_step_link(bond, slot, now_ns);
	bond_for_each_member (bond, slot) {
		enum xbond_link link = bond_slave(bond, slot)->link;

		decision->members |= slots_bit(slot);
		if (link == XBOND_LINK_UP)
			decision->up |= slots_bit(slot);
		if (link == XBOND_LINK_UP || link == XBOND_LINK_GOING_DOWN)
			decision->usable |= slots_bit(slot);
		if (link == XBOND_LINK_UP && decision->before[slot] != XBOND_LINK_UP)
			decision->came_up |= slots_bit(slot);
	}
}

/*
 * Those of these slots that may have flows: not a slave that is about to change its receive hook,
 * if there are others.
 */
static uint64_t decide_keepers(const struct bond *bond, uint64_t mask)
{
	return drain_usable(mask, bond->rx_turn.drained);
}

static void decide_weights(struct bond *bond, struct decision *decision)
{
	weights_of(&bond->dataplane.pins,
		   drain_usable(decide_keepers(bond, decision->usable), decision->drained),
		   decision->plan.member_weight, decision->plan.weight);
}

static unsigned int decide_requested_slot(struct bond *bond, uint32_t request)
{
	const struct pins *pins = &bond->dataplane.pins;

	return request == pins->table->active_request ? XBOND_NO_SLOT : pins->settings->active_slot;
}

static void decide_fill_links(struct bond *bond, struct active_link *links)
{
	bond_for_each_member (bond, slot) {
		const struct xbond_slave *slave = bond_slave(bond, slot);

		links[slot] = (struct active_link){ .prio = slave->prio,
						    .speed_mbps = slave->speed_mbps,
						    .duplex = slave->duplex };
	}
}

static uint64_t decide_unsure(struct bond *bond)
{
	uint64_t unsure = 0;

	bond_for_each_member (bond, slot)
		if (!bond_knows_speed(bond, slot))
			unsure |= slots_bit(slot);
	return unsure;
}

static void decide_active(struct bond *bond, struct decision *decision)
{
	struct xbond_bond *pin = bond_pin(bond);
	int primary = pins_slot_by_name(&bond->dataplane.pins, pin->primary);
	struct active_input input = {
		.up = decide_keepers(bond, decision->up),
		.keepable = decide_keepers(bond, decision->usable),
		.drained = decision->drained,
		.came_up = decision->came_up,
		.unsure = decide_unsure(bond),
		.current = pin->active_slot,
		.primary = primary < 0 ? XBOND_NO_SLOT : (unsigned int)primary,
		.requested = decide_requested_slot(bond, decision->active_request),
		.reselect = pin->primary_reselect,
		.primary_due = pin->primary_due,
		.again = bond->evaluation.active_again,
		.free = bond->evaluation.active_free,
	};
	struct active_choice choice;

	decide_fill_links(bond, input.link);
	active_order(&input, decide_keepers(bond, decision->members), decision->plan.order);
	choice = active_choose(&input, pin->active_by_hand);
	decision->plan.active_slot = choice.slot;
	pin->active_by_hand = choice.by_hand;
	pin->primary_due = choice.primary_due;
	bond->evaluation.active_again = bond->evaluation.active_free = false;
}

/* What other slaves than the active one receive is duplicates, except while the detour uses them.
 */
static uint64_t decide_rx_mask(struct bond *bond, const struct decision *decision)
{
	unsigned int active = decision->plan.active_slot;

	if (!mode_has(bond_pin(bond)->mode, MODE_ACTIVE) || bond_pin(bond)->all_slaves_active)
		return decision->members & bond_lacp_collecting(bond);
	if (active == XBOND_NO_SLOT || !(decision->up & slots_bit(active)))
		return decision->up;
	return slots_bit(active);
}

void decide(struct bond *bond, struct decision *decision)
{
	struct xbond_bond *pin = bond_pin(bond);

	decision->active_before = pin->active_slot;
	decision->active_request =
		__atomic_load_n(&bond->dataplane.pins.settings->active_request, __ATOMIC_ACQUIRE);
	decision->carrier_before = pin->carrier;
	decision->drained = bond->dataplane.pins.settings->drain_mask & decision->members;
	/* In 802.3ad a link that is up carries traffic only if LACP allows it. */
	decision->linked = decision->up;
	decision->up &= bond_lacp_distributing(bond);
	decision->usable &= bond_lacp_distributing(bond);
	decision->carrier = carrier_has_enough(decision->usable, pin->min_links);
	decision->plan.selection = mode_selection(pin);
	decision->plan.active_slot = XBOND_NO_SLOT;
	decide_weights(bond, decision);
	if (mode_has(pin->mode, MODE_ACTIVE))
		decide_active(bond, decision);
	decision->rx_mask = decide_rx_mask(bond, decision);
	decision->up &= ~bond->rx_turn.out;
	decision->linked &= ~bond->rx_turn.out;
}
