/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The slaves' shares as numbers, for bondd's buckets and for bondctl, which foretells them. */
#ifndef XBOND_RULES_WEIGHTS_H
#define XBOND_RULES_WEIGHTS_H

#include "common/pins.h"

/*
 * By hand, or by speed; equal when any speed among the owners' (those that carry traffic) is
 * unknown. One that is down and has no speed yet counts as 1 until it has. ret_weight: of owners;
 * else 0.
 */
void weights_of(const struct pins *pins, uint64_t owners,
		uint32_t ret_member_weight[XBOND_MAX_SLAVES],
		uint32_t ret_weight[XBOND_MAX_SLAVES]);

#endif
