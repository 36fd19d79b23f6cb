/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks the tables of fields, and so builds the JSON objects of `show` and `stats` from the pinned
 * maps alone. What is unknown becomes null.
 */
#include "view/view_bond.h"

#include <stdlib.h>
#include <string.h>

#include "common/drops.h"
#include "common/mode.h"
#include "view/json_value.h"
#include "view/view_field.h"

#define COUNTER_TRIES 3

const char *view_link_word(unsigned int link)
{
	static const char *const words[] = {
		[XBOND_LINK_DOWN] = "down",
		[XBOND_LINK_UP] = "up",
		[XBOND_LINK_GOING_UP] = "going_up",
		[XBOND_LINK_GOING_DOWN] = "going_down",
	};

	return link < sizeof(words) / sizeof(words[0]) ? words[link] : NULL;
}

json_t *view_attached(enum attached attached)
{
	return attached == ATTACHED_UNKNOWN ? json_null() : json_boolean(attached == ATTACHED);
}

/* The walk */

static uint64_t view_integer(const void *at, size_t size)
{
	switch (size) {
	case 1: return *(const uint8_t *)at;
	case 2: return *(const uint16_t *)at;
	case 4: return *(const uint32_t *)at;
	default: return *(const uint64_t *)at;
	}
}

static json_t *view_word(const struct view_field *field, uint64_t number)
{
	const char *word = field->word((unsigned int)number);

	return word ? json_string(word) : json_null();
}

json_t *view_member(const struct view_field *field, const void *at)
{
	const char *member = (const char *)at + field->offset;

	if (field->type == VIEW_MAC)
		return json_value_mac((const uint8_t *)member);
	if (field->word)
		return view_word(field, view_integer(member, field->size));
	if (field->type == VIEW_TEXT)
		return json_value_text(member);
	if (field->type == VIEW_REAL)
		return json_real(*(const double *)(const void *)member);
	if (field->type == VIEW_TRUTH)
		return json_boolean(view_integer(member, field->size));
	if (field->null)
		return json_value_number(view_integer(member, field->size));
	return json_integer((json_int_t)view_integer(member, field->size));
}

bool view_has(const struct view_field *field, const struct view_source *source)
{
	return !field->needs || (source->pins && mode_has(source->pins->bond->mode, field->needs));
}

json_t *view_value(const struct view_field *field, const struct view_place *place)
{
	struct view_place inner = *place;

	if (!place->source->pins && !field->foreign)
		return json_null();
	inner.field = field;
	if (field->read)
		return field->read(&inner);
	if (!field->base)
		return view_member(field, place->at);
	inner.at = field->base(place);
	return view_object(field->table, &inner);
}

static void view_add_fields(json_t *json, const struct view_table *table,
			    const struct view_place *place)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct view_field *field = &table->fields[i];
		struct view_place inner = *place;

		if (!view_has(field, place->source))
			continue;
		if (field->type == VIEW_FIELDS) {
			inner.at = field->base(place);
			if (inner.at)
				view_add_fields(json, field->table, &inner);
		} else if (field->name) {
			json_object_set_new(json, field->name, view_value(field, place));
		}
	}
}

json_t *view_object(const struct view_table *table, const struct view_place *place)
{
	json_t *json;

	if (!place->at)
		return json_null();
	json = json_object();
	view_add_fields(json, table, place);
	return json;
}

json_t *view_read_slaves(const struct view_place *place)
{
	const struct pins *pins = place->source->pins;
	struct view_place inner = *place;
	json_t *json = json_array();

	for (unsigned int slot = 0; pins && slot < XBOND_MAX_SLAVES; slot++) {
		if (!pins_is_member(pins, slot))
			continue;
		inner.slot = slot;
		inner.at = &pins->slaves[slot];
		json_array_append_new(json, view_object(place->field->table, &inner));
	}
	return json;
}

/*
 * When a slave leaves, its counts move to the sum of those that have left. A sum that was read in
 * that moment is not right, and a counter that goes back counts as one that began again.
 */
static int view_read_counters(struct view_source *source)
{
	const struct pins *pins = source->pins;
	struct xbond_counters retired;
	int tries = COUNTER_TRIES, r;

	do {
		retired = pins->bond->retired;
		r = pins_bond_counters(pins, &source->counters[XBOND_DROPS_OF_BOND]);
	} while (!r && memcmp(&retired, &pins->bond->retired, sizeof(retired)) && --tries);
	for (unsigned int slot = 0; !r && slot < XBOND_MAX_SLAVES; slot++)
		if (pins_is_member(pins, slot))
			r = pins_counters(pins, slot, &source->counters[slot]);
	return r;
}

int view_source_fill(struct view_source *source, struct lacp_system *room)
{
	if (mode_has(source->pins->bond->mode, MODE_LACP)) {
		view_lacp_read(source->pins, room);
		source->lacp = room;
	}
	return view_read_counters(source);
}

json_t *view_bond(const struct pins *pins, const char *name, bool bondd,
		  const struct loop_figures *loop)
{
	struct view_source source = { .pins = pins, .name = name, .bondd = bondd, .loop = loop };
	struct view_place place = { &source, XBOND_DROPS_OF_BOND, pins->bond, NULL };
	struct client_entry *clients = NULL;
	struct lacp_system lacp;
	json_t *json = NULL;

	if (mode_has(pins->bond->mode, MODE_RECEIVES))
		source.client_count = client_table_read(pins->clients_fd, &clients);
	source.clients = clients;
	if (!view_source_fill(&source, &lacp))
		json = view_object(&view_table_bond, &place);
	free(clients);
	return json;
}

json_t *view_foreign(const char *name, uint32_t abi, bool bondd)
{
	struct view_source source = { .name = name, .abi = abi, .bondd = bondd };
	struct view_place place = { &source, XBOND_DROPS_OF_BOND, &source, NULL };

	return view_object(&view_table_bond, &place);
}

json_t *view_stats(const struct pins *pins, const char *name, const struct loop_figures *loop)
{
	struct view_source source = { .pins = pins, .name = name, .loop = loop };
	struct view_place place = { &source, XBOND_DROPS_OF_BOND, pins->bond, NULL };

	return view_read_counters(&source) ? NULL : view_object(&view_table_stats, &place);
}
