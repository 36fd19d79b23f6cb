/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/bond.h"

#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "bpf/drain.h"
#include "common/clock.h"
#include "common/mode.h"
#include "common/weights.h"
#include "daemon/active.h"
#include "daemon/announce.h"
#include "daemon/bond_lacp.h"
#include "daemon/burst.h"
#include "daemon/bypass.h"
#include "daemon/carrier.h"
#include "daemon/daemon.h"
#include "daemon/device.h"
#include "daemon/device_pair.h"
#include "daemon/latency.h"
#include "daemon/log.h"
#include "daemon/xdp_devmap.h"

#define TIMER_ACCURACY_US 1000

static const char *const link_words[] = {
	[XBOND_LINK_DOWN] = "down",
	[XBOND_LINK_UP] = "up",
	[XBOND_LINK_GOING_UP] = "going up",
	[XBOND_LINK_GOING_DOWN] = "going down",
};

/* One evaluation: what was, what is, what follows. */
struct decision {
	enum xbond_link before[XBOND_MAX_SLAVES];
	uint64_t members, up, usable; /* usable: up, or its downdelay runs */
	uint64_t linked;	      /* up, whatever LACP says */
	uint64_t came_up, drained;
	uint64_t rx_mask;
	unsigned int active_before;
	uint32_t active_request; /* of settings, as answered by this decision */
	bool carrier, carrier_before;
	struct dataplane_plan plan;
};

static uint64_t bit(unsigned int slot)
{
	return UINT64_C(1) << slot;
}

int bond_slot_by_ifindex(struct bond *bond, int ifindex)
{
	bond_for_each_member (bond, slot)
		if ((int)bond_slave(bond, slot)->ifindex == ifindex)
			return (int)slot;
	return -1;
}

unsigned int bond_slave_count(struct bond *bond)
{
	unsigned int count = 0;

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		count += bond_slave(bond, slot)->state != XBOND_SLOT_FREE;
	return count;
}

bool bond_wants_direct(const struct bond *bond)
{
	const struct pins *pins = &bond->dataplane.pins;

	return pins->settings->path == XBOND_PATH_DIRECT || pins->bond->xdp_tx;
}

static uint64_t up_mask(struct bond *bond)
{
	uint64_t mask = 0;

	bond_for_each_member (bond, slot)
		if (bond_slave(bond, slot)->link == XBOND_LINK_UP)
			mask |= bit(slot);
	return mask;
}

static void step_link(struct bond *bond, unsigned int slot, uint64_t now_ns)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	struct member *member = &bond->members[slot];
	struct carrier_input input = {
		.carrier = member->carrier,
		.needed = !(up_mask(bond) & ~bit(slot)),
		.now_ns = now_ns,
		.updelay_ms = bond_pin(bond)->updelay_ms,
		.downdelay_ms = bond_pin(bond)->downdelay_ms,
	};
	struct carrier_state state = { .link = slave->link, .deadline_ns = member->deadline_ns };

	state = carrier_next(state, &input);
	if (state.link == XBOND_LINK_DOWN && slave->link != XBOND_LINK_DOWN &&
	    slave->link != XBOND_LINK_GOING_UP) {
		if (!rx_turn_has_reset(bond, slot))
			slave->link_failures++;
		else if (slave->resets < UINT16_MAX)
			slave->resets++;
	}
	slave->link = state.link;
	member->deadline_ns = state.deadline_ns;
}

/* Falling links first: whether a rising one is needed depends on them. */
static void step_links(struct bond *bond, struct decision *decision)
{
	uint64_t now_ns = clock_now_ns();

	bond_for_each_member (bond, slot)
		decision->before[slot] = bond_slave(bond, slot)->link;
	for (int carrier = 0; carrier <= 1; carrier++)
		bond_for_each_member (bond, slot)
			if (bond->members[slot].carrier == carrier)
				step_link(bond, slot, now_ns);
	bond_for_each_member (bond, slot) {
		enum xbond_link link = bond_slave(bond, slot)->link;

		decision->members |= bit(slot);
		if (link == XBOND_LINK_UP)
			decision->up |= bit(slot);
		if (link == XBOND_LINK_UP || link == XBOND_LINK_GOING_DOWN)
			decision->usable |= bit(slot);
		if (link == XBOND_LINK_UP && decision->before[slot] != XBOND_LINK_UP)
			decision->came_up |= bit(slot);
	}
}

/*
 * Of these slots those that may have flows: not who is about to change its receive hook, if there
 * are others.
 */
