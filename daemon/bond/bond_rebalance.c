/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/bond/evaluate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/slots.h"
#include "common/clock.h"
#include "common/memory.h"
#include "common/readings.h"
#include "daemon/base/crashpoint.h"
#include "daemon/base/event.h"
#include "daemon/base/main_loop.h"
#include "daemon/bond/daemon.h"
#include "daemon/bond/part.h"
#include "daemon/lacp_thread/lacp_thread.h"
#include "rules/active.h"
#include "rules/buckets.h"
#include "view/view_json.h"

#define MOVES_TEXT_SIZE 320
#define MOVES_LISTED 128 /* pairs of slaves; there may be thousands */
#define NOBODY XBOND_MAX_SLAVES

static unsigned int bond_moves_slot(uint8_t bucket)
{
	return bucket < XBOND_MAX_SLAVES ? bucket : NOBODY;
}

struct bond_moves {
	uint32_t all;
	/* [from][to]; the last is nobody */
	uint16_t count[XBOND_MAX_SLAVES + 1][XBOND_MAX_SLAVES + 1];
};

/* Owners before and now; XBOND_NO_SLOT: nobody. Only counts. */
static void bond_moves_note(struct bond_moves *moves, uint8_t before, uint8_t now)
{
	if (before == now)
		return;
	moves->all++;
	moves->count[bond_moves_slot(before)][bond_moves_slot(now)]++;
}

static void bond_moves_count(const struct xbond_buckets *buckets, uint32_t copy,
			     struct bond_moves *ret_moves)
{
	const uint8_t *before = buckets->bucket[!copy], *now = buckets->bucket[copy];

	memset(ret_moves, 0, sizeof(*ret_moves));
	for (unsigned int i = 0; i < XBOND_BUCKETS; i++)
		bond_moves_note(ret_moves, before[i], now[i]);
}

struct bond_moves_report {
	json_t *json;
	char text[MOVES_TEXT_SIZE];
	size_t used;
	bool full;
};

static void bond_moves_add_text(struct bond_moves_report *report, const char *part)
{
	const char *comma = report->used ? ", " : "";

	if (report->full)
		return;
	report->full = report->used + strlen(part) + sizeof(", , ...") > sizeof(report->text);
	report->used +=
		(size_t)snprintf(report->text + report->used, sizeof(report->text) - report->used,
				 "%s%s", comma, report->full ? "..." : part);
}

static void bond_moves_add(struct bond_moves_report *report, const char *from, const char *to,
			   unsigned int count)
{
	char part[64];

	if (json_array_size(report->json) == MOVES_LISTED)
		return;
	json_array_append_new(report->json,
			      json_pack("{s:o, s:o, s:i}", "from", json_value_text(from), "to",
					json_value_text(to), "buckets", count));
	snprintf(part, sizeof(part), "%s to %s %u", from ? from : "nobody", to ? to : "nobody",
		 count);
	bond_moves_add_text(report, part);
}

/* cause: "slaves" or "load". Nothing is told if nothing has moved. */
static void bond_moves_tell(struct bond *bond, const struct bond_moves *moves, const char *cause)
{
	struct event event = { .kind = EVENT_BUCKETS,
			       .priority = LOG_DEBUG,
			       .bond = bond_pin(bond)->name };
	struct bond_moves_report report = { .used = 0 };

	if (!moves->all)
		return;
	if (bond->dataplane.pins.failover)
		bond->dataplane.pins.failover->moved_buckets += moves->all;
	report.json = json_array();
	for (unsigned int from = 0; from <= NOBODY; from++)
		for (unsigned int to = 0; to <= NOBODY; to++)
			if (moves->count[from][to])
				bond_moves_add(&report, bond_tell_name(bond, from),
					       bond_tell_name(bond, to), moves->count[from][to]);
	event.field[0] = event_number("moved", moves->all);
	event.field[1] = event_json("moves", report.json);
	event.field[2] = event_text("cause", cause);
	event_tell(&event, "%u of %u buckets have moved: %s", moves->all, XBOND_BUCKETS,
		   report.text);
}

void bond_tell_moves(struct bond *bond)
{
	uint32_t copy = bond->dataplane.pins.table->active & 1;
	struct bond_moves moves;

	bond_moves_count(bond->dataplane.pins.buckets, copy, &moves);
	bond_moves_tell(bond, &moves, "slaves");
}

#define REBALANCE_TLB_S 10 /* tlb_dynamic_lb; the kernel's driver has it, too */
#define REBALANCE_ACCURACY_US 5000
#define REBALANCE_LOOK_NS (100 * NS_PER_MS)   /* at buckets that move, and at markers */
#define REBALANCE_LIVE_GAP_NS NS_PER_MS	      /* for which a live bucket waits */
#define REBALANCE_LIVE_WAIT_NS (NS_PER_S / 2) /* at most so long */
#define REBALANCE_LIVE_SILENT_MS 100
#define REBALANCE_LEAST 100000 /* bytes a second */

