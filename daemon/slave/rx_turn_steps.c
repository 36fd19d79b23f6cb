/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/slave/slave_rx.h"

#include "bpf/slots.h"
#include "common/clock.h"
#include "daemon/base/main_loop.h"
#include "daemon/bond/bond.h"
#include "daemon/bond/daemon.h"
#include "daemon/bond/evaluate.h"
#include "daemon/lacp_thread/lacp_thread.h"
#include "daemon/monitor/monitor.h"
#include "daemon/slave/slave.h"

#define DRAIN_NS (5000 * NS_PER_MS) /* longer than markers take */
/* The time until a partner sends elsewhere; kernel bonding checks ten times a second. */
#define PARTNER_NS (500 * NS_PER_MS)
#define RETURN_NS (15000 * NS_PER_MS) /* for a slow NIC, and LACP after that */

enum rx_turn_step {
	RX_TURN_NONE,
	RX_TURN_DRAINING,  /* its flows go to others */
	RX_TURN_LEAVING,   /* it has no flows any more, and its LACP partner is told */
	RX_TURN_RETURNING, /* changed; its return is awaited */
};

/* What decisions need of it is in bond->rx_turn. */
struct rx_turn {
	uint64_t due; /* slots that have not had their turn yet */
	enum rx_turn_step step;
	unsigned int slot; /* whose turn it is, except in RX_TURN_NONE */
	uint64_t deadline_ns;
};

static struct rx_turn *rx_turn_of(const struct bond *bond)
{
	return part_of_bond(bond, &rx_turn_part);
}

static void rx_turn_set_step(struct bond *bond, enum rx_turn_step step)
{
	struct rx_turn *turn = rx_turn_of(bond);
	uint64_t slot = slots_bit(turn->slot);

	turn->step = step;
	bond->rx_turn.out = step == RX_TURN_LEAVING ? slot : 0;
	bond->rx_turn.drained = step == RX_TURN_DRAINING ? slot : bond->rx_turn.out;
}

static bool rx_turn_has_carrier(struct bond *bond, unsigned int slot)
{
	return ethtool_carrier(&bond->daemon->ethtool, bond_slave(bond, slot)->name) > 0;
}

/* The slaves that carry traffic, or would. */
static uint64_t rx_turn_working(struct bond *bond)
{
	uint64_t mask = 0;

	bond_for_each_member (bond, slot)
		if (bond_slave(bond, slot)->link == XBOND_LINK_UP &&
		    rx_turn_has_carrier(bond, slot))
			mask |= slots_bit(slot);
	return mask & bond_lacp_distributing(bond);
}

static uint32_t rx_turn_changes(struct bond *bond, unsigned int slot)
{
	struct link_info link;

	return link_get(&bond->daemon->nl, -1, (int)bond_slave(bond, slot)->ifindex, &link)
		       ? 0
		       : link.carrier_changes;
}

/* Returns true if this has cost its carrier. */
static bool rx_turn_change(struct bond *bond, unsigned int slot, int *ret_r, struct err *ret_why)
{
	bool had = rx_turn_has_carrier(bond, slot), lost;
	uint32_t before = rx_turn_changes(bond, slot);

	/* The loss may be noticed before this returns. */
	bond->rx_turn.reset |= slots_bit(slot);
	*ret_r = xdp_settle_slave(bond, slot, ret_why);
	lost = had && (!rx_turn_has_carrier(bond, slot) || rx_turn_changes(bond, slot) != before);
	if (lost) {
		verdict_set(bond, slot, XBOND_MONITOR_CARRIER, false);
		bond_lacp_note_flap(bond, slot);
	} else {
		bond->rx_turn.reset &= ~slots_bit(slot);
	}
	return lost;
}

static void rx_turn_enter(struct bond *bond, enum rx_turn_step step, uint64_t limit_ns)
{
	rx_turn_set_step(bond, step);
	rx_turn_of(bond)->deadline_ns = clock_now_ns() + limit_ns;
	bond_evaluate(bond);
}

/* The active slave is the last one, so there is one failover and not two. */
static unsigned int rx_turn_next(struct bond *bond)
{
	uint64_t due = rx_turn_of(bond)->due, first = due;

	if (bond_pin(bond)->active_slot < XBOND_MAX_SLAVES)
		first &= ~slots_bit(bond_pin(bond)->active_slot);
	return (unsigned int)__builtin_ctzll(first ? first : due);
}

/* A slave that carries nothing, or is alone, needs no handover. */
static void rx_turn_begin(struct bond *bond, unsigned int slot, int *ret_r, struct err *ret_why)
{
	uint64_t working;

	rx_turn_of(bond)->slot = slot;
	rx_turn_of(bond)->due &= ~slots_bit(slot);
	if (!bond_is_member(bond, slot))
		return;
	if (xdp_is_settled(bond, slot) || xdp_is_gentle(bond, slot)) {
		*ret_r = xdp_settle_slave(bond, slot, ret_why);
		return;
	}
	working = rx_turn_working(bond);
	if (working & slots_bit(slot) && working & ~slots_bit(slot))
		rx_turn_enter(bond, RX_TURN_DRAINING, DRAIN_NS);
	else if (rx_turn_change(bond, slot, ret_r, ret_why))
		rx_turn_enter(bond, RX_TURN_RETURNING, RETURN_NS);
}