static uint64_t keepers(const struct bond *bond, uint64_t mask)
{
	return drain_usable(mask, rx_turn_drained(bond));
}

static void weigh(struct bond *bond, struct decision *decision)
{
	weights_of(&bond->dataplane.pins,
		   drain_usable(keepers(bond, decision->usable), decision->drained),
		   decision->plan.member_weight, decision->plan.weight);
}

static unsigned int requested_slot(struct bond *bond, uint32_t request)
{
	const struct pins *pins = &bond->dataplane.pins;

	return request == pins->table->active_request ? XBOND_NO_SLOT : pins->settings->active_slot;
}

static void choose_active(struct bond *bond, struct decision *decision)
{
	int primary = pins_slot_by_name(&bond->dataplane.pins, bond_pin(bond)->primary);
	struct active_input input = {
		.up = keepers(bond, decision->up),
		.keepable = keepers(bond, decision->usable),
		.drained = decision->drained,
		.came_up = decision->came_up,
		.current = bond_pin(bond)->active_slot,
		.primary = primary < 0 ? XBOND_NO_SLOT : (unsigned int)primary,
		.requested = requested_slot(bond, decision->active_request),
		.primary_changed = bond->primary_changed,
	};
	struct active_choice choice = active_choose(&input, bond->active_by_hand);

	decision->plan.active_slot = choice.slot;
	bond->active_by_hand = choice.by_hand;
	bond->primary_changed = false;
}

/* In active-backup a backup's frames are duplicates, except while the detour uses it. */
static uint64_t choose_rx_mask(struct bond *bond, const struct decision *decision)
{
	unsigned int active = decision->plan.active_slot;

	if (decision->plan.selection != XBOND_SELECT_ACTIVE || bond_pin(bond)->all_slaves_active)
		return decision->members & bond_lacp_collecting(bond);
	if (active == XBOND_NO_SLOT || !(decision->up & bit(active)))
		return decision->up;
	return bit(active);
}

static void decide(struct bond *bond, struct decision *decision)
{
	struct xbond_bond *pin = bond_pin(bond);

	decision->active_before = pin->active_slot;
	decision->active_request =
		__atomic_load_n(&bond->dataplane.pins.settings->active_request, __ATOMIC_ACQUIRE);
	decision->carrier_before = pin->carrier;
	decision->drained = bond->dataplane.pins.settings->drain_mask & decision->members;
	/* In 802.3ad a link that is up carries nothing unless LACP lets it. */
	decision->linked = decision->up;
	decision->up &= bond_lacp_distributing(bond);
	decision->usable &= bond_lacp_distributing(bond);
	decision->carrier = carrier_has_enough(decision->usable, pin->min_links);
	decision->plan.selection = mode_selection(pin);
	decision->plan.active_slot = XBOND_NO_SLOT;
	weigh(bond, decision);
	if (decision->plan.selection == XBOND_SELECT_ACTIVE)
		choose_active(bond, decision);
	decision->rx_mask = choose_rx_mask(bond, decision);
	decision->up &= ~rx_turn_out(bond);
	decision->linked &= ~rx_turn_out(bond);
}

/*
 * Straight into bond0 in its own namespace: the cheapest way there is. Linux counts such packets
 * on bond0 since 6.7; before, only who has chosen `direct` can do without.
 */
static bool redirects_to_peer(struct bond *bond)
{
	struct utsname kernel;
	int major = 0, minor = 0;

	if (!bond->away || bond->has_xdp || bond_pin(bond)->mac_policy == XBOND_MAC_FILTER)
		return false;
	if (bond->dataplane.pins.settings->path == XBOND_PATH_DIRECT)
		return true;
	return !uname(&kernel) && sscanf(kernel.release, "%d.%d", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 7));
}

static bool has_drain_markers(struct bond *bond)
{
	return mode_has(bond_pin(bond)->mode, MODE_LACP) && bond_pin(bond)->drain_markers;
}

