/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which slave a hash takes, now and if that slave failed: by the pinned tables, by what has carrier
 * and by the rules of bondd and of the LACP machines.
 */
#include "cli/base/foretell.h"

#include <string.h>
#include <unistd.h>

#include "bpf/flow_words.h"
#include "bpf/slots.h"
#include "cli/base/picture.h"
#include "common/clock.h"
#include "common/mode.h"
#include "options/values.h"
#include "rules/active.h"
#include "rules/buckets.h"
#include "view/view_bond.h"

/*
 * Which slaves have carrier, as the programs see it: by the bond's own program (bpf/xbond.bpf.c).
 * So explain is right while bondd is dead, too.
 */

#define LOOK_AGAIN_NS (100 * NS_PER_MS)

struct carriers {
	uint64_t seen_ns; /* 0: never */
	uint64_t up, lost;
};

/* A capture has many packets, so not for each. */
static const struct carriers *carriers_look(const struct pins *pins)
{
	static struct carriers carriers;
	uint64_t now_ns = clock_now_ns();
	int fd;

	if (carriers.seen_ns && now_ns - carriers.seen_ns < LOOK_AGAIN_NS)
		return &carriers;
	carriers = (struct carriers){ .seen_ns = now_ns, .up = UINT64_MAX };
	fd = carrier_look_open(pins);
	carrier_look(fd, pins, &carriers.up, &carriers.lost);
	if (fd >= 0)
		close(fd);
	return &carriers;
}

/*
 * The rule of select_live() in the BPF programs: the slots of mask that packets take. All of mask,
 * if the programs cannot read the kernel's devices, or may not be run.
 */
static uint64_t carriers_live(const struct pins *pins, uint64_t mask)
{
	const struct carriers *carriers = carriers_look(pins);
	uint64_t live = mask & carriers->up;

	if (!live)
		live = pins->table->tx_mask & carriers->up;
	if (!live)
		live = mask & ~carriers->lost;
	if (!live)
		live = pins->table->failed & ~carriers->lost;
	return live ? live : mask;
}

/* Who may transmit after a slave has failed. */

static uint64_t aftermath_linked(const struct pins *pins, uint64_t slots)
{
	uint64_t linked = 0;

	pins_for_each_member (pins, slot)
		if (pins->slaves[slot].link == XBOND_LINK_UP)
			linked |= slots_bit(slot);
	return slots & linked;
}

/*
 * Slots whose partners have nothing left to agree to. Chosen ones begin before bondd shares out
 * the buckets, because the LACP thread comes first.
 */
static uint64_t aftermath_agreed(const struct lacp_system *system)
{
	uint8_t needed = LACP_SYNCHRONIZATION;
	uint64_t agreed = 0;

	if (!system->state.config.coupled)
		needed |= LACP_COLLECTING;
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (!(needed & ~system->port[slot].partner.state))
			agreed |= slots_bit(slot);
	return agreed;
}

/* And those that have failed without bondd, which LACP does not know. */
static uint64_t aftermath_leaving(const struct pins *pins, unsigned int failed)
{
	return slots_bit(failed) | ~carriers_live(pins, UINT64_MAX);
}

/* Returns the slots that may transmit then. */
static uint64_t aftermath_by_lacp(const struct pins *pins, unsigned int failed,
				  uint64_t *ret_unsure)
{
	struct lacp_prospect prospect;
	struct lacp_system system;
	uint64_t stay, come;

	view_lacp_read(pins, &system);
	prospect = lacp_prospect(&system, aftermath_leaving(pins, failed), clock_now_ns());
	stay = pins->table->tx_mask & (prospect.distributing | ~system.used);
	come = prospect.chosen & prospect.standby & aftermath_agreed(&system);
	come = aftermath_linked(pins, come | prospect.fallback);
	*ret_unsure = aftermath_linked(pins, prospect.chosen) & ~stay & ~come;
	return stay | come;
}

struct aftermath aftermath_of(const struct pins *pins, unsigned int failed)
{
	uint64_t others = pins->table->tx_mask & ~slots_bit(failed);
	struct aftermath after = { .at_once = carriers_live(pins, others) & ~slots_bit(failed) };

	after.settled = after.at_once;
	if (mode_has(pins->bond->mode, MODE_LACP)) {
		others = aftermath_by_lacp(pins, failed, &after.unsure);
		after.settled = others ? carriers_live(pins, others) & ~slots_bit(failed) : 0;
	}
	return after;
}

/* The slot of a hash. */

bool foretell_is_tlb(const struct pins *pins)
{
	return pins->table->flags & XBOND_F_TLB && pins->alb;
}

uint64_t foretell_mask(const struct pins *pins)
{
	return values_undrained(pins, pins->table->tx_mask);
}

uint64_t foretell_live(const struct pins *pins)
{
	return carriers_live(pins, foretell_mask(pins));
}

static const uint8_t *foretell_table_of(const struct pins *pins)
{
	return pins->buckets->bucket[pins->table->active & 1];
}

