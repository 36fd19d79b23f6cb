/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/top/top_hot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/readings.h"

static void top_hot_put(struct top_bond *bond, const struct top_hot *hot)
{
	size_t at = bond->hot_count;

	while (at && bond->hot[at - 1].tx_bits < hot->tx_bits)
		at--;
	if (at == TOP_HOT)
		return;
	if (bond->hot_count < TOP_HOT)
		bond->hot_count++;
	memmove(&bond->hot[at + 1], &bond->hot[at],
		(bond->hot_count - at - 1) * sizeof(*bond->hot));
	bond->hot[at] = *hot;
}

static void top_hot_compare(struct top_bond *bond, const struct xbond_load *now, double seconds)
{
	const struct xbond_buckets *buckets = bond->pins.buckets;
	const uint8_t *owner = buckets->bucket[bond->pins.table->active & 1];

	for (unsigned int i = 0; i < XBOND_BUCKETS; i++) {
		struct top_hot hot = { .bucket = i, .slot = owner[i] };

		if (now[i].bytes <= bond->loads[i].bytes || owner[i] >= XBOND_MAX_SLAVES)
			continue;
		hot.tx_bits = 8 * (double)(now[i].bytes - bond->loads[i].bytes) / seconds;
		top_hot_put(bond, &hot);
	}
}

void top_hot_read(struct top_bond *bond)
{
	struct xbond_load *now = NULL;
	uint64_t now_ns = clock_now_ns();

	bond->hot_count = 0;
	if (bond->pins.table->flags & XBOND_F_LOADS)
		now = memory_need(calloc(XBOND_BUCKETS, sizeof(*now)));
	if (now && loads_read(&bond->pins, now)) {
		free(now);
		now = NULL;
	}
	if (now && bond->loads && now_ns > bond->loads_ns)
		top_hot_compare(bond, now, (double)(now_ns - bond->loads_ns) / NS_PER_S);
	free(bond->loads);
	bond->loads = now;
	bond->loads_ns = now_ns;
}

void top_hot_free(struct top_bond *bond)
{
	free(bond->loads);
	bond->loads = NULL;
	bond->hot_count = 0;
}

void top_hot_words(const struct top_bond *bond, char *ret_text, size_t size)
{
	size_t used = 0;

	*ret_text = '\0';
	for (size_t i = 0; i < bond->hot_count && used < size; i++) {
		const struct top_hot *hot = &bond->hot[i];
		char name[XBOND_NAME_SIZE];

		used += (size_t)snprintf(ret_text + used, size - used, "%s%u (%s) %.3g Mbit/s",
					 i ? ", " : "hottest buckets: ", hot->bucket,
					 cli_name(bond->pins.slaves[hot->slot].name, name),
					 hot->tx_bits / 1e6);
	}
}
