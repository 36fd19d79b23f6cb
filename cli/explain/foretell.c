/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/explain/foretell.h"

#include <string.h>

#include "bpf/flow_words.h"
#include "bpf/successor.h"
#include "cli/base/flow_slot.h"
#include "cli/explain/carriers.h"
#include "common/clock.h"
#include "common/slots.h"
#include "options/values.h"
#include "rules/active.h"
#include "rules/buckets.h"
#include "rules/weights.h"

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

/* What is left when this slot's slave has failed, drained slots included. */
static uint64_t foretell_others(const struct pins *pins, unsigned int slot)
{
	uint64_t others = pins->table->tx_mask & ~slots_bit(slot);

	return carriers_live(pins, others) & ~slots_bit(slot);
}

static const uint8_t *foretell_table_of(const struct pins *pins)
{
	return pins->buckets->bucket[pins->table->active & 1];
}

/* A bucket that has moved, but whose new owner bondd has not written down yet. */
static unsigned int foretell_moved(const struct pins *pins, uint64_t hash)
{
	const struct xbond_moves *moves = pins->moves;
	unsigned int bucket = FLOW_BUCKET(hash);

	if (!moves || !(pins->table->flags & XBOND_F_LOADS) || !moves->moved[bucket] ||
	    !moves->to[bucket])
		return XBOND_NO_SLOT;
	return moves->to[bucket] - 1u;
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
	unsigned int moved = foretell_moved(pins, hash);

	return moved == XBOND_NO_SLOT
		       ? foretell_table_of(pins)[FLOW_BUCKET(hash)] % XBOND_MAX_SLAVES
		       : moved;
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

/* The buckets as bondd will share them out. */
static void foretell_settled_table(const struct pins *pins, uint64_t mask,
				   uint8_t bucket[XBOND_BUCKETS])
{
	uint32_t member_weight[XBOND_MAX_SLAVES] = { 0 }, weight[XBOND_MAX_SLAVES] = { 0 };
	uint8_t home[XBOND_BUCKETS];

	memcpy(bucket, foretell_table_of(pins), XBOND_BUCKETS);
	memcpy(home, pins->buckets->home, sizeof(home));
	weights_of(pins, mask, member_weight, weight);
	buckets_assign(bucket, home, member_weight, weight);
}

static unsigned int foretell_settled_slot(const struct pins *pins, uint64_t hash, uint64_t mask)
{
	uint8_t bucket[XBOND_BUCKETS];

	foretell_settled_table(pins, mask, bucket);
	return flow_slot(bucket, hash, mask);
}

struct forecast foretell(const struct pins *pins, uint64_t hash)
{
	unsigned int owner = foretell_owner(pins, hash);
	uint64_t others;
	struct forecast forecast = { .bucket = FLOW_BUCKET(hash),
				     .slot = foretell_slot(pins, hash),
				     .at_once = XBOND_NO_SLOT,
				     .settled = XBOND_NO_SLOT };

	if (forecast.slot == XBOND_NO_SLOT)
		return forecast;
	forecast.detour = owner != forecast.slot;
	others = values_undrained(pins, foretell_others(pins, forecast.slot));
	if (!others)
		return forecast;
	forecast.at_once = flow_slot_usable(foretell_table_of(pins), owner, hash, others);
	forecast.settled = foretell_settled_slot(pins, hash, others);
	return forecast;
}

unsigned int foretell_chosen_slot(const struct pins *pins, unsigned int slot, uint64_t hash)
{
	return flow_slot_usable(foretell_table_of(pins), slot, hash, foretell_live(pins));
}

struct forecast foretell_chosen(const struct pins *pins, unsigned int slot, uint64_t hash)
{
	uint64_t others;
	uint8_t settled[XBOND_BUCKETS];
	struct forecast forecast = { .bucket = FLOW_BUCKET(hash),
				     .slot = foretell_chosen_slot(pins, slot, hash),
				     .at_once = XBOND_NO_SLOT,
				     .settled = XBOND_NO_SLOT };

	if (forecast.slot == XBOND_NO_SLOT)
		return forecast;
	forecast.detour = forecast.slot != slot;
	others = values_undrained(pins, foretell_others(pins, forecast.slot));
	if (!others)
		return forecast;
	foretell_settled_table(pins, others, settled);
	forecast.at_once = flow_slot_usable(foretell_table_of(pins), slot, hash, others);
	forecast.settled = flow_slot_usable(settled, slot, hash, others);
	return forecast;
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
	uint64_t others;

	if (forecast.slot >= XBOND_MAX_SLAVES)
		return forecast;
	others = foretell_others(pins, forecast.slot);
	forecast.at_once = foretell_successor(pins, values_undrained(pins, others));
	forecast.settled = foretell_next_active(pins, others);
	return forecast;
}
