/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many of a test's many variants run. `make test` runs a sample, by a seed that changes with
 * the commit; `make test-long` runs all, and so does whoever gives no seed. For unit tests; it must
 * not know what they test.
 */
#ifndef XBOND_TESTS_UNIT_SAMPLE_H
#define XBOND_TESTS_UNIT_SAMPLE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline unsigned int sample_seed(void)
{
	const char *seed = getenv("XBOND_TEST_SEED");

	return seed && *seed ? (unsigned int)strtoul(seed, NULL, 10) : 1;
}

/* Says what is left out, and the seed, by which a failure can be repeated. */
static inline unsigned int sample_size(unsigned int sample, unsigned int all)
{
	const char *is_long = getenv("XBOND_TEST_LONG"), *seed = getenv("XBOND_TEST_SEED");

	if (sample >= all || !seed || !*seed || (is_long && !strcmp(is_long, "1")))
		return all;
	fprintf(stderr, "a sample of %u of %u, by XBOND_TEST_SEED=%s\n", sample, all, seed);
	return sample;
}

#endif
