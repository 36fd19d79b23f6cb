/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/announce/announce.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/announce/announce_round.h"

struct announcer {
	pthread_t thread;
	pthread_mutex_t lock; /* protects all below except nl; never held during a blocking call */
	pthread_cond_t wake;
	bool stopping;
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

static void *announcer_run(void *arg)
{
	struct announcer *announcer = arg;

	pthread_setname_np(pthread_self(), "announce");
	pthread_mutex_lock(&announcer->lock);
	while (!announcer->stopping) {
		if (!announcer->waiting) {
			pthread_cond_wait(&announcer->wake, &announcer->lock);
			continue;
		}
		announcer->sending = announcer->waiting;
		announcer->waiting = NULL;
		pthread_mutex_unlock(&announcer->lock);
		announce_round(&announcer->nl, announcer->sending);
		pthread_mutex_lock(&announcer->lock);
		announce_free_list(announcer->sending);
		announcer->sending = NULL;
	}
	pthread_mutex_unlock(&announcer->lock);
	return NULL;
}

struct announcer *announcer_new(struct err *err)
{
	struct announcer *announcer = calloc(1, sizeof(*announcer));
	int r = announcer ? nl_init(&announcer->nl) : -ENOMEM;

	if (!r) {
		pthread_mutex_init(&announcer->lock, NULL);
		pthread_cond_init(&announcer->wake, NULL);
		r = -pthread_create(&announcer->thread, NULL, announcer_run, announcer);
		if (r)
			nl_done(&announcer->nl);
	}
	if (!r)
		return announcer;
	free(announcer);
	err_set(err, -r, "no thread for announcements: %s", strerror(-r));
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

void announcer_free(struct announcer *announcer)
{
	if (!announcer)
		return;
	pthread_mutex_lock(&announcer->lock);
	announcer->stopping = true;
	announce_drop(announcer, 0);
	pthread_cond_signal(&announcer->wake);
	pthread_mutex_unlock(&announcer->lock);
	pthread_join(announcer->thread, NULL);
	announce_free_list(announcer->waiting);
	pthread_cond_destroy(&announcer->wake);
	pthread_mutex_destroy(&announcer->lock);
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
	pthread_mutex_lock(&announcer->lock);
	announce_drop(announcer, port_ifindex);
	for (at = &announcer->waiting; *at;)
		at = &(*at)->next;
	*at = announcement;
	pthread_cond_signal(&announcer->wake);
	pthread_mutex_unlock(&announcer->lock);
}

void announce_no_more(struct announcer *announcer, int port_ifindex)
{
	pthread_mutex_lock(&announcer->lock);
	announce_drop(announcer, port_ifindex);
	pthread_mutex_unlock(&announcer->lock);
}