static bool foretell_has_moves(const struct pins *pins)
{
	return pins->moves && pins->table->flags & XBOND_F_LOADS;
}

/* One that has moved may have a new owner that bondd has not written down yet. */
static unsigned int foretell_owner_of(const struct pins *pins, unsigned int bucket)
{
	const struct xbond_moves *moves = pins->moves;

	return foretell_has_moves(pins) && moves->moved[bucket] && moves->to[bucket]
		       ? moves->to[bucket] - 1u
		       : foretell_table_of(pins)[bucket];
}

void foretell_owners(const struct pins *pins, uint8_t ret_bucket[XBOND_BUCKETS])
{
	for (unsigned int bucket = 0; bucket < XBOND_BUCKETS; bucket++)
		ret_bucket[bucket] = (uint8_t)foretell_owner_of(pins, bucket);
}

unsigned int foretell_flowlet(const struct pins *pins, uint64_t hash)
{
	uint64_t word, silent_ns;
	unsigned int slot;

	if (!pins->flowlets)
		return XBOND_NO_SLOT;
	word = __atomic_load_n(&pins->flowlets->flow[FLOWLET_OF(hash)], __ATOMIC_RELAXED);
	silent_ns = clock_now_ns() - (word & ~XBOND_FLOWLET_SLOT);
	slot = word & XBOND_FLOWLET_SLOT;
	return (int64_t)silent_ns <= (int64_t)pins->table->flowlet_gap_ns &&
			       slots_have(foretell_live(pins), slot)
		       ? slot
		       : XBOND_NO_SLOT;
}

/* The owner of the hash's bucket, which may be none that may transmit. */
static unsigned int foretell_owner(const struct pins *pins, uint64_t hash)
{
	return foretell_owner_of(pins, FLOW_BUCKET(hash)) % XBOND_MAX_SLAVES;
}

struct flow_rule foretell_rule(const struct pins *pins)
{
	return (struct flow_rule){ .policy = pins->settings->xmit_hash_policy,
				   .seed = pins->table->hash_seed,
				   .symmetric = pins->settings->symmetric,
				   .flow_label = pins->settings->ip6_flow_label };
}

unsigned int foretell_slot(const struct pins *pins, uint64_t hash)
{
	return flow_slot_usable(foretell_table_of(pins), foretell_owner(pins, hash), hash,
				foretell_live(pins));
}

/* The order of select_successor() or tlb_active() in the BPF programs. */
static const uint8_t *foretell_order(const struct pins *pins)
{
	return foretell_is_tlb(pins) ? pins->alb->order : foretell_table_of(pins);
}

static unsigned int foretell_successor(const struct pins *pins, uint64_t mask)
{
	unsigned int slot = successor_of(foretell_order(pins), mask);

	return slot == XBOND_NO_SLOT && mask ? (unsigned int)__builtin_ctzll(mask) : slot;
}

/* The rule of choose_slot() in the BPF programs, or of tlb_active(). */
unsigned int foretell_active_slot(const struct pins *pins)
{
	uint64_t mask = foretell_live(pins);
	unsigned int slot = values_active_slot(pins);

	return slots_have(mask, slot) ? slot : foretell_successor(pins, mask);
}

static void foretell_shares_by_weight(const struct pins *pins, uint64_t mask,
				      double share[XBOND_MAX_SLAVES])
{
	uint32_t member_weight[XBOND_MAX_SLAVES] = { 0 }, weight[XBOND_MAX_SLAVES] = { 0 };
	double sum = 0;

	weights_of(pins, mask, member_weight, weight);
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		sum += weight[slot];
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		share[slot] = sum > 0 ? weight[slot] / sum : 0;
}

void foretell_shares(const struct pins *pins, double ret_share[XBOND_MAX_SLAVES])
{
	enum xbond_selection selection = pins->table->selection;
	uint64_t mask = foretell_mask(pins);

	if (selection == XBOND_SELECT_TURNS || selection == XBOND_SELECT_HASH) {
		foretell_shares_by_weight(pins, mask, ret_share);
		return;
	}
	if (selection == XBOND_SELECT_ACTIVE)
		mask = slots_bit(foretell_active_slot(pins));
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		ret_share[slot] = slots_have(mask, slot);
}

void foretell_settle(const struct pins *pins, uint8_t ret_bucket[XBOND_BUCKETS],
		     uint8_t ret_home[XBOND_BUCKETS])
{
	struct xbond_buckets buckets = *pins->buckets;
	uint32_t copy = pins->table->active & 1;
	struct xbond_moves moves;

	if (foretell_has_moves(pins)) {
		moves = *pins->moves;
		moves_settle(&(struct moves_maps){ &moves, &buckets, copy });
	}
	memcpy(ret_bucket, buckets.bucket[copy], XBOND_BUCKETS);
	memcpy(ret_home, buckets.home, XBOND_BUCKETS);
}

struct foretell_buckets {
	uint8_t bucket[XBOND_BUCKETS], home[XBOND_BUCKETS];
};

