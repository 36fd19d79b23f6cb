/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts a decision in force: writes the maps that the programs read, and sets bond0's carrier.
 * Called by evaluate.c.
 */
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "bpf/slots.h"
#include "common/clock.h"
#include "common/mac.h"
#include "common/mode.h"
#include "common/pins.h"
#include "common/readings.h"
#include "daemon/base/event.h"
#include "daemon/bond/attach_check.h"
#include "daemon/bond/bond.h"
#include "daemon/bond/daemon.h"
#include "daemon/bond/evaluate.h"
#include "daemon/bond/part.h"
#include "daemon/lacp_thread/lacp_thread.h"

/* Of a slave. */
struct failover {
	uint64_t began_ns; /* when its link failed; 0: nobody knows, or it has not */
	uint32_t refusing; /* the monitors that already said no at the last evaluation */
};

struct part failover_part = { .member_size = sizeof(struct failover) };

static struct failover *failover_of(const struct bond *bond, unsigned int slot)
{
	return part_of_member(bond, &failover_part, slot);
}

void failover_began(struct bond *bond, unsigned int slot, uint64_t ns)
{
	failover_of(bond, slot)->began_ns = ns;
}

/*
 * The last word of the monitors that now say no, unless one of them knew since when. 0 if nothing
 * has failed: a slave that was used although a monitor said no also leaves when a better one is
 * back.
 */
static uint64_t failover_since_ns(const struct bond *bond, unsigned int slot)
{
	const uint64_t *learnt_ns = bond->members[slot].verdict.learnt_ns;
	const struct failover *failover = failover_of(bond, slot);
	uint32_t news = bond_link_refusing(bond, slot) & ~failover->refusing;
	uint64_t since_ns = 0;

	if (failover->began_ns)
		return failover->began_ns;
	for (unsigned int monitor = 0; monitor < XBOND_MONITORS; monitor++)
		if (news >> monitor & 1 && learnt_ns[monitor] > since_ns)
			since_ns = learnt_ns[monitor];
	return since_ns;
}

static void failover_count(struct bond *bond, uint64_t took_ns)
{
	struct xbond_failover *figures = bond->dataplane.pins.failover;

	if (!figures)
		return;
	figures->last_ns = took_ns;
	figures->sum_ns += took_ns;
	figures->histogram[histogram_class(took_ns)]++;
	figures->count++;
}

/*
 * The masks are in force. Counts the slaves that were up and are not. downdelay is no part of it: a
 * link that is going down has left the table when its loss was known.
 */
static void failover_published(struct bond *bond, struct decision *decision)
{
	uint64_t now_ns = clock_now_ns();

	bond_for_each_member (bond, slot) {
		struct failover *failover = failover_of(bond, slot);
		uint64_t since_ns = failover_since_ns(bond, slot);

		if (decision->before[slot] == XBOND_LINK_UP &&
		    bond_slave(bond, slot)->link != XBOND_LINK_UP && since_ns &&
		    since_ns < now_ns) {
			decision->took_ns[slot] = now_ns - since_ns;
			failover_count(bond, decision->took_ns[slot]);
		}
		if (bond_slave(bond, slot)->link != XBOND_LINK_UP)
			failover->began_ns = 0;
		failover->refusing = bond_link_refusing(bond, slot);
	}
}

static void publish_alb_macs(struct bond *bond, struct xbond_alb *alb)
{
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		store_release(alb->mac[slot], bond_is_member(bond, slot)
						      ? mac_word(bond_slave(bond, slot)->mac)
						      : 0);
}

static void publish_alb_order(struct xbond_alb *alb, const struct dataplane_plan *plan)
{
	store_release(alb->order[0], (uint8_t)plan->active_slot);
	for (unsigned int i = 0; i < XBOND_MAX_SLAVES; i++)
		store_release(alb->order[i + 1], plan->order[i]);
}

void publish_alb(struct bond *bond)
{
	struct xbond_alb *alb = bond->dataplane.pins.alb;

	if (!alb)
		return;
	store_release(alb->bond_mac, mac_word(bond_pin(bond)->mac));
	if (!mode_has(bond_pin(bond)->mode, MODE_OWN_MACS))
		return;
	publish_alb_macs(bond, alb);
	publish_alb_order(alb, &bond->evaluation.plan);
}

/* The flags that make the programs go by it. */
static uint32_t publish_alb_flags(struct bond *bond)
{
	uint32_t mode = bond_pin(bond)->mode;

	if (!bond->dataplane.pins.alb || !mode_has(mode, MODE_OWN_MACS))
		return 0;
	return mode_has(mode, MODE_RECEIVES) ? XBOND_F_TLB | XBOND_F_ALB : XBOND_F_TLB;
}

/*
 * Straight into bond0 in its own namespace, which is the cheapest way. Linux counts such packets on
 * bond0 from 6.7 on. Before, only a user who has chosen `direct` can do without the counters.
 */
