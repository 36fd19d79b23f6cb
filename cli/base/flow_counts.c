/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/base/flow_counts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "bpf/flow_words.h"
#include "common/err.h"

void flow_counts_init(struct flow_counts *counts, size_t most)
{
	memset(counts, 0, sizeof(*counts));
	for (counts->capacity = 1; counts->capacity < 2 * most;)
		counts->capacity *= 2;
	counts->flows = memory_need(calloc(counts->capacity, sizeof(*counts->flows)));
	/* Whoever sends packets must not know which flows collide. */
	if (getrandom(&counts->seed, sizeof(counts->seed), GRND_NONBLOCK) < 0)
		counts->seed = 1;
}

void flow_counts_done(struct flow_counts *counts)
{
	free(counts->flows);
	counts->flows = NULL;
}

static size_t flow_counts_home(const struct flow_counts *counts, const struct tuple *tuple,
			       uint32_t slot)
{
	uint64_t hash = flow_mix(counts->seed, slot);
	uint32_t words[sizeof(*tuple) / sizeof(uint32_t)];

	memcpy(words, tuple, sizeof(words));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		hash = flow_mix(hash, words[i]);
	return flow_finish(hash) >> 32 & (counts->capacity - 1);
}

/* Half of the table stays empty, so the search ends. */
static struct flow_count *flow_counts_find(struct flow_counts *counts, const struct tuple *tuple,
					   uint32_t slot)
{
	size_t at = flow_counts_home(counts, tuple, slot);

	while (counts->flows[at].packets > 0) {
		struct flow_count *flow = &counts->flows[at];

		if (flow->slot == slot && !memcmp(&flow->tuple, tuple, sizeof(*tuple)))
			return flow;
		at = (at + 1) & (counts->capacity - 1);
	}
	return &counts->flows[at];
}

void flow_counts_add(struct flow_counts *counts, const struct tuple *tuple, uint32_t slot,
		     uint32_t length, double weight)
{
	struct flow_count *flow = flow_counts_find(counts, tuple, slot);

	if (!(flow->packets > 0)) {
		if (counts->used >= counts->capacity / 2) {
			counts->unnoted++;
			return;
		}
		counts->used++;
		flow->tuple = *tuple;
		flow->slot = slot;
	}
	flow->packets += weight;
	flow->bytes += weight * length;
	flow->samples++;
}
