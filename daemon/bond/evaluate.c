/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/bond/evaluate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bpf/slots.h"
#include "common/mode.h"
#include "daemon/announce/announce.h"
#include "daemon/base/crashpoint.h"
#include "daemon/base/event.h"
#include "daemon/base/main_loop.h"
#include "daemon/bond/daemon.h"
#include "daemon/bond/part.h"
#include "daemon/dataplane/dataplane.h"
#include "options/values.h"
#include "view/view_bond.h"
#include "view/view_json.h"

static int burst_on_settled(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	latency_note("plans");
	burst_settled(arg);
	return 0;
}

int burst_init(struct daemon *daemon, struct err *err)
{
	int r;

	daemon->settler = settler_new(err);
	if (!daemon->settler)
		return -ENOMEM;
	r = loop_watch_first(daemon->event, settler_fd(daemon->settler), burst_on_settled, daemon);
	return r ? err_set(err, -r, "cannot start: %s", strerror(-r)) : 0;
}

void burst_done(struct daemon *daemon)
{
	settler_free(daemon->settler);
	daemon->settler = NULL;
}

void burst_begin(struct daemon *daemon)
{
	daemon->in_burst = true;
}

void burst_end(struct daemon *daemon)
{
	bool due = false;

	for (struct bond *bond = daemon->bonds; bond; bond = bond->next) {
		if (bond->evaluation.plan_due && bond->dataplane.settled)
			bond_evaluate(bond);
		due |= bond->evaluation.plan_due;
	}
	daemon->in_burst = false;
	if (due)
		burst_settle(daemon);
}

int burst_run(struct daemon *daemon, const char *what, void (*turn)(struct daemon *daemon))
{
	latency_note(what);
	burst_begin(daemon);
	turn(daemon);
	burst_end(daemon);
	return 0;
}

void burst_settle(struct daemon *daemon)
{
	uint64_t ticket = 0;

	for (struct bond *bond = daemon->bonds; bond; bond = bond->next) {
		if (bond->dataplane.settled || bond->dataplane.ticket)
			continue;
		if (!ticket)
			ticket = settler_ask(daemon->settler);
		bond->dataplane.ticket = ticket;
	}
}

int burst_fd(const struct daemon *daemon)
{
	return settler_fd(daemon->settler);
}

void burst_settled(struct daemon *daemon)
{
	uint64_t served = settler_served(daemon->settler);

	for (struct bond *bond = daemon->bonds; bond; bond = bond->next) {
		struct dataplane *dataplane = &bond->dataplane;

		if (dataplane->ticket && dataplane->ticket <= served)
			dataplane->settled = true;
		if (dataplane->settled)
			dataplane->ticket = 0;
	}
	burst_begin(daemon);
	burst_end(daemon);
}

#define GROUP_DELAY_MS 200 /* as kernel bonding has it */

/*
 * Tells what an evaluation has found and changed, as events, after the decision has been put in
 * force.
 */

static const char *const bond_tell_link_words[] = {
	[XBOND_LINK_DOWN] = "down",
	[XBOND_LINK_UP] = "up",
	[XBOND_LINK_GOING_UP] = "going up",
	[XBOND_LINK_GOING_DOWN] = "going down",
};

static struct event bond_tell_event(struct bond *bond, enum event_kind kind, int priority,
				    const char *slave)
{
	return (struct event){
		.kind = kind, .priority = priority, .bond = bond_pin(bond)->name, .slave = slave
	};
}

static void bond_tell_monitor(struct bond *bond, unsigned int slot, enum xbond_monitor monitor)
{
	const struct link_verdict *verdict = &bond->members[slot].verdict;
	const char *slave = bond_slave(bond, slot)->name, *name = monitor_name(monitor);
	bool speaks = verdict->spoken >> monitor & 1, works = verdict->works >> monitor & 1;
	struct event event = bond_tell_event(bond, EVENT_MONITOR, LOG_DEBUG, slave);

	event.field[0] = event_text("monitor", name);
	event.field[1] = event_text("state", !speaks ? "none" : works ? "works" : "fails");
	if (!speaks)
		event_tell(&event, "%s: monitor %s no longer says whether the link works", slave,
			   name);
	else if (works)
		event_tell(&event, "%s: monitor %s: the link works", slave, name);
	else
		event_tell(&event, "%s: monitor %s: %s", slave, name, monitor_finding(monitor));
}

/* What of the bond was last told as events. */
struct bond_told {
	bool began;	  /* the rest is known */
	uint64_t members; /* slots */
	char name[XBOND_MAX_SLAVES][XBOND_NAME_SIZE];
	uint32_t spoken[XBOND_MAX_SLAVES], works[XBOND_MAX_SLAVES]; /* as in link_verdict */
	struct xbond_settings settings;
	uint32_t copy; /* of the buckets, in force */
	enum xbond_selection selection;
};

struct part told_part = { .bond_size = sizeof(struct bond_told) };