struct rebalance_counts {
	struct xbond_load load[XBOND_BUCKETS];
	uint64_t sent[XBOND_MAX_SLAVES]; /* bytes by slot */
	uint8_t owner[XBOND_BUCKETS];
};

struct bond_rebalance {
	sd_event_source *timer; /* NULL: off */
	uint64_t began_ns;	/* the interval */
	uint64_t next_ns;
	struct rebalance_counts *then; /* when the interval began; NULL: not known */
	/* Chosen, but markers come first. */
	struct rebalance_move chosen[REBALANCE_MOVES];
	unsigned int chosen_count;
	struct marker_wait markers;
	uint64_t begun_ns; /* when the last ones began to move */
};

static struct bond_rebalance *rebalance_of(const struct bond *bond)
{
	return part_of_bond(bond, &rebalance_part);
}

/* In seconds; 0: off. */
static uint32_t bond_rebalance_interval_s(const struct xbond_bond *pin)
{
	if (pin->rebalance_interval_s)
		return pin->rebalance_interval_s;
	return mode_has(pin->mode, MODE_OWN_MACS) && pin->tlb_dynamic_lb ? REBALANCE_TLB_S : 0;
}

bool bond_rebalance_is_wanted(const struct bond *bond)
{
	const struct pins *pins = &bond->dataplane.pins;

	return bond_rebalance_interval_s(pins->bond) && !pins->bond->flowlet_gap_us &&
	       mode_selection(pins->bond) == XBOND_SELECT_HASH && pins->moves &&
	       pins->loads_fd >= 0;
}

static struct moves_maps bond_rebalance_maps(const struct bond *bond)
{
	const struct pins *pins = &bond->dataplane.pins;

	return (struct moves_maps){ .moves = pins->moves,
				    .buckets = pins->buckets,
				    .copy = pins->table->active };
}

static bool bond_rebalance_moves_live(const struct bond *bond)
{
	return !bond->dataplane.pins.bond->rebalance_idle_ms;
}

static uint64_t bond_rebalance_gap_ns(const struct bond *bond)
{
	return bond_rebalance_moves_live(bond)
		       ? REBALANCE_LIVE_GAP_NS
		       : bond->dataplane.pins.bond->rebalance_idle_ms * NS_PER_MS;
}

static bool bond_rebalance_is_late(const struct bond *bond, uint64_t now_ns)
{
	return bond_rebalance_moves_live(bond) &&
	       now_ns - rebalance_of(bond)->begun_ns > REBALANCE_LIVE_WAIT_NS;
}

/*
 * Live buckets wait for a gap only for some time; then they move without one. Partners that begin
 * by this have the same time.
 */
static void bond_rebalance_finish(struct bond *bond, uint64_t now_ns)
{
	struct moves_maps maps = bond_rebalance_maps(bond);
	bool late = bond_rebalance_is_late(bond, now_ns), due[XBOND_BUCKETS];
	struct bond_moves moves = { 0 };

	for (unsigned int i = 0; i < XBOND_BUCKETS; i++)
		due[i] = moves_wait(&maps, i) && (late || moves_is_due(&maps, i, now_ns));
	for (unsigned int i = 0; i < XBOND_BUCKETS; i++) {
		if (!due[i])
			continue;
		bond_moves_note(&moves, maps.moves->from[i], (uint8_t)(maps.moves->to[i] - 1));
		moves_finish(&maps, i, now_ns);
	}
	if (late)
		rebalance_of(bond)->begun_ns = now_ns;
	bond_moves_tell(bond, &moves, "load");
}

/* Silent ones go first; those that never pause are not waited for any longer. */
static void bond_rebalance_give_up(struct bond *bond)
{
	struct moves_maps maps = bond_rebalance_maps(bond);

	for (unsigned int i = 0; i < XBOND_BUCKETS; i++)
		if (moves_may_give_up(&maps, i))
			moves_give_up(&maps, i);
}

static uint8_t bond_rebalance_may(const struct bond *bond, uint32_t silent_ticks)
{
	bool live = bond_rebalance_moves_live(bond);
	uint64_t idle_ms =
		live ? REBALANCE_LIVE_SILENT_MS : bond->dataplane.pins.bond->rebalance_idle_ms;

	if ((uint64_t)silent_ticks << XBOND_LOAD_TICK_SHIFT > idle_ms * NS_PER_MS)
		return REBALANCE_SILENT;
	return live ? REBALANCE_LIVE : REBALANCE_STAYS;
}

