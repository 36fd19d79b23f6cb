/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes metrics as text, in the two forms that scrapers read: OpenMetrics 1.0, and the older text
 * format 0.0.4 of Prometheus. Knows no metric and no bond. A value that is NAN is unknown and gets
 * no line.
 */
#ifndef XBOND_DAEMON_METRICS_METRICS_TEXT_H
#define XBOND_DAEMON_METRICS_METRICS_TEXT_H

#include <stdbool.h>
#include <stddef.h>

enum metrics_format { METRICS_CLASSIC, METRICS_OPENMETRICS };

enum metrics_type { METRICS_GAUGE, METRICS_COUNTER, METRICS_INFO, METRICS_HISTOGRAM };

/* name: without the suffix that its type adds to samples (_total, _info). */
struct metrics_name {
	enum metrics_type type;
	const char *name;
	const char *help;
	const char *unit; /* the end of the name; NULL: it has none */
};

/* Buckets [n]: how many took less than 2^n us, but at least half of that; the last: the rest. */
#define METRICS_BUCKETS 28

struct metrics_histogram {
	double bucket[METRICS_BUCKETS];
	double sum_s;
	bool known;
};

struct metrics_text {
	char *bytes;
	size_t length, room;
	enum metrics_format format;
};

/* Begins the lines of a metric. All its samples follow, before those of another one. */
void metrics_text_begin(struct metrics_text *text, const struct metrics_name *name);
/* labels, more: as `key="value"`, with commas between them, escaped; NULL or "": none. */
void metrics_text_sample(struct metrics_text *text, const struct metrics_name *name,
			 const char *labels, const char *more, double value);
void metrics_text_histogram(struct metrics_text *text, const struct metrics_name *name,
			    const char *labels, const struct metrics_histogram *histogram);
/* The end of all. */
void metrics_text_finish(struct metrics_text *text);

/* A value of a label takes at most so much of each byte, and 1 for the end. */
#define METRICS_ESCAPED(size) (2 * (size) + 1)
/* Makes it fit between the quotes of a label; what does not fit in is cut off. Returns ret_text. */
char *metrics_text_escape(char *ret_text, size_t size, const char *value);

#endif
