/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/monitor/poller.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "daemon/net/ethtool.h"

struct poller {
	pthread_t thread;
	/* Protects `working` and `stopping`. The queries belong to the thread while it works. */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool working, stopping;
	bool busy; /* for the main loop: true until it has the answers */
	struct poller_query *queries;
	size_t count;
	uint64_t asked_ns;
	struct ethtool ethtool;
	int fd;
};

static void poller_serve(struct poller *poller, struct poller_query *query)
{
	query->carrier = ethtool_carrier(&poller->ethtool, query->name);
	if (query->wants_speed)
		ethtool_speed(&poller->ethtool, query->name, &query->speed_mbps, &query->duplex);
}

static void *poller_run(void *arg)
{
	struct poller *poller = arg;
	uint64_t one = 1;
	ssize_t written;

	pthread_setname_np(pthread_self(), "poll");
	pthread_mutex_lock(&poller->lock);
	while (!poller->stopping) {
		if (!poller->working) {
			pthread_cond_wait(&poller->wake, &poller->lock);
			continue;
		}
		pthread_mutex_unlock(&poller->lock);
		for (size_t i = 0;
		     i < poller->count && !__atomic_load_n(&poller->stopping, __ATOMIC_RELAXED);
		     i++)
			poller_serve(poller, &poller->queries[i]);
		pthread_mutex_lock(&poller->lock);
		poller->working = false;
		written = write(poller->fd, &one, sizeof(one));
		(void)written; /* nothing else writes there */
	}
	pthread_mutex_unlock(&poller->lock);
	return NULL;
}

static int poller_start(struct poller *poller)
{
	int r = ethtool_init(&poller->ethtool);

	if (r)
		return r;
	poller->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (poller->fd < 0) {
		ethtool_done(&poller->ethtool);
		return -EMFILE;
	}
	pthread_mutex_init(&poller->lock, NULL);
	pthread_cond_init(&poller->wake, NULL);
	r = -pthread_create(&poller->thread, NULL, poller_run, poller);
	if (r) {
		close(poller->fd);
		ethtool_done(&poller->ethtool);
	}
	return r;
}

struct poller *poller_new(struct err *err)
{
	struct poller *poller = calloc(1, sizeof(*poller));
	int r = poller ? poller_start(poller) : -ENOMEM;

	if (!r)
		return poller;
	free(poller);
	err_set(err, -r, "no thread that asks drivers: %s", strerror(-r));
	return NULL;
}

void poller_free(struct poller *poller)
{
	if (!poller)
		return;
	pthread_mutex_lock(&poller->lock);
	__atomic_store_n(&poller->stopping, true, __ATOMIC_RELAXED);
	pthread_cond_signal(&poller->wake);
	pthread_mutex_unlock(&poller->lock);
	pthread_join(poller->thread, NULL);
	pthread_cond_destroy(&poller->wake);
	pthread_mutex_destroy(&poller->lock);
	ethtool_done(&poller->ethtool);
	close(poller->fd);
	free(poller->queries);
	free(poller);
}

bool poller_ask(struct poller *poller, const struct poller_query *queries, size_t count)
{
	struct poller_query *copy;

	if (poller->busy)
		return false;
	copy = reallocarray(poller->queries, count, sizeof(*copy));
	if (!copy)
		return false;
	memcpy(copy, queries, count * sizeof(*copy));
	poller->queries = copy;
	poller->count = count;
	poller->asked_ns = clock_now_ns();
	poller->busy = true;
	pthread_mutex_lock(&poller->lock);
	poller->working = true;
	pthread_cond_signal(&poller->wake);
	pthread_mutex_unlock(&poller->lock);
	return true;
}

bool poller_is_busy(const struct poller *poller)
{
	return poller->busy;
}

int poller_fd(const struct poller *poller)
{
	return poller->fd;
}

size_t poller_answers(struct poller *poller, const struct poller_query **ret_queries,
		      uint64_t *ret_asked_ns)
{
	uint64_t count;

	if (read(poller->fd, &count, sizeof(count)) < 0)
		return 0;
	poller->busy = false;
	*ret_queries = poller->queries;
	*ret_asked_ns = poller->asked_ns;
	return poller->count;
}