/*
 * Slots and buckets count alike: skb->len, when a packet is given to a slave. Returns NULL if the
 * kernel refuses; else the caller frees it.
 */
static struct rebalance_counts *bond_rebalance_counts(struct bond *bond)
{
	struct rebalance_counts *counts = memory_need(calloc(1, sizeof(*counts)));
	struct moves_maps maps = bond_rebalance_maps(bond);
	bool is_read = !loads_read(&bond->dataplane.pins, counts->load);

	memcpy(counts->owner, maps.buckets->bucket[maps.copy & 1], XBOND_BUCKETS);
	bond_for_each_member (bond, slot) {
		struct xbond_counters sum = { 0 };

		is_read = is_read && !pins_counters(&bond->dataplane.pins, slot, &sum);
		counts->sent[slot] = sum.tx_bytes;
	}
	if (is_read)
		return counts;
	free(counts);
	return NULL;
}

/* Counters of slots that have begun meanwhile are smaller than before. */
static bool bond_rebalance_base(const struct bond *bond, const struct rebalance_counts *now,
				struct rebalance_input *input)
{
	const struct rebalance_counts *then = rebalance_of(bond)->then;
	struct base_load_input base = { .bytes = input->bytes,
					.owner_was = then->owner,
					.owner_is = now->owner };

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (now->sent[slot] > then->sent[slot])
			base.sent[slot] = now->sent[slot] - then->sent[slot];
	return base_load(&base, input->base);
}

/* Returns false if this interval says too little. */
static bool bond_rebalance_describe(const struct bond *bond, const struct rebalance_counts *now,
				    uint64_t now_ns, struct rebalance_input *ret_input)
{
	const struct bond_rebalance *rebalance = rebalance_of(bond);
	struct moves_maps maps = bond_rebalance_maps(bond);

	ret_input->bucket = maps.buckets->bucket[maps.copy & 1];
	ret_input->home = maps.buckets->home;
	memcpy(ret_input->weight, bond->evaluation.plan.weight, sizeof(ret_input->weight));
	ret_input->least = REBALANCE_LEAST * (now_ns - rebalance->began_ns) / NS_PER_S;
	for (unsigned int i = 0; i < XBOND_BUCKETS; i++) {
		const struct xbond_load *load = &now->load[i];

		ret_input->bytes[i] = load->bytes - rebalance->then->load[i].bytes;
		ret_input->may[i] = moves_wait(&maps, i)
					    ? REBALANCE_STAYS
					    : bond_rebalance_may(bond, loads_silence(load, now_ns));
	}
	return bond_rebalance_base(bond, now, ret_input);
}

/* The partners answer markers when what was sent on these slaves has arrived. */
static void bond_rebalance_mark(struct bond *bond, uint64_t now_ns)
{
	struct bond_rebalance *rebalance = rebalance_of(bond);
	struct marker_wait_input input = { .now_ns = now_ns };
	uint64_t ask;

	rebalance->markers = (struct marker_wait){ 0 };
	if (!bond_lacp_thread(bond) || !bond_pin(bond)->drain_markers)
		return;
	for (unsigned int i = 0; i < rebalance->chosen_count; i++)
		input.losers |= slots_bit(rebalance->chosen[i].from) |
				slots_bit(rebalance->chosen[i].to); /* for the partner */
	ask = marker_wait_ask(&rebalance->markers, &input);
	slots_for_each (ask, slot)
		lacp_thread_drain(bond_lacp_thread(bond), slot);
}

/* Its limit is its own: other flows that leave the slots may send markers again. */
static bool bond_rebalance_awaits_markers(const struct bond *bond, uint64_t now_ns)
{
	struct marker_wait *markers = &rebalance_of(bond)->markers;
	struct marker_wait_input input = { .losers = markers->asked, .now_ns = now_ns };

	if (!bond_lacp_thread(bond))
		return false;
	input.draining = lacp_thread_draining(bond_lacp_thread(bond));
	return marker_wait_goes_on(markers, &input);
}

/* A decision on slaves may have given the buckets to others meanwhile. */
static bool bond_rebalance_still_holds(const struct moves_maps *maps,
				       const struct rebalance_move *move)
{
	const uint8_t *owner = maps->buckets->bucket[maps->copy & 1];

	return owner[move->bucket] == move->from && owner[move->partner] == move->to &&
	       !moves_wait(maps, move->bucket) && !moves_wait(maps, move->partner);
}

