/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/top/top_read_slave.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/fields.h"
#include "cli/base/news.h"
#include "common/clock.h"
#include "common/drops.h"
#include "common/memory.h"
#include "common/slots.h"
#include "options/values.h"
#include "rules/weights.h"

/* What concerns all slaves of the bond. */
struct top_shares {
	uint64_t active; /* slots in use for transmission */
	uint32_t weight[XBOND_MAX_SLAVES];
	uint64_t weights; /* their sum */
	int buckets[XBOND_MAX_SLAVES];
};

static void top_read_weights(const struct pins *pins, struct top_shares *shares)
{
	uint32_t member_weight[XBOND_MAX_SLAVES] = { 0 };
	enum xbond_selection selection = (enum xbond_selection)pins->table->selection;

	weights_of(pins, shares->active, member_weight, shares->weight);
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		if (selection == XBOND_SELECT_ALL || selection == XBOND_SELECT_ACTIVE)
			shares->weight[slot] = shares->weight[slot] ? 1 : 0;
		shares->weights += shares->weight[slot];
	}
}

static void top_read_buckets(const struct pins *pins, struct top_shares *shares)
{
	const uint8_t *bucket = pins->buckets->bucket[pins->table->active & 1];
	bool is_hash = pins->table->selection == XBOND_SELECT_HASH;

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		shares->buckets[slot] = is_hash ? 0 : TOP_UNKNOWN;
	for (unsigned int at = 0; is_hash && at < XBOND_BUCKETS; at++)
		if (slots_have(shares->active, bucket[at] % XBOND_MAX_SLAVES))
			shares->buckets[bucket[at]]++;
}

static void top_read_state_of(const struct top_source *source, const struct top_shares *shares,
			      const json_t *view, struct top_slave *slave)
{
	const struct pins *pins = source->pins;
	unsigned int slot = slave->slot;

	slave->link = (enum xbond_link)pins->slaves[slot].link;
	slave->is_active = slots_have(shares->active, slot);
	slave->is_drained = slots_have(pins->settings->drain_mask, slot);
	slave->state = news_state(source->view, view);
	slave->lacp = source->lacp ? lacp_mux_name(source->lacp->port[slot].mux) : NULL;
	slave->due = shares->weights ? (double)shares->weight[slot] / (double)shares->weights : 0;
	slave->buckets = shares->buckets[slot];
	snprintf(slave->why, sizeof(slave->why), "%s", field_text_or(view, "why", ""));
	snprintf(slave->problem, sizeof(slave->problem), "%s", field_text_or(view, "problem", ""));
}

static bool top_read_is(const struct pins *pins, const struct top_slave *slave, unsigned int slot)
{
	const struct xbond_slave *pinned = &pins->slaves[slot];

	return slave->slot == slot && slave->ifindex == pinned->ifindex &&
	       !strncmp(slave->name, pinned->name, XBOND_NAME_SIZE - 1);
}

/* Where the slave of the slot is, or belongs, in the list. */
static struct top_slave *top_read_slot(const struct pins *pins, unsigned int slot,
				       struct top_slave **slaves, size_t *count)
{
	struct top_slave *slave;

	for (size_t i = 0; i < *count; i++)
		if (top_read_is(pins, &(*slaves)[i], slot))
			return &(*slaves)[i];
	*slaves = memory_need(reallocarray(*slaves, *count + 1, sizeof(**slaves)));
	slave = &(*slaves)[(*count)++];
	*slave = (struct top_slave){ .slot = slot, .ifindex = pins->slaves[slot].ifindex };
	snprintf(slave->name, sizeof(slave->name), "%.*s", XBOND_NAME_SIZE - 1,
		 pins->slaves[slot].name);
	return slave;
}

static int top_read_by_slot(const void *left, const void *right)
{
	const struct top_slave *a = left, *b = right;

	return (a->slot > b->slot) - (a->slot < b->slot);
}

static void top_read_drop(struct top_slave *slaves, size_t *count)
{
	size_t kept = 0;

	for (size_t i = 0; i < *count; i++)
		if (slaves[i].is_there)
			slaves[kept++] = slaves[i];
	*count = kept;
	if (kept)
		qsort(slaves, kept, sizeof(*slaves), top_read_by_slot);
}

static int top_read_counts(const struct pins *pins, struct top_slave *slave, struct err *err)
{
	struct xbond_counters counters;
	uint64_t dropped[XBOND_DROPS];

	if (pins_counters(pins, slave->slot, &counters))
		return err_set(err, EIO, "its counters cannot be read");
	top_series_read(&slave->series, &counters, clock_now_ns());
	drops_read(pins, slave->slot, dropped);
	top_drops_take(&slave->drops, dropped, clock_now_ns());
	return 0;
}

static int top_read_member(const struct top_source *source, const struct top_shares *shares,
			   const json_t *view, struct top_slave *slave, struct err *err)
{
	int r = source->with_rates ? top_read_counts(source->pins, slave, err) : 0;

	if (r)
		return r;
	top_read_state_of(source, shares, view, slave);
	slave->is_there = true;
	return 0;
}

int top_read_slaves_of(const struct top_source *source, struct top_slave **slaves, size_t *count,
		       struct err *err)
{
	const struct pins *pins = source->pins;
	struct top_shares shares = { .active = values_tx_slots(pins) };
	const json_t *views = json_object_get(source->view, "slaves");
	size_t at = 0;
	int r = 0;

	top_read_weights(pins, &shares);
	top_read_buckets(pins, &shares);
	for (size_t i = 0; i < *count; i++)
		(*slaves)[i].is_there = false;
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES && !r; slot++) {
		struct top_slave *slave;

		if (!pins_is_member(pins, slot))
			continue;
		slave = top_read_slot(pins, slot, slaves, count);
		r = top_read_member(source, &shares, json_array_get(views, at++), slave, err);
	}
	top_read_drop(*slaves, count);
	return r;
}
