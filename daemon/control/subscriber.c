/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/control/control.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/memory.h"
#include "daemon/base/event.h"
#include "daemon/base/main_loop.h"

#define MAX_SUBSCRIBERS 16 /* of root, and as many of the group */
#define MAX_PER_USER 4	   /* of the group's */
#define SOCKET_ROOM (64 * 1024)

struct subscriber {
	struct subscriber *next;
	uid_t uid;
	int fd;
	sd_event_source *source;
	uint64_t at; /* the number of the next event */
	bool full;   /* the connection takes no more at present */
	size_t used, sent;
	char buffer[EVENT_LINE_MAX];
};

static struct {
	struct subscriber *first;
	sd_event_source *turn; /* there is something to send */
} subscribers;

static void subscriber_free(struct subscriber *subscriber)
{
	memory_unlist(subscribers.first, subscriber);
	sd_event_source_disable_unref(subscriber->source);
	close(subscriber->fd);
	free(subscriber);
}

/* Fills the buffer anew once it has been sent. Returns false if there is nothing to send. */
static bool subscriber_fill(struct subscriber *subscriber)
{
	const struct event_ring *ring = event_ring();
	uint64_t first = ring->first;

	if (subscriber->sent < subscriber->used)
		return true;
	subscriber->sent = 0;
	subscriber->used = 0;
	if (subscriber->at < first) {
		subscriber->used = event_lost_line(first - subscriber->at, subscriber->buffer,
						   sizeof(subscriber->buffer));
		subscriber->at = first;
		return true;
	}
	subscriber->used = event_ring_copy(ring, &subscriber->at, subscriber->buffer,
					   sizeof(subscriber->buffer));
	return subscriber->used;
}

static bool subscriber_has_more(const struct subscriber *subscriber)
{
	return !subscriber->full &&
	       (subscriber->sent < subscriber->used || subscriber->at < event_ring()->next);
}

/* Sends once. A reader that has gone is freed. */
static void subscriber_send(struct subscriber *subscriber)
{
	ssize_t sent;

	if (!subscriber_fill(subscriber))
		return;
	sent = send(subscriber->fd, subscriber->buffer + subscriber->sent,
		    subscriber->used - subscriber->sent, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent >= 0) {
		subscriber->sent += (size_t)sent;
	} else if (errno == EAGAIN) {
		subscriber->full = true;
		sd_event_source_set_io_events(subscriber->source, EPOLLIN | EPOLLOUT);
	} else if (errno != EINTR) {
		subscriber_free(subscriber);
	}
}

/* One piece for each, so that nobody waits for somebody else's backlog. */
static int subscriber_on_turn(sd_event_source *source, void *arg)
{
	uint64_t end_ns = clock_now_ns() + LATENCY_SLICE_NS;
	bool more;

	latency_note("subscribers");
	do {
		more = false;
		for (struct subscriber *at = subscribers.first, *next; at; at = next) {
			next = at->next;
			if (!subscriber_has_more(at))
				continue;
			more = true;
			subscriber_send(at);
		}
	} while (more && clock_now_ns() < end_ns);
	sd_event_source_set_enabled(source, more ? SD_EVENT_ON : SD_EVENT_OFF);
	return 0;
}

static void subscriber_on_event(void)
{
	if (subscribers.first)
		sd_event_source_set_enabled(subscribers.turn, SD_EVENT_ON);
}

/* A subscriber has nothing to say: whatever it sends ends the connection. */
static int subscriber_on_io(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct subscriber *subscriber = arg;

	if (events & ~(uint32_t)EPOLLOUT) {
		subscriber_free(subscriber);
		return 0;
	}
	subscriber->full = false;
	sd_event_source_set_io_events(source, EPOLLIN);
	subscriber_on_event();
	return 0;
}

int subscriber_check(uid_t uid, struct err *err)
{
	unsigned int alike = 0, theirs = 0;

	for (const struct subscriber *at = subscribers.first; at; at = at->next) {
		alike += !at->uid == !uid;
		theirs += at->uid == uid;
	}
	if (uid && theirs >= MAX_PER_USER)
		return err_set(err, EBUSY,
			       "too many of your programs follow bondd's events; end some");
	if (alike >= MAX_SUBSCRIBERS)
		return err_set(err, EBUSY, "too many programs follow bondd's events; end some");
	return 0;
}

uint64_t subscriber_first_event(const json_t *words)
{
	const json_t *from = json_object_get(words, "from");
	const char *run = json_string_value(json_object_get(words, "bondd"));
	const struct event_ring *ring = event_ring();
	uint64_t wanted = json_integer_value(from) > 0 ? (uint64_t)json_integer_value(from) : 0;

	if (!json_is_integer(from))
		return ring->next;
	if (run && strcmp(run, event_run()))
		return ring->first;
	/* 0 asks for what there is; another number tells what the client has seen. */
	return wanted && wanted <= ring->next ? wanted : ring->first;
}

static int subscriber_watch(struct daemon *daemon, struct subscriber *subscriber)
{
	int r = 0;

	if (!subscribers.turn)
		r = sd_event_add_defer(daemon->event, &subscribers.turn, subscriber_on_turn, NULL);
	if (r >= 0)
		r = sd_event_source_set_priority(subscribers.turn, SD_EVENT_PRIORITY_IDLE);
	if (r >= 0)
		r = sd_event_add_io(daemon->event, &subscriber->source, subscriber->fd, EPOLLIN,
				    subscriber_on_io, subscriber);
	if (r >= 0)
		r = sd_event_source_set_priority(subscriber->source, SD_EVENT_PRIORITY_IDLE);
	return r;
}

void subscriber_add(struct daemon *daemon, int fd, uid_t uid, uint64_t from)
{
	struct subscriber *subscriber = memory_need(calloc(1, sizeof(*subscriber)));
	const int room = SOCKET_ROOM;

	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	subscriber->fd = fd;
	subscriber->uid = uid;
	subscriber->at = from;
	subscriber->next = subscribers.first;
	subscribers.first = subscriber;
	if (subscriber_watch(daemon, subscriber) < 0) {
		subscriber_free(subscriber);
		return;
	}
	event_listen(subscriber_on_event);
	subscriber_on_event();
}

void subscriber_done(void)
{
	event_listen(NULL);
	while (subscribers.first)
		subscriber_free(subscribers.first);
	subscribers.turn = sd_event_source_disable_unref(subscribers.turn);
}
