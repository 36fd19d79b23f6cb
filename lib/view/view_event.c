/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/view_event.h"

#include <stdio.h>
#include <time.h>

#include "view/json_value.h"

#define US_PER_S 1000000u

uint64_t event_now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * US_PER_S + (uint64_t)now.tv_nsec / 1000;
}

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

static json_t *view_event_text(const char *text)
{
	return text ? json_value_text(text) : json_null();
}

static json_t *view_event_field(const struct event_field *field)
{
	switch (field->type) {
	case EVENT_FIELD_TEXT: return view_event_text(field->text);
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
	json_object_set_new(json, "bondd", view_event_text(stamp->bondd));
	json_object_set_new(json, "seq",
			    stamp->bondd ? json_integer((json_int_t)stamp->seq) : json_null());
	json_object_set_new(json, "kind", json_string(event_kind_info(event->kind)->name));
	json_object_set_new(json, "bond", view_event_text(event->bond));
	json_object_set_new(json, "slave", view_event_text(event->slave));
	json_object_set_new(json, "text", view_event_text(sentence));
	for (unsigned int i = 0; i < EVENT_FIELDS_MAX && event->field[i].name; i++)
		json_object_set_new(json, event->field[i].name, view_event_field(&event->field[i]));
	return json;
}
