/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/base_load.h"

#include <string.h>

#define LEAST_PERCENT 2 /* of all traffic */

static bool base_load_matters(uint64_t bytes, uint64_t all)
{
	return bytes > all / 100 * LEAST_PERCENT;
}

static uint64_t base_load_sum(const uint64_t *values, unsigned int count)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < count; i++)
		sum += values[i];
	return sum;
}

/* Bytes of buckets that have changed owners. */
static uint64_t base_load_moved(const struct base_load_input *input)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < XBOND_BUCKETS; i++)
		if (input->owner_was[i] != input->owner_is[i])
			sum += input->bytes[i];
	return sum;
}

static void base_load_subtract(const struct base_load_input *input, uint64_t base[XBOND_MAX_SLAVES])
{
	memcpy(base, input->sent, sizeof(input->sent));
	for (unsigned int i = 0; i < XBOND_BUCKETS; i++) {
		uint8_t slot = input->owner_is[i];

		if (slot < XBOND_MAX_SLAVES)
			base[slot] -= input->bytes[i] < base[slot] ? input->bytes[i] : base[slot];
	}
}

bool base_load(const struct base_load_input *input, uint64_t ret_base[XBOND_MAX_SLAVES])
{
	uint64_t all = base_load_sum(input->sent, XBOND_MAX_SLAVES);
	uint64_t in_buckets = base_load_sum(input->bytes, XBOND_BUCKETS);

	memset(ret_base, 0, sizeof(input->sent));
	if (in_buckets >= all || !base_load_matters(all - in_buckets, all))
		return true;
	if (base_load_matters(base_load_moved(input), all))
		return false;
	base_load_subtract(input, ret_base);
	return true;
}