/* In 802.3ad the carrier of reception is the LACP thread's, and XDP waits for it. */
static uint32_t choose_flags(struct bond *bond, const struct decision *decision)
{
	uint32_t flags = decision->carrier ? XBOND_F_CARRIER : 0;
	bool may_choose = decision->carrier &&
			  (!bond->lacp || bond->dataplane.pins.table->flags & XBOND_F_CARRIER);

	if (device_pair_is_netkit(bond_pin(bond)))
		flags |= XBOND_F_NETKIT;
	if (bypass_forbids_direct(bond))
		flags |= XBOND_F_FORCE_COUNTED;
	else if (bond_pin(bond)->xdp_tx && may_choose)
		flags |= XBOND_F_STACK_DIRECT | XBOND_F_XDP_TX;
	if (redirects_to_peer(bond))
		flags |= XBOND_F_REDIRECT_PEER;
	if (mode_has(bond_pin(bond)->mode, MODE_LACP) && bond_pin(bond)->broadcast_neighbor)
		flags |= XBOND_F_BROADCAST_NEIGHBOR;
	if (has_drain_markers(bond))
		flags |= XBOND_F_DRAIN_MARKERS;
	bond_for_each_member (bond, slot)
		if (bond_slave(bond, slot)->queue_id)
			flags |= XBOND_F_QUEUE_IDS;
	return flags;
}

/* bond0's carrier is the port side's admin state. */
static void follow_carrier(struct bond *bond, bool carrier)
{
	struct err err;

	if (bond->port_up == carrier)
		return;
	if (link_set_flags(&bond->daemon->nl, (int)bond_pin(bond)->port_ifindex,
			   carrier ? IFF_UP : 0, IFF_UP, &err))
		log_error("%s: cannot set its carrier %s: %s", bond_pin(bond)->name,
			  carrier ? "on" : "off", err.text);
	else
		bond->port_up = carrier;
}

static uint64_t total_weight(const struct dataplane_plan *plan)
{
	uint64_t total = 0;

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		total += plan->weight[slot];
	return total;
}

/* Slots that work and would have a smaller share than now. */
static uint64_t losers_of(const struct bond *bond, const struct decision *decision)
{
	uint64_t before = total_weight(&bond->plan), after = total_weight(&decision->plan),
		 losers = 0;

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (decision->up & bit(slot) &&
		    decision->plan.weight[slot] * before < bond->plan.weight[slot] * after)
			losers |= bit(slot);
	return losers;
}

static void publish_plan(struct bond *bond, const struct decision *decision)
{
	bool same = bond->published && !memcmp(&bond->plan, &decision->plan, sizeof(bond->plan));
	uint64_t losers = same || !bond->published ? 0 : losers_of(bond, decision);

	bond->plan_due = !same && bond->daemon->in_burst && !bond->dataplane.settled;
	if (bond->plan_due || bond_lacp_must_wait(bond, &decision->plan, losers))
		return;
	dataplane_set_drained(&bond->dataplane, decision->drained);
	if (same)
		return;
	dataplane_publish(&bond->dataplane, &decision->plan);
	bond->plan = decision->plan;
	bond->published = true;
}

static void publish_queue_ids(struct bond *bond)
{
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		dataplane_set_queue_id(&bond->dataplane, slot,
				       bond_is_member(bond, slot) ? bond_slave(bond, slot)->queue_id
								  : 0);
}

/* As select_mask() of the programs, which count by it what the devmap sends. */
static uint64_t sending(struct bond *bond, const struct decision *decision)
{
	const __u64 asked = decision->drained;

	return drain_usable(decision->up, drain_mask(has_drain_markers(bond),
						     &bond->dataplane.pins.table->drained, &asked));
}

/* Around the pair nobody goes past an XDP program on bond0, which only what crosses it meets. */
static enum slowio_pair pair_of(const struct bond *bond, const struct decision *decision)
{
	if (bond->port_up && decision->carrier)
		return SLOWIO_PAIR_OPEN;
	return bond->has_xdp ? SLOWIO_PAIR_CLOSED : SLOWIO_PAIR_AROUND;
}

/* In 802.3ad by the LACP thread, which knows better what may receive. */
static void publish_masks(struct bond *bond, const struct decision *decision, uint64_t rx_mask)
{
	if (bond->lacp) {
		slowio_publish(bond->lacp, decision->linked, decision->members,
			       pair_of(bond, decision));
		return;
	}
	dataplane_set_tx_mask(&bond->dataplane, decision->up);
	dataplane_set_rx_mask(&bond->dataplane, rx_mask);
}

/*
 * The masks' second store is for the flags that are the LACP thread's: its carrier goes after XDP
 * has ceased to choose, and XBOND_F_OPENING when the port side is up.
 */
static void publish_carrier(struct bond *bond, const struct decision *decision)
{
	const uint32_t threads = XBOND_F_CARRIER | XBOND_F_OPENING;

	dataplane_set_flags(&bond->dataplane, bond->lacp ? ~threads : UINT32_MAX,
			    choose_flags(bond, decision));
	bond_pin(bond)->carrier = decision->carrier;
	follow_carrier(bond, decision->carrier);
	if (bond->lacp)
		publish_masks(bond, decision, 0);
}

