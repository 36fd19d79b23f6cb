/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/monitor/quality_judge.h"

#include <string.h>

#include "common/clock.h"
#include "daemon/base/event.h"
#include "daemon/monitor/verdict.h"
#include "rules/link_state.h"

/* Losses that two monitors see within this time are one. */
#define QUALITY_SAME_LOSS_NS NS_PER_S

static struct xbond_quality *quality_of(struct bond *bond, unsigned int slot)
{
	struct xbond_quality *quality = bond->dataplane.pins.quality;

	return quality ? &quality[slot] : NULL;
}

bool quality_is_wanted(struct bond *bond)
{
	const struct xbond_bond *pin = bond_pin(bond);

	return bond->dataplane.pins.quality &&
	       (pin->flap_limit || pin->rx_silence_ms || pin->error_limit);
}

void quality_begin(struct bond *bond, unsigned int slot)
{
	struct xbond_quality *quality = quality_of(bond, slot);

	if (quality)
		memset(quality, 0, sizeof(*quality));
}

void quality_excuse(struct bond *bond, unsigned int slot)
{
	bond->members[slot].quality.excused = true;
}

static void quality_clear_slot(struct xbond_quality *quality, enum xbond_monitor monitor)
{
	if (monitor == XBOND_MONITOR_FLAPS)
		quality->flaps = (struct xbond_flaps){ 0 };
	else if (monitor == XBOND_MONITOR_SILENCE)
		quality->silence = (struct xbond_silence){ 0 };
	else
		quality->errors = (struct xbond_errors){ 0 };
}

void quality_clear(struct bond *bond, enum xbond_monitor monitor)
{
	bond_for_each_member (bond, slot) {
		struct xbond_quality *quality = quality_of(bond, slot);

		if (!quality)
			continue;
		quality_clear_slot(quality, monitor);
		verdict_forget(bond, slot, monitor);
	}
}

/* Has bondd itself caused the losses since the last look? */
static bool quality_is_excused(struct bond *bond, unsigned int slot, struct xbond_quality *quality)
{
	const struct xbond_slave *slave = bond_slave(bond, slot);
	bool *excused = &bond->members[slot].quality.excused;
	bool was = *excused || slave->resets != quality->resets || rx_turn_has_reset(bond, slot) ||
		   slave->before.flags & XBOND_SLAVE_MAC_CHANGES;

	*excused = false;
	quality->resets = slave->resets;
	return was;
}

/* Other monitors' losses of a link that keeps its carrier. */
static void quality_take_other_losses(struct bond *bond, unsigned int slot,
				      struct xbond_flaps *flaps, uint64_t now_ns)
{
	const struct link_verdict *verdict = &bond->members[slot].verdict;
	const uint32_t others = XBOND_MONITORS_HARD & ~(1u << XBOND_MONITOR_CARRIER);
	uint32_t refusing = verdict->spoken & ~verdict->works & others;
	uint32_t *before = &bond->members[slot].quality.refusing;
	uint64_t last_ns = flaps->at_ns[(flaps->next - 1) % XBOND_FLAPS_KEPT];

	if (refusing & ~*before && verdict_of(bond, slot, XBOND_MONITOR_CARRIER) &&
	    now_ns - last_ns > QUALITY_SAME_LOSS_NS)
		flaps_add(flaps, 1, now_ns);
	*before = refusing;
}

static void quality_log_hold(struct bond *bond, unsigned int slot,
			     const struct xbond_hold_down *hold, const char *what, uint32_t count,
			     const char *unit)
{
	event_notice(bond_pin(bond)->name, bond_slave(bond, slot)->name,
		     "%s is held down for %llu s while another slave works: %s %u %s",
		     bond_slave(bond, slot)->name,
		     (unsigned long long)(hold_down_time_ns(hold) / NS_PER_S), what, count, unit);
}

static bool quality_judge_flaps(struct bond *bond, unsigned int slot, struct xbond_flaps *flaps,
				uint64_t now_ns)
{
	uint32_t limit = bond_pin(bond)->flap_limit, holds = flaps->hold.count;
	bool held = flaps_hold(flaps, limit, now_ns);

	if (flaps->hold.count != holds)
		quality_log_hold(bond, slot, &flaps->hold, "its link was lost",
				 flaps_in_minute(flaps, now_ns), "times in a minute");
	return verdict_set(bond, slot, XBOND_MONITOR_FLAPS, !held);
}

/* Drivers may count late; what the programs have counted is there at once. */
static uint64_t quality_frames(struct bond *bond, unsigned int slot, const struct link_stats *stats)
{
	struct xbond_counters counters = { 0 };

	pins_counters(&bond->dataplane.pins, slot, &counters);
	return stats->rx.packets + counters.rx_packets + counters.rx_dropped;
}

/* Without carrier silence means nothing. */
static bool quality_judge_silence(struct bond *bond, unsigned int slot,
				  struct xbond_silence *silence, const struct link_stats *stats,
				  uint64_t now_ns)
{
	bool carrier = verdict_of(bond, slot, XBOND_MONITOR_CARRIER);
	uint32_t limit_ms = bond_pin(bond)->rx_silence_ms;
	bool held;

	silence_take(silence, quality_frames(bond, slot, stats), carrier, now_ns);
	if (!carrier)
		return verdict_forget(bond, slot, XBOND_MONITOR_SILENCE);
	held = silence_hold(silence, limit_ms, now_ns);
	return verdict_set(bond, slot, XBOND_MONITOR_SILENCE, !held);
}

static bool quality_judge_errors(struct bond *bond, unsigned int slot, struct xbond_errors *errors,
				 const struct link_stats *stats, uint64_t now_ns)
{
	uint32_t limit = bond_pin(bond)->error_limit, holds = errors->hold.count;
	bool held = error_rate_hold(errors, stats->rx.packets, error_rate_broken(&stats->rx), limit,
				    now_ns);

	if (errors->hold.count != holds)
		quality_log_hold(bond, slot, &errors->hold, "of a million frames it received",
				 errors->rate, "broken ones");
	return verdict_set(bond, slot, XBOND_MONITOR_ERRORS, !held);
}

bool quality_judge(struct bond *bond, unsigned int slot, const struct link_stats *stats,
		   uint64_t now_ns)
{
	struct xbond_quality *quality = quality_of(bond, slot);
	const struct xbond_bond *pin = bond_pin(bond);
	bool changed = false;

	if (!quality)
		return false;
	flaps_take(&quality->flaps, stats->carrier_losses, quality_is_excused(bond, slot, quality),
		   now_ns);
	quality_take_other_losses(bond, slot, &quality->flaps, now_ns);
	if (pin->flap_limit)
		changed |= quality_judge_flaps(bond, slot, &quality->flaps, now_ns);
	if (pin->rx_silence_ms)
		changed |= quality_judge_silence(bond, slot, &quality->silence, stats, now_ns);
	if (pin->error_limit)
		changed |= quality_judge_errors(bond, slot, &quality->errors, stats, now_ns);
	return changed;
}
