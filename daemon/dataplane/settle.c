/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/dataplane/settle.h"

#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "daemon/base/worker.h"
#include "daemon/dataplane/dataplane.h"

/* Tickets; the worker's lock protects `asked` and `served`. */
struct settler {
	struct worker worker;
	uint64_t asked, served;
	uint64_t serving; /* the thread's */
};

static bool settler_begin(void *context)
{
	struct settler *settler = context;

	settler->serving = settler->asked;
	return settler->serving != settler->served;
}

static void settler_work(void *context)
{
	(void)context;
	dataplane_quiesce();
}

static void settler_end(void *context)
{
	struct settler *settler = context;

	settler->served = settler->serving;
}

static const struct worker_kind settler_kind = {
	.name = "settle",
	.begin = settler_begin,
	.work = settler_work,
	.end = settler_end,
};

struct settler *settler_new(struct err *err)
{
	struct settler *settler = memory_need(calloc(1, sizeof(*settler)));
	int r = worker_start(&settler->worker, &settler_kind, settler);

	if (!r)
		return settler;
	free(settler);
	err_set(err, -r, "cannot start the thread that waits for programs: %s", strerror(-r));
	return NULL;
}

void settler_free(struct settler *settler)
{
	if (!settler)
		return;
	worker_stop(&settler->worker);
	free(settler);
}

uint64_t settler_ask(struct settler *settler)
{
	uint64_t ticket;

	worker_lock(&settler->worker);
	ticket = ++settler->asked;
	worker_unlock_and_wake(&settler->worker);
	return ticket;
}

int settler_fd(const struct settler *settler)
{
	return worker_fd(&settler->worker);
}

uint64_t settler_served(struct settler *settler)
{
	uint64_t served;

	worker_has_ended_turn(&settler->worker);
	worker_lock(&settler->worker);
	served = settler->served;
	worker_unlock(&settler->worker);
	return served;
}
