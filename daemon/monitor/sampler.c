/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/monitor/sampler.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/memory.h"
#include "daemon/base/worker.h"

struct sampler {
	struct worker worker;
	bool asked; /* the worker's lock protects it */
	bool busy;  /* for the main loop: true until it has the answers */
	struct sampler_query *queries;
	size_t count;
	struct nl nl;
};

static bool sampler_begin(void *context)
{
	struct sampler *sampler = context;

	return sampler->asked;
}

static void sampler_work(void *context)
{
	struct sampler *sampler = context;

	for (size_t i = 0; i < sampler->count && !worker_is_stopping(&sampler->worker); i++) {
		struct sampler_query *query = &sampler->queries[i];

		query->result = link_stats_get(&sampler->nl, (int)query->ifindex, &query->stats);
		query->read_ns = clock_now_ns();
	}
}

static void sampler_end(void *context)
{
	struct sampler *sampler = context;

	sampler->asked = false;
}

static const struct worker_kind sampler_kind = {
	.name = "sample",
	.begin = sampler_begin,
	.work = sampler_work,
	.end = sampler_end,
};

static int sampler_start(struct sampler *sampler)
{
	int r = nl_init(&sampler->nl);

	if (r)
		return r;
	r = worker_start(&sampler->worker, &sampler_kind, sampler);
	if (r)
		nl_done(&sampler->nl);
	return r;
}

struct sampler *sampler_new(struct err *err)
{
	struct sampler *sampler = memory_need(calloc(1, sizeof(*sampler)));
	int r = sampler_start(sampler);

	if (!r)
		return sampler;
	free(sampler);
	err_set(err, -r, "cannot start the thread that reads counters: %s", strerror(-r));
	return NULL;
}

void sampler_free(struct sampler *sampler)
{
	if (!sampler)
		return;
	worker_stop(&sampler->worker);
	nl_done(&sampler->nl);
	free(sampler->queries);
	free(sampler);
}

bool sampler_ask(struct sampler *sampler, const struct sampler_query *queries, size_t count)
{
	struct sampler_query *copy;

	if (sampler->busy)
		return false;
	copy = memory_need(reallocarray(sampler->queries, count, sizeof(*copy)));
	memcpy(copy, queries, count * sizeof(*copy));
	sampler->queries = copy;
	sampler->count = count;
	sampler->busy = true;
	worker_lock(&sampler->worker);
	sampler->asked = true;
	worker_unlock_and_wake(&sampler->worker);
	return true;
}

bool sampler_is_busy(const struct sampler *sampler)
{
	return sampler->busy;
}

int sampler_fd(const struct sampler *sampler)
{
	return worker_fd(&sampler->worker);
}

size_t sampler_answers(struct sampler *sampler, const struct sampler_query **ret_queries)
{
	if (!worker_has_ended_turn(&sampler->worker))
		return 0;
	sampler->busy = false;
	*ret_queries = sampler->queries;
	return sampler->count;
}