static bool publish_has_strange_macs(const struct xbond_bond *pin)
{
	return pin->mac_policy == XBOND_MAC_FILTER ||
	       (bond_fail_over_mac(pin) != XBOND_FAIL_OVER_MAC_NONE && pin->all_slaves_active);
}

static bool publish_redirects_to_peer(struct bond *bond)
{
	struct utsname kernel;
	int major = 0, minor = 0;

	if (!bond->device.away || bond->device.has_xdp || publish_has_strange_macs(bond_pin(bond)))
		return false;
	if (bond->dataplane.pins.settings->path == XBOND_PATH_DIRECT)
		return true;
	return !uname(&kernel) && sscanf(kernel.release, "%d.%d", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 7));
}

static bool publish_has_drain_markers(struct bond *bond)
{
	return mode_has(bond_pin(bond)->mode, MODE_LACP) && bond_pin(bond)->drain_markers;
}

static bool publish_has_flowlets(struct bond *bond)
{
	return bond_pin(bond)->flowlet_gap_us && bond->dataplane.pins.flowlets &&
	       mode_selection(bond_pin(bond)) == XBOND_SELECT_HASH;
}

/* In 802.3ad the LACP thread owns the carrier for reception, and XDP waits for it. */
static uint32_t publish_choose_flags(struct bond *bond, const struct decision *decision)
{
	uint32_t now = __atomic_load_n(&bond->dataplane.pins.table->flags, __ATOMIC_ACQUIRE);
	uint32_t flags = decision->carrier ? XBOND_F_CARRIER : 0;
	bool may_choose = decision->carrier && (!bond_lacp_thread(bond) || now & XBOND_F_CARRIER);

	if (bond_is_netkit(bond_pin(bond)))
		flags |= XBOND_F_NETKIT;
	if (bond_is_team(bond_pin(bond)))
		flags |= bond_pin(bond)->team_sends ? XBOND_F_TEAM | XBOND_F_TEAM_SENDS
						    : XBOND_F_TEAM;
	if (bypass_forbids_direct(bond))
		flags |= XBOND_F_FORCE_COUNTED;
	else if (bond_pin(bond)->xdp_tx && may_choose)
		flags |= XBOND_F_STACK_DIRECT | XBOND_F_XDP_TX;
	if (publish_redirects_to_peer(bond))
		flags |= XBOND_F_REDIRECT_PEER;
	if (mode_has(bond_pin(bond)->mode, MODE_LACP) && bond_pin(bond)->broadcast_neighbor)
		flags |= XBOND_F_BROADCAST_NEIGHBOR;
	if (publish_has_drain_markers(bond))
		flags |= XBOND_F_DRAIN_MARKERS;
	if (bond_bfd_is_wanted(bond_pin(bond)))
		flags |= XBOND_F_BFD;
	if (bond->handed_over[0])
		flags |= XBOND_F_HANDED_OVER;
	flags |= publish_alb_flags(bond);
	if (bond_rebalance_is_wanted(bond))
		flags |= XBOND_F_LOADS;
	if (publish_has_flowlets(bond))
		flags |= XBOND_F_FLOWLETS;
	bond_for_each_member (bond, slot)
		if (bond_slave(bond, slot)->queue_id)
			flags |= XBOND_F_QUEUE_IDS;
	/* policy_settle.c, own_vlans.c, arp.c */
	return flags | (now & (XBOND_F_POLICY | XBOND_F_OWN_VLANS | XBOND_F_PROBES));
}

/* Of a pair, the admin state of the port side is bond0's carrier. */
static int publish_set_carrier(struct bond *bond, bool carrier, struct err *err)
{
	int ifindex = (int)bond_pin(bond)->port_ifindex;
	struct nl *nl = &bond->daemon->nl;

	if (bond_is_team(bond_pin(bond)))
		return link_set_carrier(nl, ifindex, carrier, err);
	return link_set_flags(nl, ifindex, carrier ? IFF_UP : 0, IFF_UP, err);
}

static void publish_bond_carrier(struct bond *bond, bool carrier)
{
	struct err err;

	if (bond->device.port_up == carrier)
		return;
	if (publish_set_carrier(bond, carrier, &err))
		event_error(bond_pin(bond)->name, NULL, "cannot set its carrier %s: %s",
			    carrier ? "on" : "off", err.text);
	else
		bond->device.port_up = carrier;
}

static uint64_t publish_total_weight(const struct dataplane_plan *plan)
{
	uint64_t total = 0;

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		total += plan->weight[slot];
	return total;
}

/* The slots that work and would get a smaller share than now. */
static uint64_t publish_losers(const struct bond *bond, const struct decision *decision)
{
	uint64_t before = publish_total_weight(&bond->evaluation.plan),
		 after = publish_total_weight(&decision->plan), losers = 0;

	slots_for_each (decision->up, slot)
		if (decision->plan.weight[slot] * before <
		    bond->evaluation.plan.weight[slot] * after)
			losers |= slots_bit(slot);
	return losers;
}

