/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/simulate/simulate.h"

#include <errno.h>
#include <stdlib.h>

#include "cli/base/flow_slot.h"
#include "common/slots.h"
#include "rules/buckets.h"

static void simulate_fail(struct simulate *simulate, unsigned int failed)
{
	struct simulate_table *table = &simulate->failure[failed].table;
	uint32_t usable[XBOND_MAX_SLAVES] = { 0 };

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (slot != failed && slots_have(simulate->mask, slot))
			usable[slot] = simulate->weight[slot];
	*table = simulate->table;
	buckets_assign(table->bucket, table->home, simulate->member_weight, usable);
}

int simulate_share_out(struct simulate *simulate, struct err *err)
{
	buckets_assign(simulate->table.bucket, simulate->table.home, simulate->member_weight,
		       simulate->weight);
	if (!(simulate->mask & (simulate->mask - 1)))
		return 0;
	simulate->failure = calloc(XBOND_MAX_SLAVES, sizeof(*simulate->failure));
	if (!simulate->failure)
		return err_set(err, ENOMEM, "out of memory");
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (slots_have(simulate->mask, slot))
			simulate_fail(simulate, slot);
	return 0;
}

void simulate_done(struct simulate *simulate)
{
	free(simulate->failure);
	simulate->failure = NULL;
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
	uint64_t others = simulate->mask & ~slots_bit(failed);
	unsigned int at_once = flow_slot(simulate->table.bucket, hash, others);
	unsigned int settled = flow_slot(failure->table.bucket, hash, others);

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
	for (unsigned int failed = 0; simulate->failure && failed < XBOND_MAX_SLAVES; failed++)
		if (slots_have(simulate->mask, failed))
			simulate_count_failure(simulate, failed, slot, hash, &what);
}
