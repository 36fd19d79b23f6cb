/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/dataplane/settle.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/dataplane/dataplane.h"

struct settler {
	pthread_t thread;
	pthread_mutex_t lock; /* protects all below; never held while waiting for the programs */
	pthread_cond_t wake;
	bool stopping;
	uint64_t asked, served; /* tickets */
	int fd;
};

static void settler_serve(struct settler *settler)
{
	uint64_t ticket = settler->asked, one = 1;
	ssize_t written;

	pthread_mutex_unlock(&settler->lock);
	dataplane_quiesce();
	pthread_mutex_lock(&settler->lock);
	settler->served = ticket;
	written = write(settler->fd, &one, sizeof(one));
	(void)written; /* a full counter is also readable */
}

static void *settler_run(void *arg)
{
	struct settler *settler = arg;

	pthread_setname_np(pthread_self(), "settle");
	pthread_mutex_lock(&settler->lock);
	while (!settler->stopping) {
		if (settler->served == settler->asked)
			pthread_cond_wait(&settler->wake, &settler->lock);
		else
			settler_serve(settler);
	}
	pthread_mutex_unlock(&settler->lock);
	return NULL;
}

struct settler *settler_new(struct err *err)
{
	struct settler *settler = calloc(1, sizeof(*settler));
	int r = settler ? 0 : -ENOMEM;

	if (!r) {
		settler->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		r = settler->fd < 0 ? -errno : 0;
	}
	if (!r) {
		pthread_mutex_init(&settler->lock, NULL);
		pthread_cond_init(&settler->wake, NULL);
		r = -pthread_create(&settler->thread, NULL, settler_run, settler);
		if (r)
			close(settler->fd);
	}
	if (!r)
		return settler;
	free(settler);
	err_set(err, -r, "no thread that waits for programs: %s", strerror(-r));
	return NULL;
}

void settler_free(struct settler *settler)
{
	if (!settler)
		return;
	pthread_mutex_lock(&settler->lock);
	settler->stopping = true;
	pthread_cond_signal(&settler->wake);
	pthread_mutex_unlock(&settler->lock);
	pthread_join(settler->thread, NULL);
	pthread_cond_destroy(&settler->wake);
	pthread_mutex_destroy(&settler->lock);
	close(settler->fd);
	free(settler);
}

uint64_t settler_ask(struct settler *settler)
{
	uint64_t ticket;

	pthread_mutex_lock(&settler->lock);
	ticket = ++settler->asked;
	pthread_cond_signal(&settler->wake);
	pthread_mutex_unlock(&settler->lock);
	return ticket;
}

int settler_fd(const struct settler *settler)
{
	return settler->fd;
}

uint64_t settler_served(struct settler *settler)
{
	uint64_t count, served;
	ssize_t got = read(settler->fd, &count, sizeof(count));

	(void)got;
	pthread_mutex_lock(&settler->lock);
	served = settler->served;
	pthread_mutex_unlock(&settler->lock);
	return served;
}
