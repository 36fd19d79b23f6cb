/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What slaves send that belongs to no bucket: by a policy, by queue_id, unbalanced in balance-tlb
 * and balance-alb. Moving buckets cannot change it. Pure; called before rules/rebalance.h.
 */
#ifndef XBOND_RULES_BASE_LOAD_H
#define XBOND_RULES_BASE_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"

/* All in one interval. */
struct base_load_input {
	uint64_t sent[XBOND_MAX_SLAVES];     /* bytes by slot, buckets included */
	const uint64_t *bytes;		     /* by bucket */
	const uint8_t *owner_was, *owner_is; /* of each bucket, at the beginning and at the end */
};

/*
 * ret_base: bytes by slot; all 0 if they are too few to matter, as when counters are not read at
 * quite the same time. Returns false if they matter, but buckets that send have changed owners
 * meanwhile: then nobody knows which slot has sent what.
 */
bool base_load(const struct base_load_input *input, uint64_t ret_base[XBOND_MAX_SLAVES]);

#endif
