/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/show/text_stats.h"

#include <stdio.h>
#include <string.h>

#include "cli/show/fields.h"
#include "common/drops.h"

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
	const json_t *slave;
	size_t at;

	text_stats_row("", stats);
	text_stats_drops("", stats);
	json_array_foreach (json_object_get(stats, "slaves"), at, slave) {
		text_stats_row("  ", slave);
		text_stats_drops("  ", slave);
	}
}