static void bond_rebalance_begin(struct bond *bond, uint64_t now_ns)
{
	struct bond_rebalance *rebalance = rebalance_of(bond);
	struct moves_maps maps = bond_rebalance_maps(bond);

	maps.moves->gap_ns = bond_rebalance_gap_ns(bond);
	for (unsigned int i = 0; i < rebalance->chosen_count; i++) {
		const struct rebalance_move *move = &rebalance->chosen[i];

		if (bond_rebalance_still_holds(&maps, move))
			moves_begin(&maps, move->bucket, move->to, move->partner, now_ns);
	}
	rebalance->chosen_count = 0;
	rebalance->begun_ns = now_ns;
	rebalance->next_ns = now_ns + bond_rebalance_interval_s(bond_pin(bond)) * NS_PER_S;
	maps.moves->rounds++;
	maps.moves->round_ns = now_ns;
	crashpoint("rebalance-begun");
}

static void bond_rebalance_choose(struct bond *bond, uint64_t now_ns)
{
	struct bond_rebalance *rebalance = rebalance_of(bond);
	struct rebalance_counts *now = bond_rebalance_counts(bond);
	struct rebalance_input *input = memory_need(calloc(1, sizeof(*input)));

	if (now) {
		if (rebalance->then && bond->evaluation.published &&
		    bond_rebalance_describe(bond, now, now_ns, input)) {
			rebalance->chosen_count = rebalance_plan(input, rebalance->chosen);
			bond_rebalance_mark(bond, now_ns);
		}
		free(rebalance->then);
		rebalance->then = now;
	}
	rebalance->began_ns = now_ns;
	free(input);
}

static void bond_rebalance_step(struct bond *bond, uint64_t now_ns)
{
	struct bond_rebalance *rebalance = rebalance_of(bond);

	bond_rebalance_finish(bond, now_ns);
	if (now_ns >= rebalance->next_ns) {
		rebalance->next_ns = now_ns + bond_rebalance_interval_s(bond_pin(bond)) * NS_PER_S;
		if (!rebalance->chosen_count) { /* else new markers would be awaited again */
			bond_rebalance_give_up(bond);
			bond_rebalance_choose(bond, now_ns);
		}
	}
	if (rebalance->chosen_count && !bond_rebalance_awaits_markers(bond, now_ns))
		bond_rebalance_begin(bond, now_ns);
}

static void bond_rebalance_arm(struct bond *bond, uint64_t now_ns)
{
	struct moves_maps maps = bond_rebalance_maps(bond);
	uint64_t next_ns = rebalance_of(bond)->next_ns;

	if ((rebalance_of(bond)->chosen_count || moves_count_waiting(&maps)) &&
	    now_ns + REBALANCE_LOOK_NS < next_ns)
		next_ns = now_ns + REBALANCE_LOOK_NS;
	loop_timer_at(rebalance_of(bond)->timer, next_ns);
}

static int bond_rebalance_on_time(sd_event_source *source, uint64_t usec, void *arg)
{
	struct bond *bond = arg;
	uint64_t now_ns = clock_now_ns();

	latency_note("rebalance");
	bond_rebalance_step(bond, now_ns);
	bond_rebalance_arm(bond, now_ns);
	return 0;
}

static void bond_rebalance_stop(struct bond *bond, bool is_over)
{
	struct bond_rebalance *rebalance = rebalance_of(bond);

	if (!rebalance->timer)
		return;
	sd_event_source_disable_unref(rebalance->timer);
	free(rebalance->then);
	memset(rebalance, 0, sizeof(*rebalance));
}

static void bond_rebalance_start(struct bond *bond)
{
	struct bond_rebalance *rebalance = rebalance_of(bond);

	if (loop_timer(bond->daemon->event, REBALANCE_ACCURACY_US, bond_rebalance_on_time, bond,
		       &rebalance->timer)) {
		event_error(bond_pin(bond)->name, NULL,
			    "out of memory: flows are not moved by load");
		return;
	}
	rebalance->then = bond_rebalance_counts(bond);
	rebalance->began_ns = rebalance->begun_ns = clock_now_ns();
}

void bond_rebalance_settle(struct bond *bond)
{
	struct bond_rebalance *rebalance = rebalance_of(bond);
	uint64_t now_ns = clock_now_ns(), next_ns;

	if (!bond_rebalance_is_wanted(bond)) {
		dataplane_settle_moves(&bond->dataplane);
		bond_rebalance_stop(bond, true);
		return;
	}
	if (!rebalance->timer)
		bond_rebalance_start(bond);
	if (!rebalance->timer)
		return;
	next_ns = now_ns + bond_rebalance_interval_s(bond_pin(bond)) * NS_PER_S;
	if (!rebalance->next_ns || rebalance->next_ns > next_ns) {
		rebalance->next_ns = next_ns;
		bond_rebalance_arm(bond, now_ns);
	}
}

struct part rebalance_part = { .bond_size = sizeof(struct bond_rebalance),
			       .stop = bond_rebalance_stop };