/* The plan in force gives it no traffic, and what was sent has arrived. */
static bool rx_turn_is_drained(struct bond *bond)
{
	unsigned int slot = rx_turn_of(bond)->slot;

	return bond->evaluation.published && !bond->evaluation.plan.weight[slot] &&
	       bond->evaluation.plan.active_slot != slot &&
	       !(bond_lacp_thread(bond) &&
		 lacp_thread_draining(bond_lacp_thread(bond)) & slots_bit(slot));
}

static bool rx_turn_is_back(struct bond *bond)
{
	return rx_turn_working(bond) & slots_bit(rx_turn_of(bond)->slot);
}

/* A slave that does not come back delays the next one only if that one is the last that works. */
static bool rx_turn_may_go_on(struct bond *bond)
{
	uint64_t working = rx_turn_working(bond);

	return !working || working & (working - 1);
}

static void rx_turn_leave(struct bond *bond, int *ret_r, struct err *ret_why)
{
	unsigned int slot = rx_turn_of(bond)->slot;

	dataplane_quiesce();
	bond->dataplane.settled = true;
	rx_turn_change(bond, slot, ret_r, ret_why);
	rx_turn_enter(bond, RX_TURN_RETURNING, RETURN_NS);
}

static void rx_turn_end(struct bond *bond)
{
	bond->rx_turn.reset &= ~slots_bit(rx_turn_of(bond)->slot);
	rx_turn_set_step(bond, RX_TURN_NONE);
}

/* Returns true if there is more to do at once. */
static bool rx_turn_go_on(struct bond *bond, int *ret_r, struct err *ret_why)
{
	struct rx_turn *turn = rx_turn_of(bond);
	bool late = clock_now_ns() >= turn->deadline_ns;

	*ret_r = 0;
	if (turn->step != RX_TURN_NONE && !bond_is_member(bond, turn->slot)) {
		rx_turn_end(bond);
		return true;
	}
	switch (turn->step) {
	case RX_TURN_NONE:
		if (!turn->due)
			return false;
		rx_turn_begin(bond, rx_turn_next(bond), ret_r, ret_why);
		return true;
	case RX_TURN_DRAINING:
		if (!rx_turn_is_drained(bond) && !late)
			return false;
		rx_turn_enter(bond, RX_TURN_LEAVING, bond_lacp_thread(bond) ? PARTNER_NS : 0);
		return true;
	case RX_TURN_LEAVING:
		if (!late)
			return false;
		rx_turn_leave(bond, ret_r, ret_why);
		return true;
	case RX_TURN_RETURNING:
		if (!rx_turn_is_back(bond) && !(late && rx_turn_may_go_on(bond)))
			return false;
		rx_turn_end(bond);
		return true;
	}
	return false;
}

static int rx_turn_run(struct bond *bond, struct err *ret_why)
{
	int first = 0, r;
	struct err why;

	while (rx_turn_go_on(bond, &r, &why)) {
		idle_turn();
		if (!r || first)
			continue;
		first = err_set(ret_why, -r, "%s: %s",
				bond_slave(bond, rx_turn_of(bond)->slot)->name, why.text);
	}
	return first;
}

int rx_turn_start(struct bond *bond, struct err *ret_why)
{
	rx_turn_of(bond)->due |= bond_members(bond);
	return rx_turn_run(bond, ret_why);
}

void rx_turn_ask(struct bond *bond, unsigned int slot)
{
	if (!bond_is_member(bond, slot)) {
		xdp_settle_slave(bond, slot, NULL);
		return;
	}
	rx_turn_of(bond)->due |= slots_bit(slot);
	if (bond_is_ready(bond)) /* while it is adopted, rx_turn_start() comes later */
		rx_turn_run(bond, NULL);
}

void rx_turn_ask_again(struct bond *bond)
{
	bond_for_each_member (bond, slot)
		if (xdp_ask_again(bond, slot))
			rx_turn_of(bond)->due |= slots_bit(slot);
	rx_turn_run(bond, NULL);
}

void rx_turn_step(struct bond *bond)
{
	rx_turn_run(bond, NULL);
}

/* Whoever gets the slot next has no part in this one's turn. */
static void rx_turn_forget(struct bond *bond, unsigned int slot)
{
	struct rx_turn *turn = rx_turn_of(bond);

	turn->due &= ~slots_bit(slot);
	bond->rx_turn.reset &= ~slots_bit(slot);
	if (turn->slot == slot)
		rx_turn_set_step(bond, RX_TURN_NONE);
}

struct part rx_turn_part = { .bond_size = sizeof(struct rx_turn), .forget = rx_turn_forget };
