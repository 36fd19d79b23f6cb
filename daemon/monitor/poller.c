/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/monitor/poller.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "daemon/base/worker.h"
#include "network/driver.h"

struct poller {
	struct worker worker;
	bool asked; /* the worker's lock protects it */
	bool busy;  /* for the main loop: true until it has the answers */
	struct poller_query *queries;
	size_t count;
	uint64_t asked_ns;
	struct ethtool ethtool;
};

static void poller_serve(struct poller *poller, struct poller_query *query)
{
	query->carrier =
		query->wants_carrier ? ethtool_carrier(&poller->ethtool, query->name) : -ENODATA;
	if (query->wants_speed)
		ethtool_speed(&poller->ethtool, query->name, &query->speed_mbps, &query->duplex);
}

static bool poller_begin(void *context)
{
	struct poller *poller = context;

	return poller->asked;
}

static void poller_work(void *context)
{
	struct poller *poller = context;

	for (size_t i = 0; i < poller->count && !worker_is_stopping(&poller->worker); i++)
		poller_serve(poller, &poller->queries[i]);
}

static void poller_end(void *context)
{
	struct poller *poller = context;

	poller->asked = false;
}

static const struct worker_kind poller_kind = {
	.name = "poll",
	.begin = poller_begin,
	.work = poller_work,
	.end = poller_end,
};

static int poller_start(struct poller *poller)
{
	int r = ethtool_init(&poller->ethtool);

	if (r)
		return r;
	r = worker_start(&poller->worker, &poller_kind, poller);
	if (r)
		ethtool_done(&poller->ethtool);
	return r;
}

struct poller *poller_new(struct err *err)
{
	struct poller *poller = memory_need(calloc(1, sizeof(*poller)));
	int r = poller_start(poller);

	if (!r)
		return poller;
	free(poller);
	err_set(err, -r, "cannot start the thread that asks drivers: %s", strerror(-r));
	return NULL;
}

void poller_free(struct poller *poller)
{
	if (!poller)
		return;
	worker_stop(&poller->worker);
	ethtool_done(&poller->ethtool);
	free(poller->queries);
	free(poller);
}

bool poller_ask(struct poller *poller, const struct poller_query *queries, size_t count)
{
	struct poller_query *copy;

	if (poller->busy)
		return false;
	copy = memory_need(reallocarray(poller->queries, count, sizeof(*copy)));
	memcpy(copy, queries, count * sizeof(*copy));
	poller->queries = copy;
	poller->count = count;
	poller->asked_ns = clock_now_ns();
	poller->busy = true;
	worker_lock(&poller->worker);
	poller->asked = true;
	worker_unlock_and_wake(&poller->worker);
	return true;
}

bool poller_is_busy(const struct poller *poller)
{
	return poller->busy;
}

int poller_fd(const struct poller *poller)
{
	return worker_fd(&poller->worker);
}

size_t poller_answers(struct poller *poller, const struct poller_query **ret_queries,
		      uint64_t *ret_asked_ns)
{
	if (!worker_has_ended_turn(&poller->worker))
		return 0;
	poller->busy = false;
	*ret_queries = poller->queries;
	*ret_asked_ns = poller->asked_ns;
	return poller->count;
}
