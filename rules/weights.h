/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The slaves' shares as numbers. bondd uses them for the buckets, and bondctl to foretell the
 * buckets.
 */
#ifndef XBOND_RULES_WEIGHTS_H
#define XBOND_RULES_WEIGHTS_H

#include "common/pins.h"

/*
 * The weights given by the user, or else the speeds. They are equal if the speed of any owner (a
 * slot that carries traffic) is unknown. An owner that is down and has had no speed yet counts as 1
 * until it has one. ret_weight has the weights of owners; all others are 0.
 */
void weights_of(const struct pins *pins, uint64_t owners,
		uint32_t ret_member_weight[XBOND_MAX_SLAVES],
		uint32_t ret_weight[XBOND_MAX_SLAVES]);

#endif