static struct bond_told *told_of(const struct bond *bond)
{
	return part_of_bond(bond, &told_part);
}

static void bond_tell_monitors(struct bond *bond, unsigned int slot)
{
	const struct link_verdict *verdict = &bond->members[slot].verdict;
	struct bond_told *told = told_of(bond);
	uint32_t changed =
		(verdict->spoken ^ told->spoken[slot]) | (verdict->works ^ told->works[slot]);

	for (unsigned int monitor = 0; changed && monitor < XBOND_MONITORS; monitor++)
		if (changed >> monitor & 1)
			bond_tell_monitor(bond, slot, (enum xbond_monitor)monitor);
	told->spoken[slot] = verdict->spoken;
	told->works[slot] = verdict->works;
}

static void bond_tell_failover(struct bond *bond, unsigned int slot, uint64_t us)
{
	const char *slave = bond_slave(bond, slot)->name;
	struct event event = bond_tell_event(bond, EVENT_FAILOVER, LOG_DEBUG, slave);

	event.field[0] = event_number("duration_us", us);
	event_tell(&event, "%s is out of use, %llu us after its link was lost", slave,
		   (unsigned long long)us);
}

static void bond_tell_link(struct bond *bond, unsigned int slot)
{
	const struct xbond_slave *slave = bond_slave(bond, slot);
	const char *why = bond_link_why(bond, slot), *words = bond_tell_link_words[slave->link];
	bool is_used = slave->link == XBOND_LINK_UP || slave->link == XBOND_LINK_GOING_UP;
	struct event event = bond_tell_event(bond, EVENT_LINK, LOG_NOTICE, slave->name);

	event.field[0] = event_text("state", view_link_word(slave->link));
	event.field[1] = event_text("reason", is_used ? NULL : why);
	if (is_used && why)
		event_tell(&event, "%s is %s although %s: %s", slave->name, words, why,
			   monitor_why_used(bond_pin(bond)->min_links));
	else
		event_tell(&event, "%s is %s%s%s", slave->name, words, why ? ": " : "",
			   why ? why : "");
}

const char *bond_tell_name(struct bond *bond, unsigned int slot)
{
	if (slot >= XBOND_MAX_SLAVES)
		return NULL;
	return bond_is_member(bond, slot) ? bond_slave(bond, slot)->name
					  : told_of(bond)->name[slot];
}

static void bond_tell_active(struct bond *bond, const struct decision *decision)
{
	const char *active = bond_tell_name(bond, decision->plan.active_slot);
	struct event event = bond_tell_event(bond, EVENT_ACTIVE, LOG_NOTICE, active);

	event.field[0] = event_text("before", bond_tell_name(bond, decision->active_before));
	event_tell(&event, "active slave is %s", active ? active : "none");
}

static void bond_tell_carrier(struct bond *bond, bool carrier)
{
	struct event event = bond_tell_event(bond, EVENT_CARRIER, LOG_NOTICE, NULL);

	event.field[0] = event_text("state", carrier ? "on" : "off");
	event_tell(&event, "carrier %s", carrier ? "on" : "off");
}

static void bond_tell_setting(struct bond *bond, const struct option_spec *option,
			      unsigned int slot, const struct option_value *value)
{
	const char *slave = option->scope == OPTION_SLAVE ? bond_slave(bond, slot)->name : NULL;
	struct event event = bond_tell_event(bond, EVENT_CONFIG, LOG_INFO, slave);
	char text[OPTION_TEXT_SIZE];

	option_format(option, value, text, sizeof(text));
	event.field[0] = event_text("action", slave ? "set-slave" : "set");
	event.field[1] =
		event_json("options", json_pack("{s:o}", option->name, json_value_text(text)));
	event_tell(&event, "%s%sset %s %s", slave ? slave : "", slave ? ": " : "", option->name,
		   text);
}

static void bond_tell_if_set(struct bond *bond, const struct option_spec *option, unsigned int slot)
{
	struct pins pins = bond->dataplane.pins;
	char before[OPTION_TEXT_SIZE], after[OPTION_TEXT_SIZE];
	struct option_value value;

	pins.settings = &told_of(bond)->settings;
	values_read(&pins, option, slot, &value);
	option_format(option, &value, before, sizeof(before));
	pins.settings = &bond->evaluation.seen;
	values_read(&pins, option, slot, &value);
	option_format(option, &value, after, sizeof(after));
	if (strcmp(before, after))
		bond_tell_setting(bond, option, slot, &value);
}

/* Of a slave that is no member, and never was one, nothing can be told. */
static void bond_tell_active_request(struct bond *bond, unsigned int slot)
{
	const char *name = bond_tell_name(bond, slot);
	struct option_value value = { 0 };

	if (!name || !*name)
		return;
	snprintf(value.name, sizeof(value.name), "%s", name);
	bond_tell_setting(bond, option_at(OPT_ACTIVE_SLAVE), 0, &value);
}

