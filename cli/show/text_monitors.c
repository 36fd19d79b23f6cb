/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/show/text_monitors.h"

#include <stdio.h>

#include "cli/base/fields.h"
#include "cli/base/text_units.h"

static const char *text_monitors_words(long long number, const char *one, const char *many)
{
	return number == 1 ? one : many;
}

/* "10.0.0.9 heard 3 s ago", or "10.0.0.9 never heard" */
static void text_monitors_target(const json_t *target)
{
	const json_t *last_ms = json_object_get(target, "last_rx_ms");
	char ago[UNITS_SIZE];

	printf("; %s ", field_text(target, "address"));
	if (json_is_integer(last_ms))
		printf("heard %s ago", units_duration(json_integer_value(last_ms), ago));
	else
		printf("never heard");
}

static void text_monitors_bfd(const json_t *bfd)
{
	long long lost = field_number(bfd, "lost"), detection_ms;

	printf("; session %s, far end %s", field_text(bfd, "session"),
	       field_text(bfd, "remote_session"));
	printf("; sends every %lld ms", field_number(bfd, "tx_interval_ms"));
	detection_ms = field_number(bfd, "detection_time_ms");
	if (detection_ms)
		printf(", detects in %lld ms", detection_ms);
	if (lost)
		printf(", lost %lld time%s", lost, text_monitors_words(lost, "", "s"));
}

/* What a monitor of quality goes by. */
static void text_monitors_quality(const json_t *monitor)
{
	const json_t *flaps = json_object_get(monitor, "flaps");
	const json_t *heard_ms = json_object_get(monitor, "heard_ms");
	const json_t *errors = json_object_get(monitor, "errors_per_million");
	long long until_ms = field_number(monitor, "until_ms");
	char text[UNITS_SIZE];

	if (json_is_integer(flaps))
		printf("; %lld flap%s in the last minute", json_integer_value(flaps),
		       text_monitors_words(json_integer_value(flaps), "", "s"));
	if (json_is_integer(heard_ms))
		printf("; the last frame came %s ago",
		       units_duration(json_integer_value(heard_ms), text));
	if (json_is_integer(errors))
		printf("; %lld of a million frames broken", json_integer_value(errors));
	if (until_ms)
		printf("; held down for another %s", units_duration(until_ms, text));
}

static void text_monitors_one(const json_t *monitor)
{
	const json_t *target;
	char since[UNITS_SIZE];
	size_t at;

	printf("%s for %s", field_text(monitor, "state"),
	       units_duration(field_number(monitor, "since_ms"), since));
	json_array_foreach (json_object_get(monitor, "targets"), at, target)
		text_monitors_target(target);
	if (json_object_get(monitor, "session"))
		text_monitors_bfd(monitor);
	text_monitors_quality(monitor);
}

void text_monitors(const json_t *monitors)
{
	const json_t *monitor;
	const char *name;
	char label[32];

	json_object_foreach ((json_t *)monitors, name, monitor) {
		snprintf(label, sizeof(label), "monitor %s", name);
		printf("    %-20s ", label);
		text_monitors_one(monitor);
		putchar('\n');
	}
}