static void publish_plan(struct bond *bond, const struct decision *decision)
{
	bool same = bond->evaluation.published &&
		    !memcmp(&bond->evaluation.plan, &decision->plan, sizeof(bond->evaluation.plan));
	uint64_t losers = same || !bond->evaluation.published ? 0 : publish_losers(bond, decision);

	bond->evaluation.plan_due = !same && bond->daemon->in_burst && !bond->dataplane.settled;
	if (bond->evaluation.plan_due || bond_lacp_must_wait(bond, &decision->plan, losers))
		return;
	dataplane_set_drained(&bond->dataplane, decision->drained);
	if (same)
		return;
	dataplane_publish(&bond->dataplane, &decision->plan);
	bond->evaluation.plan = decision->plan;
	bond->evaluation.published = true;
}

static void publish_queue_ids(struct bond *bond)
{
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		dataplane_set_queue_id(&bond->dataplane, slot,
				       bond_is_member(bond, slot) ? bond_slave(bond, slot)->queue_id
								  : 0);
}

/* The same as select_mask() of the programs, which count by it what the devmap sends. */
static uint64_t publish_sending(struct bond *bond, const struct decision *decision)
{
	const __u64 asked = decision->drained;

	return drain_usable(decision->up, drain_mask(publish_has_drain_markers(bond),
						     &bond->dataplane.pins.table->drained, &asked));
}

/*
 * Nothing may go around the pair if bond0 has an XDP program, because only packets that cross the
 * pair meet that.
 */
static enum lacp_thread_pair publish_pair(const struct bond *bond, const struct decision *decision)
{
	if (bond->device.port_up && decision->carrier)
		return LACP_THREAD_PAIR_OPEN;
	return bond->device.has_xdp ? LACP_THREAD_PAIR_CLOSED : LACP_THREAD_PAIR_AROUND;
}

/* In 802.3ad the LACP thread does this, because it knows what may receive. */
static void publish_masks(struct bond *bond, const struct decision *decision, uint64_t rx_mask)
{
	dataplane_forget_failed(&bond->dataplane);
	if (bond_lacp_thread(bond)) {
		lacp_thread_publish(bond_lacp_thread(bond), decision->linked, decision->members,
				    publish_pair(bond, decision));
		return;
	}
	dataplane_set_tx_mask(&bond->dataplane, decision->up);
	dataplane_set_rx_mask(&bond->dataplane, rx_mask);
}

/*
 * The second store of the masks is for the flags of the LACP thread: its carrier ends after XDP has
 * stopped choosing, and XBOND_F_OPENING ends when the port side is up.
 */
static void publish_carrier(struct bond *bond, const struct decision *decision)
{
	const uint32_t threads = XBOND_F_CARRIER | XBOND_F_OPENING;

	dataplane_set_flags(&bond->dataplane, bond_lacp_thread(bond) ? ~threads : UINT32_MAX,
			    publish_choose_flags(bond, decision));
	bond_pin(bond)->carrier = decision->carrier;
	publish_bond_carrier(bond, decision->carrier);
	if (bond_lacp_thread(bond))
		publish_masks(bond, decision, 0);
}

/*
 * What may receive until the plan is in force. Where one slave is active, the next one receives as
 * soon as the programs send by it (choose_collects_by_now()), and no sooner: it would hear what the
 * other one still sends, and a bridge above would take its own hosts for being outside.
 */
static uint64_t publish_open(struct bond *bond, const struct decision *decision)
{
	/* The LACP thread may be changing it. */
	uint64_t open = __atomic_load_n(&bond->dataplane.pins.table->rx_mask, __ATOMIC_RELAXED);

	return decision->plan.active_slot < XBOND_MAX_SLAVES ? open : open | decision->rx_mask;
}

/*
 * A slave that fails leaves with the first store. The next one opens its reception before it is
 * used, or when it is. A drain that waits for a marker begins with the plan.
 */
void publish_decision(struct bond *bond, struct decision *decision)
{
	struct xbond_table *table = bond->dataplane.pins.table;

	dataplane_set_broadcast(&bond->dataplane, publish_sending(bond, decision));
	publish_masks(bond, decision, publish_open(bond, decision));
	failover_published(bond, decision);
	publish_plan(bond, decision);
	dataplane_set_broadcast(&bond->dataplane, publish_sending(bond, decision));
	publish_alb(bond);
	if (!bond->evaluation.plan_due)
		publish_masks(bond, decision, decision->rx_mask);
	publish_queue_ids(bond);
	if (publish_has_flowlets(bond))
		dataplane_set_flowlet_gap(&bond->dataplane, bond_pin(bond)->flowlet_gap_us);
	port_hooks_settle(bond);
	bond_pin(bond)->active_slot = decision->plan.active_slot;
	if (!bond->evaluation.plan_due)
		__atomic_store_n(&table->active_request, decision->active_request,
				 __ATOMIC_RELEASE);
	publish_carrier(bond, decision);
}
