/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/slots.h"
#include "common/clock.h"
#include "common/memory.h"
#include "daemon/base/event.h"
#include "daemon/base/main_loop.h"
#include "daemon/base/worker.h"
#include "daemon/bond/evaluate.h"
#include "daemon/monitor/monitor.h"
#include "network/driver.h"
#include "rules/link_state.h"

/* Losses that two monitors see within this time are one. */
#define QUALITY_SAME_LOSS_NS NS_PER_S

struct quality_bond {
	uint64_t next_ns; /* when its counters are read next */
};

struct quality_member {
	bool excused;	   /* bondd has changed the device since the last look */
	uint32_t refusing; /* monitors that said no at the last look */
};

struct part quality_part = { .bond_size = sizeof(struct quality_bond),
			     .member_size = sizeof(struct quality_member) };

static struct quality_bond *quality_of_bond(const struct bond *bond)
{
	return part_of_bond(bond, &quality_part);
}

static struct quality_member *quality_of_member(const struct bond *bond, unsigned int slot)
{
	return part_of_member(bond, &quality_part, slot);
}

static struct xbond_quality *quality_of(struct bond *bond, unsigned int slot)
{
	struct xbond_quality *quality = bond->dataplane.pins.quality;

	return quality ? &quality[slot] : NULL;
}

static bool quality_is_wanted(struct bond *bond)
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
	quality_of_member(bond, slot)->excused = true;
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

static void quality_clear(struct bond *bond, enum xbond_monitor monitor)
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
	bool *excused = &quality_of_member(bond, slot)->excused;
	bool was = *excused || slave->resets != quality->resets ||
		   slots_have(bond->rx_turn.reset, slot) ||
		   slave->before.flags & XBOND_SLAVE_MAC_CHANGES;

	*excused = false;
	quality->resets = slave->resets;
	return was;
}

/* Other monitors' losses of a link that keeps its carrier. */
static void quality_take_other_losses(struct bond *bond, unsigned int slot,
				      struct xbond_flaps *flaps, uint64_t now_ns)
{
	const uint32_t others = XBOND_MONITORS_HARD & ~(1u << XBOND_MONITOR_CARRIER);
	uint32_t refusing = bond_link_refusing(bond, slot) & others;
	uint32_t *before = &quality_of_member(bond, slot)->refusing;
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

static bool quality_judge(struct bond *bond, unsigned int slot, const struct link_stats *stats,
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

#define QUALITY_ACCURACY_US 5000
#define QUALITY_PERIOD_MS 250

struct sampler_query {
	struct asked_slave of;
	int result; /* the answer: 0 or -errno */
	uint64_t read_ns;
	struct link_stats stats;
};

static void sampler_ask(struct asker *asker, void *question)
{
	struct sampler_query *query = question;

	query->result = link_stats_get(&asker->nl, (int)query->of.ifindex, &query->stats);
	query->read_ns = clock_now_ns();
}

static const struct asker_kind sampler_kind = {
	.name = "sample",
	.size = sizeof(struct sampler_query),
	.ask = sampler_ask,
};

static uint64_t quality_period_ns(const struct xbond_bond *pin)
{
	uint32_t period_ms = QUALITY_PERIOD_MS;

	if (pin->rx_silence_ms && pin->rx_silence_ms / SILENCE_LOOKS < period_ms)
		period_ms = pin->rx_silence_ms / SILENCE_LOOKS;
	return period_ms * NS_PER_MS;
}

/* Not while the thread is busy; it reports when it is done. */
static void quality_arm(struct daemon *daemon)
{
	uint64_t next_ns = UINT64_MAX;

	if (!daemon->quality)
		return;
	for (struct bond *bond = daemon->bonds; bond && !daemon->sampler->busy; bond = bond->next)
		if (quality_is_wanted(bond) && quality_of_bond(bond)->next_ns < next_ns)
			next_ns = quality_of_bond(bond)->next_ns;
	loop_timer_at(daemon->quality, next_ns);
}

void quality_schedule(struct bond *bond)
{
	quality_of_bond(bond)->next_ns = 0;
	quality_arm(bond->daemon);
}

void quality_configure(struct bond *bond, const struct option_set *options)
{
	static const struct {
		enum option_id option;
		enum xbond_monitor monitor;
	} pairs[] = {
		{ OPT_FLAP_LIMIT, XBOND_MONITOR_FLAPS },
		{ OPT_RX_SILENCE, XBOND_MONITOR_SILENCE },
		{ OPT_ERROR_LIMIT, XBOND_MONITOR_ERRORS },
	};
	bool some = false;

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		if (!options->given[pairs[i].option])
			continue;
		quality_clear(bond, pairs[i].monitor);
		some = true;
	}
	if (some)
		quality_schedule(bond);
}

static void quality_ask(struct daemon *daemon)
{
	struct sampler_query *queries = NULL;
	uint64_t now_ns = clock_now_ns();
	size_t count = 0;

	for (struct bond *bond = daemon->bonds; bond; bond = bond->next) {
		if (!quality_is_wanted(bond) || quality_of_bond(bond)->next_ns > now_ns)
			continue;
		quality_of_bond(bond)->next_ns = now_ns + quality_period_ns(bond_pin(bond));
		if (!bond_is_ready(bond))
			continue;
		bond_for_each_member (bond, slot) {
			memory_more(queries, count);
			queries[count++] = (struct sampler_query){ .of = asked_slave(bond, slot) };
		}
	}
	asker_ask(daemon->sampler, queries, count);
	free(queries);
	quality_arm(daemon);
}

static void quality_take_answers(struct daemon *daemon)
{
	size_t count;
	const struct sampler_query *answers = asker_answers(daemon->sampler, &count);
	struct bond *bond = NULL, *changed = NULL;

	for (size_t i = 0; i < count; i++) {
		bond = asked_slave_bond(daemon, bond, &answers[i].of);
		if (changed && changed != bond) {
			bond_evaluate(changed);
			changed = NULL;
		}
		if (bond && !answers[i].result &&
		    quality_judge(bond, answers[i].of.slot, &answers[i].stats, answers[i].read_ns))
			changed = bond;
	}
	if (changed)
		bond_evaluate(changed);
	quality_arm(daemon);
}

static int quality_on_time(sd_event_source *source, uint64_t usec, void *arg)
{
	latency_note("quality");
	quality_ask(arg);
	return 0;
}

static int quality_on_answers(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	return burst_run(arg, "quality", quality_take_answers);
}

int quality_init(struct daemon *daemon)
{
	int r = asker_new(&sampler_kind, &daemon->sampler);

	if (!r)
		r = loop_watch(daemon->event, daemon->sampler->worker.fd, quality_on_answers,
			       daemon);
	return r ? r
		 : loop_timer(daemon->event, QUALITY_ACCURACY_US, quality_on_time, daemon,
			      &daemon->quality);
}

void quality_done(struct daemon *daemon)
{
	daemon->quality = sd_event_source_disable_unref(daemon->quality);
	asker_free(daemon->sampler);
	daemon->sampler = NULL;
}
