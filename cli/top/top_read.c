/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the bonds from their pinned maps, and says what is wrong with them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/slots.h"
#include "cli/base/client.h"
#include "cli/base/picture.h"
#include "cli/base/print.h"
#include "cli/top/top.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/memory.h"
#include "common/mode.h"
#include "common/readings.h"
#include "lacp/lacp.h"
#include "options/values.h"
#include "rules/buckets.h"
#include "view/view_bond.h"
#include "view/view_json.h"

struct top_source {
	const struct pins *pins;
	const struct lacp_system *lacp; /* NULL: the mode is not 802.3ad */
	const json_t *view;		/* the bond as show has it, from the same maps */
	bool with_rates;		/* the counters, too */
};

/* The slaves of one bond, from its maps. */

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
	memory_more(*slaves, *count);
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
	struct xbond_counters counters, afxdp = { 0 };
	uint64_t dropped[XBOND_DROPS];

	if (pins->afxdp)
		afxdp = pins->afxdp->slot[slave->slot];
	if (pins_counters(pins, slave->slot, &counters))
		return err_set(err, EIO, "its counters cannot be read");
	top_series_read(&slave->series, &counters, &afxdp, clock_now_ns());
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

/* Brings the slaves up to date, in the order of their slots. Those that have left are dropped. */
static int top_read_slaves_of(const struct top_source *source, struct top_slave **slaves,
			      size_t *count, struct err *err)
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

/* In a shorter time single packets would look like high rates. */
#define RATES_MIN_NS (50 * NS_PER_MS)

static void top_read_close(struct top_bond *bond)
{
	if (bond->pins.bond)
		pins_close(&bond->pins);
}

static void top_read_free(struct top_bond *bond)
{
	top_read_close(bond);
	top_hot_free(bond);
	json_decref(bond->problems);
	free(bond->slaves);
	free(bond);
}

/* Opens the pins, again if they are other ones than before. */
static int top_read_open(struct top_bond *bond, const char *bpf_dir, struct err *err)
{
	if (bond->pins.bond && pins_are_current(&bond->pins))
		return pins_open_added(&bond->pins, err);
	top_read_close(bond);
	top_hot_free(bond);
	return pins_open(&bond->pins, bpf_dir, bond->name, err);
}

static void top_read_state(struct top_bond *bond, const struct pins *pins, enum view_bondd bondd,
			   const json_t *view)
{
	bond->mode = mode_name(pins->bond->mode);
	bond->has_lacp = mode_has(pins->bond->mode, MODE_LACP);
	bond->is_down = set_down_is(bond->name, pins->bond->mac);
	bond->has_carrier = pins->bond->carrier;
	bond->has_bondd = bondd == VIEW_BONDD_IS_HERE;
	json_decref(bond->problems);
	bond->problems = news_bad(view, bond->is_down, bondd);
}

static int top_read_slaves(struct top_bond *bond, const struct pins *pins, const json_t *view,
			   bool with_rates, struct err *err)
{
	struct top_source source = { .pins = pins, .view = view, .with_rates = with_rates };
	struct lacp_system lacp;

	if (bond->has_lacp) {
		view_lacp_read(pins, &lacp);
		source.lacp = &lacp;
	}
	return top_read_slaves_of(&source, &bond->slaves, &bond->slave_count, err);
}

/* States and sentences are those of show, which reads the same picture. */
static int top_read_maps(struct top_bond *bond, bool has_socket, bool with_rates, struct err *err)
{
	enum view_bondd bondd = picture_bondd(&bond->pins, has_socket);
	struct picture *picture = picture_take(&bond->pins, bondd);
	json_t *view =
		view_bond(picture_pins(picture), bond->name, bondd == VIEW_BONDD_IS_HERE, NULL);
	int r = -EIO;

	if (view) {
		top_read_state(bond, picture_pins(picture), bondd, view);
		r = top_read_slaves(bond, picture_pins(picture), view, with_rates, err);
	} else {
		err_set(err, EIO, "its counters cannot be read");
	}
	json_decref(view);
	picture_free(picture);
	return r;
}

/* The sum of the slaves, so a slave that comes or leaves makes no leap. */
static void top_read_sum(struct top_bond *bond)
{
	struct top_rates sum = { 0 };
	bool is_known = false;

	for (size_t i = 0; i < bond->slave_count; i++) {
		is_known |= bond->slaves[i].series.is_known;
		top_rates_add(&sum, &bond->slaves[i].series.rates);
	}
	top_series_push(&bond->series, is_known || !bond->slave_count ? &sum : NULL);
}

static void top_read_shares(struct top_bond *bond)
{
	const struct top_series *all = &bond->series;

	for (size_t i = 0; i < bond->slave_count; i++) {
		const struct top_series *series = &bond->slaves[i].series;
		bool is_known = all->is_known && series->is_known && all->rates.tx_bits > 0;

		bond->slaves[i].share =
			is_known ? series->rates.tx_bits / all->rates.tx_bits : TOP_UNKNOWN;
	}
}

