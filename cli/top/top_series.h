/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rates out of counters that are read from time to time, and the last of these rates. Pure: knows
 * no maps, no clock and no screen.
 */
#ifndef XBOND_CLI_TOP_TOP_SERIES_H
#define XBOND_CLI_TOP_TOP_SERIES_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"

#define TOP_SERIES_SIZE 64

/* Per second. */
struct top_rates {
	double tx_bits, rx_bits;
	double tx_packets, rx_packets;
	double rx_dropped;
};

enum top_direction { TOP_OUT, TOP_IN };

struct top_series {
	struct xbond_counters last;
	uint64_t last_ns; /* 0: nothing was read yet */
	bool is_known;	  /* rates hold what the last interval showed */
	struct top_rates rates;
	double history[2][TOP_SERIES_SIZE]; /* bits per second, a ring */
	unsigned int begin, count;
};

/*
 * Takes what was read at now_ns. The rates are not known after the first call, and after one whose
 * counters are lower than before: then they were set to zero in between.
 */
void top_series_read(struct top_series *series, const struct xbond_counters *counters,
		     uint64_t now_ns);
/* Takes rates that come from elsewhere. NULL: they are not known. */
void top_series_push(struct top_series *series, const struct top_rates *rates);

void top_rates_add(struct top_rates *sum, const struct top_rates *part);

/* Writes the last `size` rates, the newest last. Where there are fewer, the first ones are -1. */
void top_series_last(const struct top_series *series, enum top_direction direction,
		     double *ret_rates, unsigned int size);
/* The highest of the last `size` rates; 0 if there are none. */
double top_series_highest(const struct top_series *series, enum top_direction direction,
			  unsigned int size);

#endif
