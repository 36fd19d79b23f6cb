/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/top/top_series.h"

#include <stddef.h>

static bool top_series_went_back(const struct xbond_counters *before,
				 const struct xbond_counters *now)
{
	return now->tx_packets < before->tx_packets || now->tx_bytes < before->tx_bytes ||
	       now->rx_packets < before->rx_packets || now->rx_bytes < before->rx_bytes ||
	       now->rx_dropped < before->rx_dropped;
}

static struct top_rates top_series_rates(const struct xbond_counters *before,
					 const struct xbond_counters *now, double seconds)
{
	return (struct top_rates){
		.tx_bits = (double)(now->tx_bytes - before->tx_bytes) * 8 / seconds,
		.rx_bits = (double)(now->rx_bytes - before->rx_bytes) * 8 / seconds,
		.tx_packets = (double)(now->tx_packets - before->tx_packets) / seconds,
		.rx_packets = (double)(now->rx_packets - before->rx_packets) / seconds,
		.rx_dropped = (double)(now->rx_dropped - before->rx_dropped) / seconds,
	};
}

void top_series_read(struct top_series *series, const struct xbond_counters *counters,
		     uint64_t now_ns)
{
	struct top_rates rates;

	if (!series->last_ns || now_ns <= series->last_ns ||
	    top_series_went_back(&series->last, counters)) {
		top_series_push(series, NULL);
	} else {
		rates = top_series_rates(&series->last, counters,
					 (double)(now_ns - series->last_ns) / 1e9);
		top_series_push(series, &rates);
	}
	series->last = *counters;
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