/*
 * A slave that fails leaves by the first store; what receives next opens before it is used. A
 * drain that waits for a marker begins with the plan.
 */
static void publish(struct bond *bond, const struct decision *decision)
{
	struct xbond_table *table = bond->dataplane.pins.table;

	xdp_devmap_publish(bond, sending(bond, decision));
	publish_masks(bond, decision, table->rx_mask | decision->rx_mask);
	publish_plan(bond, decision);
	xdp_devmap_publish(bond, sending(bond, decision));
	if (!bond->plan_due)
		publish_masks(bond, decision, decision->rx_mask);
	publish_queue_ids(bond);
	device_follow_settings(bond);
	bond_pin(bond)->active_slot = decision->plan.active_slot;
	if (!bond->plan_due)
		__atomic_store_n(&table->active_request, decision->active_request,
				 __ATOMIC_RELEASE);
	publish_carrier(bond, decision);
}

static const char *active_name(struct bond *bond, unsigned int slot)
{
	return slot < XBOND_MAX_SLAVES ? bond_slave(bond, slot)->name : "none";
}

static void log_changes(struct bond *bond, const struct decision *decision)
{
	const char *name = bond_pin(bond)->name;

	bond_for_each_member (bond, slot) {
		const struct xbond_slave *slave = bond_slave(bond, slot);

		if (slave->link != decision->before[slot])
			log_notice("%s: %s is %s", name, slave->name, link_words[slave->link]);
	}
	if (decision->plan.selection == XBOND_SELECT_ACTIVE &&
	    decision->plan.active_slot != decision->active_before)
		log_notice("%s: active slave is %s", name,
			   active_name(bond, decision->plan.active_slot));
	if (decision->carrier != decision->carrier_before)
		log_notice("%s: carrier %s", name, decision->carrier ? "on" : "off");
}

static int on_delay(sd_event_source *source, uint64_t usec, void *arg)
{
	struct bond *bond = arg;

	(void)source;
	(void)usec;
	latency_note("delay");
	burst_begin(bond->daemon);
	bond_evaluate(bond);
	burst_end(bond->daemon);
	return 0;
}

static void arm_delay(struct bond *bond)
{
	uint64_t next_ns = UINT64_MAX;

	bond_for_each_member (bond, slot)
		if (bond->members[slot].deadline_ns && bond->members[slot].deadline_ns < next_ns)
			next_ns = bond->members[slot].deadline_ns;
	if (!bond->delay)
		return;
	if (next_ns == UINT64_MAX) {
		sd_event_source_set_enabled(bond->delay, SD_EVENT_OFF);
		return;
	}
	sd_event_source_set_time(bond->delay, next_ns / 1000 + 1);
	sd_event_source_set_enabled(bond->delay, SD_EVENT_ONESHOT);
}

static bool has_failed_over(const struct decision *decision)
{
	return decision->plan.selection == XBOND_SELECT_ACTIVE && decision->carrier &&
	       decision->plan.active_slot < XBOND_MAX_SLAVES &&
	       decision->plan.active_slot != decision->active_before;
}

void bond_evaluate(struct bond *bond)
{
	struct decision decision = { 0 };

	bond->seen = *bond->dataplane.pins.settings;
	step_links(bond, &decision);
	bond_lacp_follow(bond);
	decide(bond, &decision);
	publish(bond, &decision);
	log_changes(bond, &decision);
	bond_lacp_log(bond);
	bond->announce_due |= has_failed_over(&decision);
	if (bond->announce_due && !bond->plan_due) {
		bond->announce_due = false;
		announce(bond->daemon->announcer, bond->away ? 0 : (int)bond_pin(bond)->ifindex,
			 (int)bond_pin(bond)->port_ifindex);
	}
	arm_delay(bond);
}

void bond_set_carrier(struct bond *bond, unsigned int slot, bool carrier)
{
	bond->members[slot].carrier = carrier;
	bond->members[slot].carrier_ns = clock_now_ns();
}

int bond_start_timer(struct bond *bond)
{
	int r = sd_event_add_time(bond->daemon->event, &bond->delay, CLOCK_MONOTONIC, UINT64_MAX,
				  TIMER_ACCURACY_US, on_delay, bond);

	if (r < 0)
		return r;
	arm_delay(bond);
	return 0;
}

void bond_stop_timer(struct bond *bond)
{
	bond->delay = sd_event_source_disable_unref(bond->delay);
}
