/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values and events as JSON. */
#ifndef XBOND_VIEW_VIEW_JSON_H
#define XBOND_VIEW_VIEW_JSON_H

#include <jansson.h>
#include <stdint.h>

struct view_field;

/* Values of the maps. Unknown values become null. All functions return new references. */

/* How real numbers are written: rates and shares are not known any better. */
#define JSON_VALUE_REALS JSON_REAL_PRECISION(10)

/*
 * Names of devices may contain nearly any byte. JSON needs UTF-8, and a terminal should get no
 * control characters: these become '?' in place. So do all non-ASCII characters if the text is not
 * UTF-8.
 */
void json_value_tame(char *text);
/* Tamed. NULL and "" are unknown. */
json_t *json_value_text(const char *text);
/* 0 is unknown. */
json_t *json_value_number(uint64_t number);
/* All zero is unknown. */
json_t *json_value_mac(const uint8_t *mac);
/* How long ago that was, by clock_now_ns(); 0 if it is to come. */
json_t *json_value_since_ms(uint64_t since_ns);

/*
 * Events: what bondd hands to its subscribers and writes into the journal, and what bondctl prints
 * (EVENTS in bondctl-monitor(8)). Called by bondd, and by bondctl for what it tells itself.
 */

#define EVENT_FIELDS_MAX 5 /* of one kind */

enum event_kind {
	EVENT_LINK,
	EVENT_FAILOVER,
	EVENT_ACTIVE,
	EVENT_CARRIER,
	EVENT_MONITOR,
	EVENT_LACP,
	EVENT_BUCKETS,
	EVENT_CONFIG,
	EVENT_DEVICE,
	EVENT_ATTACHED,
	EVENT_PROBLEM,
	EVENT_NOTE,
	/* Those that follow are of no run of bondd, and have no number: */
	EVENT_BONDD,
	EVENT_DETOUR,
	EVENT_HOLD,
	EVENT_LOST,
	EVENT_KINDS
};

/* Which names an event of a kind has. */
enum event_about { EVENT_ABOUT_NEITHER, EVENT_ABOUT_BOND, EVENT_ABOUT_SLAVE, EVENT_ABOUT_EITHER };

/* From a row follow what --kinds prints, the schema, and the list in the manual. */
struct event_kind_info {
	const char *name;
	const char *meaning; /* a clause */
	const char *more;    /* sentences for the manual; NULL: none */
	enum event_about about;
	const struct view_field *fields; /* those that it adds */
	size_t count;
};

const struct event_kind_info *event_kind_info(enum event_kind kind);

enum event_field_type { EVENT_FIELD_TEXT, EVENT_FIELD_NUMBER, EVENT_FIELD_JSON };

struct event_field {
	const char *name; /* one that event_kind_info() lists; NULL: no more fields */
	enum event_field_type type;
	const char *text; /* NULL: unknown */
	uint64_t number;
	json_t *json; /* view_event() takes the reference */
};

struct event {
	enum event_kind kind;
	/* How it is written to the log, from syslog.h. LOG_DEBUG: to the journal only. */
	int priority;
	const char *bond;  /* NULL: it is about none */
	const char *slave; /* NULL: it is about the bond as a whole */
	struct event_field field[EVENT_FIELDS_MAX];
};

static inline struct event_field event_text(const char *name, const char *text)
{
	return (struct event_field){ .name = name, .type = EVENT_FIELD_TEXT, .text = text };
}

static inline struct event_field event_number(const char *name, uint64_t number)
{
	return (struct event_field){ .name = name, .type = EVENT_FIELD_NUMBER, .number = number };
}

static inline struct event_field event_json(const char *name, json_t *json)
{
	return (struct event_field){ .name = name, .type = EVENT_FIELD_JSON, .json = json };
}

/* Who told it, and when. */
struct event_stamp {
	uint64_t time_us;  /* CLOCK_REALTIME */
	const char *bondd; /* which run of bondd; NULL: bondctl */
	uint64_t seq;	   /* counts the events of that run, from 1 */
};

/* sentence: without the bond's name. A new reference. */
json_t *view_event(const struct event *event, const struct event_stamp *stamp,
		   const char *sentence);

#endif
