/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/metrics/metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

#define FIRST_ROOM 4096
#define NUMBER_SIZE 32
#define WHOLE 1e20 /* more than any counter; whole numbers below it get all their digits */
#define PLAIN 1e15 /* most numbers are below it, and are written by a quicker way */

static void metrics_text_make_room(struct metrics_text *text, size_t more)
{
	size_t room = text->room ? text->room : FIRST_ROOM;

	if (text->length + more <= text->room)
		return;
	while (room < text->length + more)
		room *= 2;
	text->bytes = memory_need(realloc(text->bytes, room));
	text->room = room;
}

static void metrics_text_add_bytes(struct metrics_text *text, const char *bytes, size_t length)
{
	metrics_text_make_room(text, length);
	memcpy(text->bytes + text->length, bytes, length);
	text->length += length;
}

static void metrics_text_add(struct metrics_text *text, const char *word)
{
	metrics_text_add_bytes(text, word, strlen(word));
}

static const char *metrics_text_suffix(enum view_metric_type type)
{
	switch (type) {
	case METRICS_COUNTER: return "_total";
	case METRICS_INFO: return "_info";
	case METRICS_GAUGE:
	case METRICS_HISTOGRAM: break;
	}
	return "";
}

static const char *metrics_text_type(const struct metrics_text *text, enum view_metric_type type)
{
	switch (type) {
	case METRICS_COUNTER: return "counter";
	case METRICS_INFO: return text->format == METRICS_OPENMETRICS ? "info" : "gauge";
	case METRICS_HISTOGRAM: return "histogram";
	case METRICS_GAUGE: break;
	}
	return "gauge";
}

/* The older format names the samples here, and OpenMetrics the metric. */
static void metrics_text_comment(struct metrics_text *text, const char *what,
				 const struct view_metric *name, const char *words)
{
	metrics_text_add(text, what);
	metrics_text_add(text, name->name);
	if (text->format == METRICS_CLASSIC)
		metrics_text_add(text, metrics_text_suffix(name->type));
	metrics_text_add(text, " ");
	metrics_text_add(text, words);
	metrics_text_add(text, "\n");
}

void metrics_text_begin(struct metrics_text *text, const struct view_metric *name)
{
	metrics_text_comment(text, "# HELP ", name, name->help);
	metrics_text_comment(text, "# TYPE ", name, metrics_text_type(text, name->type));
	if (name->unit && text->format == METRICS_OPENMETRICS)
		metrics_text_comment(text, "# UNIT ", name, name->unit);
}

static void metrics_text_digits(struct metrics_text *text, uint64_t value)
{
	char digits[NUMBER_SIZE];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	metrics_text_add_bytes(text, digits + at, sizeof(digits) - at);
}

static void metrics_text_number(struct metrics_text *text, double value)
{
	char number[NUMBER_SIZE];

	if (value >= 0 && value < PLAIN && value == (double)(uint64_t)value) {
		metrics_text_digits(text, (uint64_t)value);
		return;
	}
	if (value == rint(value) && fabs(value) < WHOLE)
		snprintf(number, sizeof(number), "%.0f", value);
	else
		snprintf(number, sizeof(number), "%.9g", value);
	metrics_text_add(text, number);
}

static void metrics_text_labels(struct metrics_text *text, const char *labels, const char *more)
{
	bool has_labels = labels && *labels, has_more = more && *more;

	if (!has_labels && !has_more)
		return;
	metrics_text_add(text, "{");
	metrics_text_add(text, has_labels ? labels : "");
	metrics_text_add(text, has_labels && has_more ? "," : "");
	metrics_text_add(text, has_more ? more : "");
	metrics_text_add(text, "}");
}

static void metrics_text_line(struct metrics_text *text, const char *name, const char *suffix,
			      const char *labels, const char *more, double value)
{
	if (isnan(value))
		return;
	metrics_text_add(text, name);
	metrics_text_add(text, suffix);
	metrics_text_labels(text, labels, more);
	metrics_text_add(text, " ");
	metrics_text_number(text, value);
	metrics_text_add(text, "\n");
}

void metrics_text_sample(struct metrics_text *text, const struct view_metric *name,
			 const char *labels, const char *more, double value)
{
	metrics_text_line(text, name->name, metrics_text_suffix(name->type), labels, more, value);
}

void metrics_text_histogram(struct metrics_text *text, const struct view_metric *name,
			    const char *labels, const struct metrics_histogram *histogram)
{
	char le[NUMBER_SIZE];
	double count = 0;

	if (!histogram->known)
		return;
	for (unsigned int i = 0; i < METRICS_BUCKETS; i++) {
		count += histogram->bucket[i];
		if (i < METRICS_BUCKETS - 1)
			snprintf(le, sizeof(le), "le=\"%.9g\"", (double)(1ull << i) / 1e6);
		else
			snprintf(le, sizeof(le), "le=\"+Inf\"");
		metrics_text_line(text, name->name, "_bucket", labels, le, count);
	}
	metrics_text_line(text, name->name, "_count", labels, NULL, count);
	metrics_text_line(text, name->name, "_sum", labels, NULL, histogram->sum_s);
}

void metrics_text_take(struct metrics_text *text, struct metrics_text *from)
{
	metrics_text_add_bytes(text, from->bytes, from->length);
	free(from->bytes);
}

void metrics_text_finish(struct metrics_text *text)
{
	if (text->format == METRICS_OPENMETRICS)
		metrics_text_add(text, "# EOF\n");
}

static char metrics_text_escape_of(char byte)
{
	switch (byte) {
	case '\n': return 'n';
	case '"':
	case '\\': return byte;
	default: return '\0';
	}
}

char *metrics_text_escape(char *ret_text, size_t size, const char *value)
{
	size_t length = 0;

	for (; *value && length + 2 < size; value++) {
		char escaped = metrics_text_escape_of(*value);

		if (escaped)
			ret_text[length++] = '\\';
		ret_text[length++] = escaped ? escaped : *value;
	}
	ret_text[length] = '\0';
	return ret_text;
}
