/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rates out of counters that are read from time to time: of traffic, of drops, of buckets. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/top/top.h"
#include "common/clock.h"
#include "common/memory.h"
#include "common/readings.h"

/* Traffic. */

static bool top_series_went_back(const struct xbond_counters *before,
				 const struct xbond_counters *now)
{
	const __u64 *then_each = (const __u64 *)before, *now_each = (const __u64 *)now;

	for (size_t i = 0; i < sizeof(*now) / sizeof(*now_each); i++)
		if (now_each[i] < then_each[i])
			return true;
	return false;
}

static double top_series_bits(uint64_t before, uint64_t now, double seconds)
{
	return (double)(now - before) * 8 / seconds;
}

static struct top_rates top_series_rates(const struct xbond_counters *before,
					 const struct xbond_counters *now, double seconds)
{
	return (struct top_rates){
		.tx_bits = top_series_bits(before->tx_bytes, now->tx_bytes, seconds),
		.rx_bits = top_series_bits(before->rx_bytes, now->rx_bytes, seconds),
		.tx_packets = (double)(now->tx_packets - before->tx_packets) / seconds,
		.rx_packets = (double)(now->rx_packets - before->rx_packets) / seconds,
		.rx_dropped = (double)(now->rx_dropped - before->rx_dropped) / seconds,
	};
}

void top_series_read(struct top_series *series, const struct xbond_counters *counters,
		     const struct xbond_counters *afxdp, uint64_t now_ns)
{
	double seconds = (double)(now_ns - series->last_ns) / 1e9;
	struct top_rates rates;

	if (!series->last_ns || now_ns <= series->last_ns ||
	    top_series_went_back(&series->last, counters) ||
	    top_series_went_back(&series->last_afxdp, afxdp)) {
		top_series_push(series, NULL);
	} else {
		rates = top_series_rates(&series->last, counters, seconds);
		rates.afxdp_tx_bits =
			top_series_bits(series->last_afxdp.tx_bytes, afxdp->tx_bytes, seconds);
		rates.afxdp_rx_bits =
			top_series_bits(series->last_afxdp.rx_bytes, afxdp->rx_bytes, seconds);
		top_series_push(series, &rates);
	}
	series->last = *counters;
	series->last_afxdp = *afxdp;
	series->last_ns = now_ns;
}

void top_series_push(struct top_series *series, const struct top_rates *rates)
{
	unsigned int at = (series->begin + series->count) % TOP_SERIES_SIZE;

	series->is_known = rates != NULL;
	series->rates = rates ? *rates : (struct top_rates){ 0 };
	if (!rates)
		return;
	series->history[TOP_OUT][at] = rates->tx_bits;
	series->history[TOP_IN][at] = rates->rx_bits;
	if (series->count < TOP_SERIES_SIZE)
		series->count++;
	else
		series->begin = (series->begin + 1) % TOP_SERIES_SIZE;
}

void top_rates_add(struct top_rates *sum, const struct top_rates *part)
{
	sum->tx_bits += part->tx_bits;
	sum->rx_bits += part->rx_bits;
	sum->tx_packets += part->tx_packets;
	sum->rx_packets += part->rx_packets;
	sum->rx_dropped += part->rx_dropped;
	sum->afxdp_tx_bits += part->afxdp_tx_bits;
	sum->afxdp_rx_bits += part->afxdp_rx_bits;
}

void top_series_last(const struct top_series *series, enum top_direction direction,
		     double *ret_rates, unsigned int size)
{
	for (unsigned int i = 0; i < size; i++) {
		unsigned int age = size - 1 - i;

		ret_rates[i] = age < series->count
				       ? series->history[direction]
							[(series->begin + series->count - 1 - age) %
							 TOP_SERIES_SIZE]
				       : -1;
	}
}

double top_series_highest(const struct top_series *series, enum top_direction direction,
			  unsigned int size)
{
	double highest = 0;

	if (size > series->count)
		size = series->count;
	for (unsigned int age = 0; age < size; age++) {
		unsigned int at = (series->begin + series->count - 1 - age) % TOP_SERIES_SIZE;

		if (series->history[direction][at] > highest)
			highest = series->history[direction][at];
	}
	return highest;
}

/* Drops. */

static double top_drops_rate(uint64_t before, uint64_t now, double seconds)
{
	return before == DROPS_UNKNOWN || now == DROPS_UNKNOWN || now < before
		       ? 0
		       : (double)(now - before) / seconds;
}

void top_drops_take(struct top_drops *drops, const uint64_t packets[XBOND_DROPS], uint64_t now_ns)
{
	bool is_known = drops->last_ns && now_ns > drops->last_ns;
	double seconds = (double)(now_ns - drops->last_ns) / 1e9;

	for (unsigned int i = 0; i < XBOND_DROPS; i++) {
		drops->rate[i] = is_known ? top_drops_rate(drops->last[i], packets[i], seconds) : 0;
		drops->last[i] = packets[i];
	}
	drops->last_ns = now_ns;
}

/* Buckets. */

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
		struct top_hot hot = { .bucket = i };

		if (now[i].bytes <= bond->loads[i].bytes || owner[i] >= XBOND_MAX_SLAVES)
			continue;
		memcpy(hot.slave, bond->pins.slaves[owner[i]].name, sizeof(hot.slave));
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
					 cli_name(hot->slave, name), hot->tx_bits / 1e6);
	}
}
