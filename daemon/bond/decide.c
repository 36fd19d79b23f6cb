/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a decision from the verdicts on the slaves' links: delays, the active slave, shares, and
 * which slaves may receive. Called by evaluate.c, and calls it when a delay has ended. The rules
 * themselves are in rules/.
 */

#include "bpf/slots.h"
#include "common/clock.h"
#include "common/mode.h"
#include "daemon/base/main_loop.h"
#include "daemon/bond/daemon.h"
#include "daemon/bond/evaluate.h"
#include "daemon/bond/part.h"
#include "rules/active.h"
#include "rules/buckets.h"
#include "rules/link_state.h"

#define DELAY_ACCURACY_US 1000

/* Of a slave. */
struct delay {
	uint64_t deadline_ns; /* of updelay or downdelay; 0: neither runs */
	uint64_t back_ns;     /* when its link began to work last; 0: before bondd */
	uint64_t speed_ns;    /* when the speed that is known was asked for; 0: at first */
};

static struct delay *delay_of(const struct bond *bond, unsigned int slot)
{
	return part_of_member(bond, &delay_part, slot);
}

static sd_event_source **delay_timer(const struct bond *bond)
{
	return part_of_bond(bond, &delay_part);
}

void delay_note_speed(struct bond *bond, unsigned int slot, uint64_t asked_ns)
{
	delay_of(bond, slot)->speed_ns = asked_ns;
}

bool delay_knows_speed(const struct bond *bond, unsigned int slot)
{
	const struct delay *delay = delay_of(bond, slot);

	return delay->speed_ns >= delay->back_ns;
}

static uint64_t delay_first_ns(struct bond *bond)
{
	uint64_t first_ns = UINT64_MAX;

	bond_for_each_member (bond, slot) {
		uint64_t deadline_ns = delay_of(bond, slot)->deadline_ns;

		if (deadline_ns && deadline_ns < first_ns)
			first_ns = deadline_ns;
	}
	return first_ns;
}

bool delay_is_over(struct bond *bond, uint64_t now_ns)
{
	return delay_first_ns(bond) <= now_ns;
}

void delay_arm(struct bond *bond)
{
	uint64_t next_ns = delay_first_ns(bond), lacp_ns = bond_lacp_next_ns(bond);

	if (lacp_ns && lacp_ns < next_ns)
		next_ns = lacp_ns;
	loop_timer_at(*delay_timer(bond), next_ns);
}

static int delay_on_time(sd_event_source *source, uint64_t usec, void *arg)
{
	struct bond *bond = arg;

	latency_note("delay");
	burst_begin(bond->daemon);
	bond_evaluate(bond);
	burst_end(bond->daemon);
	return 0;
}

static int delay_start(struct bond *bond)
{
	int r = loop_timer(bond->daemon->event, DELAY_ACCURACY_US, delay_on_time, bond,
			   delay_timer(bond));

	if (!r)
		delay_arm(bond);
	return r;
}

static void delay_stop(struct bond *bond, bool is_over)
{
	*delay_timer(bond) = sd_event_source_disable_unref(*delay_timer(bond));
}

struct part delay_part = { .bond_size = sizeof(sd_event_source *),
			   .member_size = sizeof(struct delay),
			   .start = delay_start,
			   .stop = delay_stop };

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
	struct delay *delay = delay_of(bond, slot);
	struct carrier_input input = {
		.carrier = bond_link_works(bond, slot),
		.needed = !(decide_up_mask(bond) & ~slots_bit(slot)),
		.now_ns = now_ns,
		.updelay_ms = bond_pin(bond)->updelay_ms,
		.downdelay_ms = bond_pin(bond)->downdelay_ms,
	};
	struct carrier_state state = { .link = slave->link, .deadline_ns = delay->deadline_ns };

	state = carrier_next(state, &input);
	if (state.link == XBOND_LINK_DOWN && slave->link != XBOND_LINK_DOWN &&
	    slave->link != XBOND_LINK_GOING_UP) {
		if (!slots_have(bond->rx_turn.reset, slot))
			slave->link_failures++;
		else if (slave->resets < UINT16_MAX)
			slave->resets++;
	}
	if (slave->link == XBOND_LINK_DOWN && state.link != XBOND_LINK_DOWN)
		delay->back_ns = now_ns;
	slave->link = state.link;
	delay->deadline_ns = state.deadline_ns;
}

/* Links that go down come first, because they decide whether a link that comes up is needed. */
void decide_links(struct bond *bond, struct decision *decision)
{
	uint64_t now_ns = clock_now_ns();

	decision->members = bond_members(bond);
	bond_for_each_member (bond, slot)
		decision->before[slot] = bond_slave(bond, slot)->link;
	for (int works = 0; works <= 1; works++)
		bond_for_each_member (bond, slot)
			if (bond_link_works(bond, slot) == works)
				decide_step_link(bond, slot, now_ns);
	bond_for_each_member (bond, slot) {
		enum xbond_link link = bond_slave(bond, slot)->link;

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
		if (!delay_knows_speed(bond, slot))
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
