/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/show/text_stats.h"

#include <stdio.h>
#include <string.h>

#include "cli/base/fields.h"
#include "common/readings.h"

#define INDENT "  "

static const char *const columns[] = { "tx_packets", "tx_bytes", "rx_packets", "rx_bytes",
				       "rx_dropped" };
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* As narrow as the numbers allow, so that all but very large ones take 80 columns. */
struct widths {
	int name;
	int column[COLUMNS];
};

static void text_stats_widen(struct widths *widths, const char *indent, const json_t *stats)
{
	const json_t *counters = json_object_get(stats, "counters");
	int length = (int)(strlen(indent) + strlen(field_text(stats, "name")));

	if (widths->name < length)
		widths->name = length;
	for (size_t i = 0; i < COLUMNS; i++) {
		length = snprintf(NULL, 0, "%lld", field_number(counters, columns[i]));
		if (widths->column[i] < length)
			widths->column[i] = length;
	}
}

static struct widths text_stats_widths(const json_t *stats)
{
	struct widths widths = { 0 };
	const json_t *slave;
	size_t at;

	for (size_t i = 0; i < COLUMNS; i++)
		widths.column[i] = (int)strlen(columns[i]);
	text_stats_widen(&widths, "", stats);
	json_array_foreach (json_object_get(stats, "slaves"), at, slave)
		text_stats_widen(&widths, INDENT, slave);
	return widths;
}

static void text_stats_head(const struct widths *widths)
{
	printf("%*s", widths->name, "");
	for (size_t i = 0; i < COLUMNS; i++)
		printf("  %*s", widths->column[i], columns[i]);
	putchar('\n');
}

static void text_stats_row(const struct widths *widths, const char *indent, const json_t *stats)
{
	const json_t *counters = json_object_get(stats, "counters");

	printf("%s%-*s", indent, widths->name - (int)strlen(indent), field_text(stats, "name"));
	for (size_t i = 0; i < COLUMNS; i++)
		printf("  %*lld", widths->column[i], field_number(counters, columns[i]));
	putchar('\n');
}

/* What has been dropped, in words: a line for each reason that there was. */
static void text_stats_drops(const char *indent, const json_t *stats)
{
	const json_t *drops = json_object_get(stats, "drops");

	for (unsigned int i = 0; i < XBOND_DROPS; i++) {
		long long packets = field_number(drops, drops_name(i));

		if (packets)
			printf("%s  dropped %lld: %s\n", indent, packets, drops_words(i));
	}
}

void text_stats(const json_t *stats)
{
	struct widths widths = text_stats_widths(stats);
	const json_t *slave;
	size_t at;

	text_stats_head(&widths);
	text_stats_row(&widths, "", stats);
	text_stats_drops("", stats);
	json_array_foreach (json_object_get(stats, "slaves"), at, slave) {
		text_stats_row(&widths, INDENT, slave);
		text_stats_drops(INDENT, slave);
	}
}
