/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/view_load.h"

#include "common/clock.h"

static json_t *view_load_rebalance(const struct pins *pins)
{
	const struct xbond_moves *moves = pins->moves;
	json_int_t waiting = 0;

	if (!moves || !(pins->table->flags & XBOND_F_LOADS))
		return json_null();
	for (unsigned int bucket = 0; bucket < XBOND_BUCKETS; bucket++)
		waiting += moves->to[bucket] && moves->partner[bucket] < XBOND_BUCKETS;
	return json_pack(
		"{s:I, s:I, s:I, s:I, s:o}", "rounds", (json_int_t)moves->rounds, "moved",
		(json_int_t)moves->finished, "given_up", (json_int_t)moves->given_up, "waiting",
		waiting, "last_s",
		moves->rounds
			? json_integer((json_int_t)((clock_now_ns() - moves->round_ns) / NS_PER_S))
			: json_null());
}

void view_set_load(json_t *json, const struct pins *pins)
{
	json_object_set_new(json, "rebalance", view_load_rebalance(pins));
}
