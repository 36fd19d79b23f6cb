/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/view_json.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/mac.h"
#include "common/memory.h"
#include "common/mode.h"
#include "view/view_field.h"

/* The control characters of ASCII, and those that UTF-8 has as two bytes. */
static void json_value_hide_controls(char *text)
{
	for (char *at = text; *at; at++) {
		bool is_c1 = (unsigned char)at[0] == 0xc2 && (unsigned char)at[1] >= 0x80 &&
			     (unsigned char)at[1] < 0xa0;

		if (iscntrl((unsigned char)*at))
			*at = '?';
		if (is_c1)
			at[0] = at[1] = '?';
	}
}

void json_value_tame(char *text)
{
	json_t *json;
	bool is_utf8;

	json_value_hide_controls(text);
	json = json_string(text);
	is_utf8 = json != NULL;
	json_decref(json);
	for (; *text && !is_utf8; text++)
		if ((unsigned char)*text > 0x7f)
			*text = '?';
}

static json_t *json_value_printable(const char *text)
{
	char *copy = memory_need(strdup(text));
	json_t *json;

	json_value_tame(copy);
	json = json_string(copy);
	free(copy);
	return json;
}

json_t *json_value_text(const char *text)
{
	return text && text[0] ? json_value_printable(text) : json_null();
}

json_t *json_value_number(uint64_t number)
{
	return number ? json_integer((json_int_t)number) : json_null();
}

json_t *json_value_mac(const uint8_t *mac)
{
	char text[MAC_FORMAT_SIZE];

	return mac_is_zero(mac) ? json_null() : json_string(mac_format(mac, text));
}

json_t *json_value_since_ms(uint64_t since_ns)
{
	uint64_t now_ns = clock_now_ns();

	return json_integer(now_ns > since_ns ? (json_int_t)((now_ns - since_ns) / NS_PER_MS) : 0);
}

/* Events. */

/* ISO 8601, in UTC. */
static json_t *view_event_time(uint64_t time_us)
{
	time_t seconds = (time_t)(time_us / US_PER_S);
	char day[32], text[48];
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text, sizeof(text), "%s.%06uZ", day, (unsigned int)(time_us % US_PER_S));
	return json_string(text);
}

static json_t *view_event_field(const struct event_field *field)
{
	switch (field->type) {
	case EVENT_FIELD_TEXT: return json_value_text(field->text);
	case EVENT_FIELD_NUMBER: return json_integer((json_int_t)field->number);
	case EVENT_FIELD_JSON: return field->json;
	}
	return NULL;
}

json_t *view_event(const struct event *event, const struct event_stamp *stamp, const char *sentence)
{
	json_t *json = json_object();

	json_object_set_new(json, "time", view_event_time(stamp->time_us));
	json_object_set_new(json, "time_us", json_integer((json_int_t)stamp->time_us));
	json_object_set_new(json, "bondd", json_value_text(stamp->bondd));
	json_object_set_new(json, "seq",
			    stamp->bondd ? json_integer((json_int_t)stamp->seq) : json_null());
	json_object_set_new(json, "kind", json_string(event_kind_info(event->kind)->name));
	json_object_set_new(json, "bond", json_value_text(event->bond));
	json_object_set_new(json, "slave", json_value_text(event->slave));
	json_object_set_new(json, "text", json_value_text(sentence));
	for (unsigned int i = 0; i < EVENT_FIELDS_MAX && event->field[i].name; i++)
		json_object_set_new(json, event->field[i].name, view_event_field(&event->field[i]));
	return json;
}

/* The walk over tables: what is unknown becomes null. */

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

static json_t *view_real(const struct view_field *field, double number)
{
	return field->null && number < 0 ? json_null() : json_real(number);
}

json_t *view_member(const struct view_field *field, const void *at)
{
	const char *member = (const char *)at + field->offset;

	if (field->type == VIEW_MAC)
		return json_value_mac((const uint8_t *)member);
	if (field->type == VIEW_STRING)
		return json_value_text(*(const char *const *)(const void *)member);
	if (field->word)
		return view_word(field, view_integer(member, field->size));
	if (field->type == VIEW_TEXT)
		return json_value_text(member);
	if (field->type == VIEW_REAL)
		return view_real(field, *(const double *)(const void *)member);
	if (field->type == VIEW_TRUTH)
		return json_boolean(view_integer(member, field->size));
	if (field->null)
		return json_value_number(view_integer(member, field->size));
	return json_integer((json_int_t)view_integer(member, field->size));
}

json_t *view_known(const struct view_field *field, const void *at)
{
	struct view_field known = *field;

	known.null = false;
	return view_member(&known, at);
}

bool view_has(const struct view_field *field, const struct view_source *source)
{
	return !field->needs || (source->pins && mode_has(source->pins->bond->mode, field->needs));
}

static const void *view_base(const struct view_field *field, const struct view_place *place)
{
	return field->base ? field->base(place) : (const char *)place->at + field->offset;
}

json_t *view_value(const struct view_field *field, const struct view_place *place)
{
	struct view_place inner = *place;

	if (place->source && !place->source->pins && !field->foreign)
		return json_null();
	inner.field = field;
	if (field->read)
		return field->read(&inner);
	if (!field->table)
		return view_member(field, place->at);
	inner.at = view_base(field, place);
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
			inner.at = view_base(field, place);
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

json_t *view_struct(const struct view_table *table, const void *at)
{
	return view_object(table, &(const struct view_place){ .at = at });
}

json_t *view_structs(const struct view_table *table, const void *first, size_t count, size_t size)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, view_struct(table, (const char *)first + i * size));
	return list;
}
