/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/announce/announce.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
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

static void announce_append(struct announcement **list, struct announcement *announcement)
{
	while (*list)
		list = &(*list)->next;
	announcement->next = NULL;
	*list = announcement;
}

static bool announce_is_over(const struct announcement *announcement)
{
	return announcement->dropped ||
	       (!announcement->addresses.left && !announcement->groups.left);
}

/* Returns whether it is its turn now. */
static bool announce_take_turn(struct announce_series *series, uint64_t now_ns)
{
	series->is_due = series->left && series->next_ns <= now_ns;
	if (series->is_due) {
		series->left--;
		series->next_ns = now_ns + series->delay_ns;
	}
	return series->is_due;
}

/* Moves what is due from the list of those that wait to that of those that are sent. */
static bool announcer_begin(void *context)
{
	struct announcer *announcer = context;
	struct announcement *each = announcer->waiting, *next;
	uint64_t now_ns = clock_now_ns();

	announcer->waiting = NULL;
	for (; each; each = next) {
		bool has_addresses, has_groups;

		next = each->next;
		if (announce_is_over(each)) {
			announcement_free(each);
			continue;
		}
		has_addresses = announce_take_turn(&each->addresses, now_ns);
		has_groups = announce_take_turn(&each->groups, now_ns);
		announce_append(has_addresses || has_groups ? &announcer->sending
							    : &announcer->waiting,
				each);
	}
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
	struct announcement *each = announcer->sending, *next;

	announcer->sending = NULL;
	for (; each; each = next) {
		next = each->next;
		if (announce_is_over(each))
			announcement_free(each);
		else
			announce_append(&announcer->waiting, each);
	}
}

static uint64_t announce_earlier(uint64_t next_ns, const struct announce_series *series)
{
	if (!series->left)
		return next_ns;
	return !next_ns || series->next_ns < next_ns ? series->next_ns : next_ns;
}

static uint64_t announcer_next_ns(void *context)
{
	struct announcer *announcer = context;
	uint64_t next_ns = 0;

	for (struct announcement *each = announcer->waiting; each; each = each->next) {
		next_ns = announce_earlier(next_ns, &each->addresses);
		next_ns = announce_earlier(next_ns, &each->groups);
	}
	return next_ns;
}

static const struct worker_kind announcer_kind = {
	.name = "announce",
	.begin = announcer_begin,
	.work = announcer_work,
	.end = announcer_end,
	.next_ns = announcer_next_ns,
};

struct announcer *announcer_new(struct err *err)
{
	struct announcer *announcer = memory_need(calloc(1, sizeof(*announcer)));
	int r = nl_init(&announcer->nl);

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

static struct announce_series announce_series_of(unsigned int count, uint32_t delay_ms)
{
	return (struct announce_series){ .left = count,
					 .delay_ns = delay_ms * NS_PER_MS,
					 .next_ns = clock_now_ns() };
}

static struct announcement *announcement_new(const struct announce_order *order)
{
	struct announcement *announcement = memory_need(calloc(1, sizeof(*announcement)));

	announcement->port_ifindex = order->port_ifindex;
	announcement->addresses = announce_series_of(order->addresses, order->address_delay_ms);
	announcement->groups = announce_series_of(order->groups, order->group_delay_ms);
	return announcement;
}

void announce(struct announcer *announcer, const struct announce_order *order)
{
	struct announcement *announcement = announcement_new(order);

	worker_lock(&announcer->worker);
	announce_drop(announcer, order->port_ifindex);
	if (announcement)
		announce_append(&announcer->waiting, announcement);
	worker_unlock_and_wake(&announcer->worker);
}
