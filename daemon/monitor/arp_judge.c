/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From what the receive programs have written down to verdicts, by rules/link_state.h. Called by
 * arp.c.
 */
#include <string.h>

#include "common/clock.h"
#include "common/mode.h"
#include "common/slots.h"
#include "daemon/bond/bond_lacp.h"
#include "daemon/monitor/arp_state.h"
#include "daemon/monitor/verdict.h"

static bool arp_has_active_mode(struct bond *bond)
{
	return mode_has(bond_pin(bond)->mode, MODE_ALONE);
}

static enum probing_role arp_role(struct bond *bond, unsigned int slot)
{
	unsigned int active = bond_pin(bond)->active_slot;

	if (!arp_has_active_mode(bond) || slot == active)
		return PROBING_ACTIVE;
	if (active < XBOND_MAX_SLAVES)
		return PROBING_BACKUP;
	return slot == bond->arp->candidate ? PROBING_CANDIDATE : PROBING_OTHER;
}

static struct probing_rule arp_rule(struct bond *bond)
{
	const struct xbond_bond *pin = bond_pin(bond);
	struct probing_rule rule = {
		.validate = pin->arp_validate,
		.all_targets = pin->arp_all_targets && arp_has_active_mode(bond),
		.missed_max = pin->arp_missed_max,
		.interval_ns = pin->arp_interval_ms * NS_PER_MS,
	};

	for (unsigned int i = 0; i < XBOND_PROBE_TARGETS; i++)
		rule.targets |= (uint32_t)bond->arp->path[i].leads << i;
	return rule;
}

void arp_spare(struct bond *bond, unsigned int slot, uint64_t now_ns)
{
	bond->arp->slave[slot].state = (struct probing_state){ .since_ns = now_ns };
}

/* A slave that was added while the monitor was on must not inherit what its slot has heard. */
static void arp_meet(struct bond *bond, unsigned int slot, uint64_t now_ns)
{
	struct arp_slave *slave = &bond->arp->slave[slot];
	uint64_t since_ns = bond->members[slot].since_ns;

	if (slave->since_ns == since_ns)
		return;
	*slave = (struct arp_slave){ .since_ns = since_ns };
	arp_spare(bond, slot, now_ns);
	if (since_ns > bond->arp->started_ns)
		memset(&bond->dataplane.pins.probes->times[slot], 0,
		       sizeof(struct xbond_probe_times));
}

/* Frames have no times, so those of an interval count from its end. */
static void arp_count_frames(struct bond *bond, unsigned int slot, uint64_t now_ns)
{
	struct arp_slave *slave = &bond->arp->slave[slot];
	struct xbond_counters counters;
	uint64_t frames;

	if (pins_counters(&bond->dataplane.pins, slot, &counters))
		return;
	frames = counters.rx_packets + counters.rx_dropped;
	if (frames > slave->frames && bond->arp->begun_ns)
		slave->frames_ns = now_ns;
	slave->frames = frames;
}

static uint64_t arp_last_ns(struct bond *bond, const struct probing_rule *rule, unsigned int slot,
			    bool is_answered)
{
	const struct probing_heard heard = {
		.any_ns = bond->arp->slave[slot].frames_ns,
		.times = &bond->dataplane.pins.probes->times[slot],
	};

	return probing_last_ns(rule, arp_role(bond, slot), &heard, is_answered);
}

static bool arp_active_is_answered(struct bond *bond, const struct probing_rule *rule)
{
	unsigned int active = bond_pin(bond)->active_slot;

	return active < XBOND_MAX_SLAVES &&
	       arp_last_ns(bond, rule, active, true) > bond->arp->slave[active].state.since_ns;
}

/* A partner may drop what comes before its port distributes, so silence proves nothing. */
static bool arp_is_held_by_lacp(const struct bond *bond, unsigned int slot)
{
	return !slots_have(bond_lacp_distributing(bond), slot);
}

static bool arp_judge_slave(struct bond *bond, const struct probing_rule *rule, unsigned int slot,
			    bool is_answered, uint64_t now_ns)
{
	struct probing_state *state = &bond->arp->slave[slot].state;
	uint64_t last_ns = arp_last_ns(bond, rule, slot, is_answered);

	if (arp_is_held_by_lacp(bond, slot))
		arp_spare(bond, slot, now_ns);
	switch (probing_step(rule, arp_role(bond, slot), state, last_ns, bond->arp->begun_ns,
			     now_ns)) {
	case PROBING_UP: return verdict_set(bond, slot, XBOND_MONITOR_ARP, true);
	case PROBING_DOWN: return verdict_set(bond, slot, XBOND_MONITOR_ARP, false);
	case PROBING_UNCHANGED: break;
	}
	return false;
}

static void arp_note_active(struct bond *bond, uint64_t now_ns)
{
	unsigned int active = bond_pin(bond)->active_slot;

	if (bond->arp->active != active && active < XBOND_MAX_SLAVES)
		arp_spare(bond, active, now_ns);
	bond->arp->active = active;
}

bool arp_judge(struct bond *bond, uint64_t now_ns)
{
	struct probing_rule rule = arp_rule(bond);
	bool is_answered, changed = false;

	bond_for_each_member (bond, slot) {
		arp_meet(bond, slot, now_ns);
		arp_count_frames(bond, slot, now_ns);
	}
	arp_note_active(bond, now_ns);
	if (!bond->arp->begun_ns)
		return false;
	is_answered = arp_active_is_answered(bond, &rule);
	bond_for_each_member (bond, slot)
		changed |= arp_judge_slave(bond, &rule, slot, is_answered, now_ns);
	return changed;
}
