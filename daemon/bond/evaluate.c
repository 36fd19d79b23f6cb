/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/bond/evaluate.h"

#include "common/mode.h"
#include "daemon/announce/announce.h"
#include "daemon/base/crashpoint.h"
#include "daemon/bond/bond_bfd.h"
#include "daemon/bond/bond_lacp.h"
#include "daemon/bond/bond_rebalance.h"
#include "daemon/bond/bond_tell.h"
#include "daemon/bond/daemon.h"
#include "daemon/bond/decision.h"

#define GROUP_DELAY_MS 200 /* as kernel bonding has it */

static bool evaluate_has_failed_over(const struct xbond_bond *bond, const struct decision *decision)
{
	return mode_has(bond->mode, MODE_ALONE | MODE_OWN_MACS) && decision->carrier &&
	       decision->plan.active_slot < XBOND_MAX_SLAVES &&
	       decision->plan.active_slot != decision->active_before;
}

static void evaluate_announce(struct bond *bond, unsigned int addresses)
{
	const struct xbond_bond *pin = bond_pin(bond);
	const struct announce_order order = {
		.port_ifindex = (int)pin->port_ifindex,
		.addresses = addresses,
		.groups = pin->resend_igmp,
		.address_delay_ms =
			pin->peer_notif_delay_ms ? pin->peer_notif_delay_ms : pin->miimon_ms,
		.group_delay_ms = GROUP_DELAY_MS,
	};

	announce(bond->daemon->announcer, &order);
}

/* Where slaves have addresses of their own, learning packets tell where the bond's is. */
void bond_announce_failover(struct bond *bond)
{
	struct xbond_bond *pin = bond_pin(bond);

	if (!pin->announce_due || bond->evaluation.plan_due)
		return;
	pin->announce_due = false;
	evaluate_announce(bond, mode_has(pin->mode, MODE_ALONE) ? pin->num_peer_notif : 0);
}

/*
 * In balance-rr the kernel's driver has an active slave, too: the first, until it fails. When there
 * is another one, the groups are reported, but no address is announced. What a bondd finds when it
 * adopts the bond has been reported.
 */
static void evaluate_follow_leader(struct bond *bond, const struct decision *decision, bool adopts)
{
	uint64_t leader = bond->evaluation.leader & decision->usable;

	if (!leader && mode_has(bond_pin(bond)->mode, MODE_REPORTS) &&
	    decision->plan.selection == XBOND_SELECT_TURNS)
		leader = decision->up & -decision->up;
	if (leader & ~bond->evaluation.leader && decision->carrier && !adopts)
		evaluate_announce(bond, 0);
	bond->evaluation.leader = leader;
}

/* Other slaves are to have the groups of the targets now: slave_multicast.c. */
static void evaluate_follow_groups(struct bond *bond)
{
	const struct xbond_bond *pin = bond_pin(bond);

	if (pin->arp_interval_ms && pin->arp_validate && pin->ns_ip6_target[0][0])
		sd_event_source_set_enabled(bond->daemon->groups, SD_EVENT_ONESHOT);
}

/* With fail_over_mac the addresses come first, and are announced then. */
static void evaluate_follow_active(struct bond *bond, const struct decision *decision)
{
	bool changed = decision->plan.active_slot != decision->active_before;

	if (changed) {
		crashpoint("failover-published");
		evaluate_follow_groups(bond);
	}
	bond->evaluation.macs_due |=
		changed && bond_fail_over_mac(bond_pin(bond)) != XBOND_FAIL_OVER_MAC_NONE;
	if (!bond->evaluation.macs_due)
		bond_announce_failover(bond);
	else if (bond->fail_over_mac && !bond->evaluation.plan_due)
		sd_event_source_set_enabled(bond->fail_over_mac, SD_EVENT_ONESHOT);
}

/* balance-alb: the clients of a slave that has failed are told at once. */
static void evaluate_follow_clients(struct bond *bond)
{
	if (!bond->clients ||
	    (!bond->client_rounds && !mode_has(bond_pin(bond)->mode, MODE_RECEIVES)))
		return;
	sd_event_source_set_time(bond->clients, 0);
	sd_event_source_set_enabled(bond->clients, SD_EVENT_ONESHOT);
}

void bond_evaluate(struct bond *bond)
{
	struct decision decision = { 0 };
	bool adopts = !bond->evaluation.published;

	bond->evaluation.seen = *bond->dataplane.pins.settings;
	bond_lacp_follow_standby(bond, bond_soft_noes(bond));
	decide_links(bond, &decision);
	bond_bfd_follow(bond);
	bond_lacp_follow(bond);
	decide(bond, &decision);
	bond_pin(bond)->announce_due |= evaluate_has_failed_over(bond_pin(bond), &decision);
	bond_rebalance_follow(bond);
	publish_decision(bond, &decision);
	bond_tell(bond, &decision);
	bond_lacp_log(bond);
	evaluate_follow_active(bond, &decision);
	evaluate_follow_leader(bond, &decision, adopts);
	evaluate_follow_clients(bond);
	bond_arm_delay(bond);
}

void bond_primary_changed(struct bond *bond)
{
	bond_pin(bond)->primary_due = bond_pin(bond)->primary[0] != '\0';
	bond->evaluation.active_again = true;
}

void bond_choose_active_again(struct bond *bond)
{
	bond->evaluation.active_again = true;
}

void bond_free_active(struct bond *bond)
{
	bond->evaluation.active_free = true;
}