static void top_read_rates(struct top_bond *bond)
{
	top_read_sum(bond);
	top_hot_read(bond);
}

static int top_read_bond(struct top_bond *bond, const struct top *top)
{
	struct err err = { "" };
	bool with_rates = clock_now_ns() - bond->rates_ns >= RATES_MIN_NS;
	int r = top_read_open(bond, top->bpf_dir, &err);

	if (!r)
		r = top_read_maps(bond, top->has_socket, with_rates, &err);
	if (r)
		top_read_close(bond);
	else if (with_rates)
		top_read_rates(bond);
	top_read_shares(bond);
	if (with_rates)
		bond->rates_ns = clock_now_ns();
	bond->error_code = r;
	bond->error = err;
	if (!r)
		bond->error.text[0] = '\0';
	return r;
}

struct top_bond *top_read_find(struct top *top, const char *name)
{
	for (size_t i = 0; i < top->bond_count; i++)
		if (!strcmp(top->bonds[i]->name, name))
			return top->bonds[i];
	return NULL;
}

static struct top_bond *top_read_add(struct top *top, const char *name)
{
	struct top_bond *bond = memory_need(calloc(1, sizeof(*bond)));

	top->bonds = memory_grow(top->bonds, top->bond_count, sizeof(struct top_bond *));
	snprintf(bond->name, sizeof(bond->name), "%s", name);
	top->bonds[top->bond_count++] = bond;
	return bond;
}

/* -ENOENT: it was deleted in between. */
static int top_read_named(struct top *top, const char *name, struct err *err)
{
	struct top_bond *bond = top_read_find(top, name);
	int r;

	if (!bond)
		bond = top_read_add(top, name);
	r = top_read_bond(bond, top);
	bond->is_there = r != -ENOENT;
	if (r == -ENOENT)
		*err = bond->error;
	return r == -ENOENT ? r : 0;
}

static void top_read_drop_absent(struct top *top)
{
	size_t kept = 0;

	for (size_t i = 0; i < top->bond_count; i++) {
		if (top->bonds[i]->is_there)
			top->bonds[kept++] = top->bonds[i];
		else
			top_read_free(top->bonds[i]);
	}
	top->bond_count = kept;
}

static int top_read_all(struct top *top, struct err *err)
{
	char **names;
	int r;

	if (!pins_on_bpffs(top->bpf_dir))
		return err_set(err, ENODEV, "cannot see the bonds: " PINS_HIDDEN, top->bpf_dir);
	r = pins_names(&names, top->bpf_dir, err);
	if (r)
		return r;
	for (char **name = names; *name && (!r || r == -ENOENT); name++)
		r = top_read_named(top, *name, err);
	memory_free_texts(names);
	return r == -ENOENT ? 0 : r;
}

int top_read(struct top *top, struct err *err)
{
	int r;

	top->has_socket = client_present(top->run_dir);
	for (size_t i = 0; i < top->bond_count; i++)
		top->bonds[i]->is_there = false;
	r = top->only ? top_read_named(top, top->only, err) : top_read_all(top, err);
	top_read_drop_absent(top);
	return r;
}

void top_close(struct top *top)
{
	for (size_t i = 0; i < top->bond_count; i++)
		top_read_free(top->bonds[i]);
	free(top->bonds);
	top->bonds = NULL;
	top->bond_count = 0;
}

/* What is wrong with a bond. */

static void top_problems_add_drop(json_t *lines, const struct top_slave *slave,
				  enum xbond_drop reason)
{
	json_t *name = json_value_text(slave->name);
	char rate[TOP_NUMBER_SIZE];

	top_cells_rate(rate, slave->drops.rate[reason]);
	json_array_append_new(lines,
			      json_sprintf("%s: drops %s packets/s: %s", json_string_value(name),
					   rate, drops_words(reason)));
	json_decref(name);
}

/* A backup drops what it receives, and so does a bond without carrier: nothing is wrong then. */
static void top_problems_add_drops(json_t *lines, const struct top_slave *slave)
{
	for (unsigned int i = 0; i < XBOND_DROPS; i++)
		if (slave->drops.rate[i] > 0 && drops_is_of_control(i))
			top_problems_add_drop(lines, slave, i);
}

json_t *top_problems(const struct top_bond *bond)
{
	json_t *lines = json_array();

	if (bond->error.text[0]) {
		json_array_append_new(lines, json_string(bond->error.text));
		return lines;
	}
	json_array_extend(lines, bond->problems);
	for (size_t i = 0; i < bond->slave_count; i++)
		top_problems_add_drops(lines, &bond->slaves[i]);
	return lines;
}
