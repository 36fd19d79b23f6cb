/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/show/text_stats.h"

#include <stdio.h>
#include <string.h>

#include "cli/show/fields.h"

void text_stats_head(void)
{
	printf("%-18s %14s %18s %14s %18s %12s\n", "", "tx_packets", "tx_bytes", "rx_packets",
	       "rx_bytes", "rx_dropped");
}

static void text_stats_row(const char *indent, const json_t *stats)
{
	const json_t *counters = json_object_get(stats, "counters");

	printf("%s%-*s %14lld %18lld %14lld %18lld %12lld\n", indent, 18 - (int)strlen(indent),
	       field_text(stats, "name"), field_number(counters, "tx_packets"),
	       field_number(counters, "tx_bytes"), field_number(counters, "rx_packets"),
	       field_number(counters, "rx_bytes"), field_number(counters, "rx_dropped"));
}

void text_stats(const json_t *stats)
{
	const json_t *slave;
	size_t at;

	text_stats_row("", stats);
	json_array_foreach (json_object_get(stats, "slaves"), at, slave)
		text_stats_row("  ", slave);
}
