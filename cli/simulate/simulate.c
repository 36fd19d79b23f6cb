/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/simulate/simulate.h"

#include <string.h>

#include "cli/base/flow_packet.h"
#include "common/slots.h"
#include "rules/buckets.h"

/* With weights that the user gives, a slave that takes the place of another has its weight. */
static void simulate_weigh(const struct simulate *simulate, unsigned int failed,
			   struct simulate_failure *failure)
{
	memcpy(failure->member_weight, simulate->member_weight, sizeof(failure->member_weight));
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		failure->weight[slot] = 0;
		if (!slots_have(failure->mask, slot))
			continue;
		failure->weight[slot] = slots_have(simulate->mask, slot) ? simulate->weight[slot]
									 : simulate->weight[failed];
		failure->member_weight[slot] = failure->weight[slot];
	}
}

static void simulate_fail(struct simulate *simulate, unsigned int failed)
{
	struct simulate_failure *failure = &simulate->failure[failed];

	if (simulate->is_weighed)
		simulate_weigh(simulate, failed, failure);
	failure->table = simulate->settled;
	buckets_assign(failure->table.bucket, failure->table.home, failure->member_weight,
		       failure->weight);
}

void simulate_share_out(struct simulate *simulate)
{
	if (simulate->is_weighed) {
		buckets_assign(simulate->table.bucket, simulate->table.home,
			       simulate->member_weight, simulate->weight);
		simulate->settled = simulate->table;
	}
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (simulate->failure[slot].mask)
			simulate_fail(simulate, slot);
}

static void simulate_add(struct simulate_sum *sum, const struct simulate_sum *what)
{
	sum->flows += what->flows;
	sum->packets += what->packets;
	sum->bytes += what->bytes;
}

static void simulate_count_failure(struct simulate *simulate, unsigned int failed,
				   unsigned int before, uint64_t hash,
				   const struct simulate_sum *what)
{
	struct simulate_failure *failure = &simulate->failure[failed];
	unsigned int at_once = flow_slot(simulate->table.bucket, hash, failure->at_once);
	unsigned int settled = flow_slot(failure->table.bucket, hash, failure->mask);

	simulate_add(&failure->gets[settled], what);
	if (settled != before)
		simulate_add(&failure->moved, what);
	if (settled != before && at_once != settled)
		simulate_add(&failure->moved_again, what);
}

void simulate_count(struct simulate *simulate, uint64_t hash, uint64_t packets, uint64_t bytes,
		    bool new_flow)
{
	const struct simulate_sum what = { new_flow, packets, bytes };
	unsigned int slot = flow_slot(simulate->table.bucket, hash, simulate->mask);

	simulate_add(&simulate->sum[slot], &what);
	simulate_add(&simulate->total, &what);
	for (unsigned int failed = 0; failed < XBOND_MAX_SLAVES; failed++)
		if (simulate->failure[failed].mask)
			simulate_count_failure(simulate, failed, slot, hash, &what);
}
