/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/announce/announce.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/announce/announce_round.h"
#include "daemon/base/worker.h"

struct announcer {
	struct worker worker;
	/* The worker's lock protects the lists. It is never held during a blocking call. */
	struct announcement *waiting, *sending;
	struct nl nl;
};

static void announce_free_list(struct announcement *list)
{
	while (list) {
		struct announcement *next = list->next;

		announcement_free(list);
		list = next;
	}
}

static bool announcer_begin(void *context)
{
	struct announcer *announcer = context;

	announcer->sending = announcer->waiting;
	announcer->waiting = NULL;
	return announcer->sending;
}

static void announcer_work(void *context)
{
	struct announcer *announcer = context;

	announce_round(&announcer->nl, announcer->sending);
}

static void announcer_end(void *context)
{
	struct announcer *announcer = context;

	announce_free_list(announcer->sending);
	announcer->sending = NULL;
}

static const struct worker_kind announcer_kind = {
	.name = "announce",
	.begin = announcer_begin,
	.work = announcer_work,
	.end = announcer_end,
};

struct announcer *announcer_new(struct err *err)
{
	struct announcer *announcer = calloc(1, sizeof(*announcer));
	int r = announcer ? nl_init(&announcer->nl) : -ENOMEM;

	if (!r) {
		r = worker_start(&announcer->worker, &announcer_kind, announcer);
		if (r)
			nl_done(&announcer->nl);
	}
	if (!r)
		return announcer;
	free(announcer);
	err_set(err, -r, "cannot start the thread for announcements: %s", strerror(-r));
	return NULL;
}

/* 0: for every bond. The caller holds the lock. */
static void announce_drop(struct announcer *announcer, int port_ifindex)
{
	struct announcement *const lists[] = { announcer->waiting, announcer->sending };

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		for (struct announcement *each = lists[i]; each; each = each->next)
			if (!port_ifindex || each->port_ifindex == port_ifindex)
				__atomic_store_n(&each->dropped, true, __ATOMIC_RELAXED);
}

void announce_no_more(struct announcer *announcer, int port_ifindex)
{
	worker_lock(&announcer->worker);
	announce_drop(announcer, port_ifindex);
	worker_unlock(&announcer->worker);
}

void announcer_free(struct announcer *announcer)
{
	if (!announcer)
		return;
	announce_no_more(announcer, 0);
	worker_stop(&announcer->worker);
	announce_free_list(announcer->waiting);
	nl_done(&announcer->nl);
	free(announcer);
}

void announce(struct announcer *announcer, int ifindex, int port_ifindex)
{
	struct announcement *announcement = calloc(1, sizeof(*announcement)), **at;

	if (!announcement)
		return;
	announcement->ifindex = ifindex;
	announcement->port_ifindex = port_ifindex;
	worker_lock(&announcer->worker);
	announce_drop(announcer, port_ifindex);
	for (at = &announcer->waiting; *at;)
		at = &(*at)->next;
	*at = announcement;
	worker_unlock_and_wake(&announcer->worker);
}