/* What bondctl has written into the map by itself. */
static void bond_tell_settings(struct bond *bond)
{
	const struct xbond_settings *now = &bond->evaluation.seen;
	const struct bond_told *told = told_of(bond);

	if (!memcmp(now, &told->settings, sizeof(*now)))
		return;
	for (int id = 0; id < OPT_COUNT; id++) {
		const struct option_spec *option = option_at(id);

		if (option->home != OPTION_IN_SETTINGS || option->is_alias ||
		    id == OPT_ACTIVE_SLAVE)
			continue;
		if (option->scope == OPTION_BOND)
			bond_tell_if_set(bond, option, 0);
		else
			bond_for_each_member (bond, slot)
				if (slots_have(told->members, slot))
					bond_tell_if_set(bond, option, slot);
	}
	if (now->active_request != told->settings.active_request)
		bond_tell_active_request(bond, now->active_slot);
}

/* What has been decided may not be in force yet (publish.c). */
static void bond_tell_remember(struct bond *bond)
{
	struct bond_told *told = told_of(bond);

	told->members = bond_members(bond);
	bond_for_each_member (bond, slot)
		memcpy(told->name[slot], bond_slave(bond, slot)->name, XBOND_NAME_SIZE);
	told->settings = bond->evaluation.seen;
	told->copy = bond->dataplane.pins.table->active;
	told->selection = bond->evaluation.plan.selection;
	told->began = true;
}

/* A slot that another slave has taken, or none, begins anew. */
static void bond_tell_forget(struct bond *bond)
{
	struct bond_told *told = told_of(bond);

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (!bond_is_member(bond, slot) || !slots_have(told->members, slot))
			told->spoken[slot] = told->works[slot] = 0;
}

static bool bond_tell_has_moved(struct bond *bond)
{
	const struct bond_told *told = told_of(bond);

	return told->began && told->copy != bond->dataplane.pins.table->active &&
	       told->selection == XBOND_SELECT_HASH &&
	       bond->evaluation.plan.selection == XBOND_SELECT_HASH;
}

static void bond_tell(struct bond *bond, const struct decision *decision)
{
	if (bond->is_over)
		return;
	if (told_of(bond)->began)
		bond_tell_settings(bond);
	bond_tell_forget(bond);
	bond_for_each_member (bond, slot) {
		bond_tell_monitors(bond, slot);
		if (bond_slave(bond, slot)->link != decision->before[slot])
			bond_tell_link(bond, slot);
		if (decision->took_ns[slot])
			bond_tell_failover(bond, slot, decision->took_ns[slot] / 1000);
	}
	if (mode_has(bond_pin(bond)->mode, MODE_ACTIVE) &&
	    decision->plan.active_slot != decision->active_before)
		bond_tell_active(bond, decision);
	if (bond_tell_has_moved(bond))
		bond_tell_moves(bond);
	if (decision->carrier != decision->carrier_before)
		bond_tell_carrier(bond, decision->carrier);
	bond_tell_remember(bond);
}

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
		/* Copies that a backup hears would tell the bridge that they are outside. */
		.machines = !pin->all_slaves_active,
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
static void evaluate_announce_leader(struct bond *bond, const struct decision *decision,
				     bool adopts)
{
	uint64_t leader = bond->evaluation.leader & decision->usable;

	if (!leader && mode_has(bond_pin(bond)->mode, MODE_REPORTS) &&
	    decision->plan.selection == XBOND_SELECT_TURNS)
		leader = decision->up & -decision->up;
	if (leader & ~bond->evaluation.leader && decision->carrier && !adopts)
		evaluate_announce(bond, 0);
	bond->evaluation.leader = leader;
}

/* With fail_over_mac the addresses come first, and are announced then. */
static void evaluate_announce_active(struct bond *bond, bool has_new_active)
{
	if (has_new_active)
		crashpoint("failover-published");
	bond->evaluation.macs_due |=
		has_new_active && bond_fail_over_mac(bond_pin(bond)) != XBOND_FAIL_OVER_MAC_NONE;
	if (!bond->evaluation.macs_due)
		bond_announce_failover(bond);
}

void bond_evaluate(struct bond *bond)
{
	bool adopts = !bond->evaluation.published, has_new_active;
	struct decision decision = { 0 };

	bond->evaluation.seen = *bond->dataplane.pins.settings;
	bond_lacp_settle_standby(bond, bond_soft_noes(bond));
	decide_links(bond, &decision);
	bond_bfd_configure(bond);
	bond_lacp_configure(bond);
	decide(bond, &decision);
	bond_pin(bond)->announce_due |= evaluate_has_failed_over(bond_pin(bond), &decision);
	bond_rebalance_settle(bond);
	publish_decision(bond, &decision);
	bond_tell(bond, &decision);
	bond_lacp_log(bond);
	has_new_active = decision.plan.active_slot != decision.active_before;
	evaluate_announce_active(bond, has_new_active);
	evaluate_announce_leader(bond, &decision, adopts);
	parts_decided(bond, has_new_active);
	delay_arm(bond);
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