/* As bondd does. */
static void foretell_share_out(const struct pins *pins, uint64_t mask,
			       struct foretell_buckets *buckets)
{
	uint32_t member_weight[XBOND_MAX_SLAVES] = { 0 }, weight[XBOND_MAX_SLAVES] = { 0 };

	weights_of(pins, values_undrained(pins, mask), member_weight, weight);
	buckets_assign(buckets->bucket, buckets->home, member_weight, weight);
}

/* chosen: a policy has chosen the slot, whatever the bucket. */
struct foretell_flow {
	uint64_t hash;
	unsigned int owner;
	bool chosen;
};

static unsigned int foretell_slot_then(const struct pins *pins, const struct foretell_flow *flow,
				       uint64_t mask, const uint8_t bucket[XBOND_BUCKETS])
{
	mask = values_undrained(pins, mask);
	return flow->chosen ? flow_slot_usable(bucket, flow->owner, flow->hash, mask)
			    : flow_slot(bucket, flow->hash, mask);
}

/* Ports that nobody is sure of may begin to transmit at once, later, or never. */
static bool foretell_depends(const struct pins *pins, const struct foretell_flow *flow,
			     const struct aftermath *after, struct foretell_buckets *settled,
			     unsigned int slot)
{
	uint64_t all = after->settled | after->unsure;
	struct foretell_buckets at_once;

	foretell_settle(pins, at_once.bucket, at_once.home);
	foretell_share_out(pins, all, &at_once);
	foretell_share_out(pins, all, settled);
	return foretell_slot_then(pins, flow, all, at_once.bucket) != slot ||
	       foretell_slot_then(pins, flow, all, settled->bucket) != slot;
}

static void foretell_failure(const struct pins *pins, const struct foretell_flow *flow,
			     struct forecast *forecast)
{
	struct aftermath after = aftermath_of(pins, forecast->slot);
	struct foretell_buckets settled;

	forecast->at_once = flow_slot_usable(foretell_table_of(pins), flow->owner, flow->hash,
					     values_undrained(pins, after.at_once));
	foretell_settle(pins, settled.bucket, settled.home);
	foretell_share_out(pins, after.settled, &settled);
	forecast->settled = foretell_slot_then(pins, flow, after.settled, settled.bucket);
	if (!after.unsure || !foretell_depends(pins, flow, &after, &settled, forecast->settled))
		return;
	forecast->settled = XBOND_NO_SLOT;
	forecast->unsure = after.unsure;
}

static struct forecast foretell_flow(const struct pins *pins, const struct foretell_flow *flow,
				     unsigned int slot)
{
	struct forecast forecast = { .bucket = FLOW_BUCKET(flow->hash),
				     .slot = slot,
				     .detour = slot != XBOND_NO_SLOT && slot != flow->owner,
				     .at_once = XBOND_NO_SLOT,
				     .settled = XBOND_NO_SLOT };

	if (slot != XBOND_NO_SLOT)
		foretell_failure(pins, flow, &forecast);
	return forecast;
}

struct forecast foretell(const struct pins *pins, uint64_t hash)
{
	struct foretell_flow flow = { .hash = hash, .owner = foretell_owner(pins, hash) };

	return foretell_flow(pins, &flow, foretell_slot(pins, hash));
}

unsigned int foretell_chosen_slot(const struct pins *pins, unsigned int slot, uint64_t hash)
{
	return flow_slot_usable(foretell_table_of(pins), slot, hash, foretell_live(pins));
}

struct forecast foretell_chosen(const struct pins *pins, unsigned int slot, uint64_t hash)
{
	struct foretell_flow flow = { .hash = hash, .owner = slot, .chosen = true };

	return foretell_flow(pins, &flow, foretell_chosen_slot(pins, slot, hash));
}

/* Uses the rule that bondd uses. */
static unsigned int foretell_next_active(const struct pins *pins, uint64_t others)
{
	int primary = pins_slot_by_name(pins, pins->bond->primary);
	struct active_input input = {
		.up = others,
		.keepable = others,
		.drained = pins->settings->drain_mask,
		.current = pins->bond->active_slot,
		.primary = primary < 0 ? XBOND_NO_SLOT : (unsigned int)primary,
		.requested = XBOND_NO_SLOT,
	};

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		input.link[slot].prio = pins->slaves[slot].prio;
	return active_choose(&input, false).slot;
}

struct forecast foretell_active(const struct pins *pins)
{
	struct forecast forecast = { .slot = foretell_active_slot(pins),
				     .at_once = XBOND_NO_SLOT,
				     .settled = XBOND_NO_SLOT };
	struct aftermath after;

	if (forecast.slot >= XBOND_MAX_SLAVES)
		return forecast;
	after = aftermath_of(pins, forecast.slot);
	forecast.at_once = foretell_successor(pins, values_undrained(pins, after.at_once));
	forecast.settled = foretell_next_active(pins, after.settled);
	return forecast;
}
