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

#define MAX_FOLLOWERS 16 /* of root, and as many of the group */
#define MAX_PER_USER 4	 /* of the group's */
#define SOCKET_ROOM (64 * 1024)

struct follower {
	struct follower *next;
	uid_t uid;
	int fd;
	sd_event_source *source;
	uint64_t at; /* the number of the next event */
	bool full;   /* the connection takes no more at present */
	size_t used, sent;
	char buffer[EVENT_LINE_MAX];
};

static struct {
	struct follower *first;
	sd_event_source *turn; /* there is something to send */
} followers;

static void follower_free(struct follower *follower)
{
	struct follower **at = &followers.first;

	while (*at && *at != follower)
		at = &(*at)->next;
	if (*at)
		*at = follower->next;
	sd_event_source_disable_unref(follower->source);
	close(follower->fd);
	free(follower);
}

/* Fills the buffer anew once it has been sent. Returns false if there is nothing to send. */
static bool follower_fill(struct follower *follower)
{
	const struct event_ring *ring = event_ring();
	uint64_t first = ring->first;

	if (follower->sent < follower->used)
		return true;
	follower->sent = 0;
	follower->used = 0;
	if (follower->at < first) {
		follower->used = event_lost_line(first - follower->at, follower->buffer,
						 sizeof(follower->buffer));
		follower->at = first;
		return true;
	}
	follower->used =
		event_ring_copy(ring, &follower->at, follower->buffer, sizeof(follower->buffer));
	return follower->used;
}

static bool follower_has_more(const struct follower *follower)
{
	return !follower->full &&
	       (follower->sent < follower->used || follower->at < event_ring()->next);
}

/* Sends once. A reader that has gone is freed. */
static void follower_send(struct follower *follower)
{
	ssize_t sent;

	if (!follower_fill(follower))
		return;
	sent = send(follower->fd, follower->buffer + follower->sent,
		    follower->used - follower->sent, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent >= 0) {
		follower->sent += (size_t)sent;
	} else if (errno == EAGAIN) {
		follower->full = true;
		sd_event_source_set_io_events(follower->source, EPOLLIN | EPOLLOUT);
	} else if (errno != EINTR) {
		follower_free(follower);
	}
}

/* One piece for each, so that nobody waits for somebody else's backlog. */
static int follower_on_turn(sd_event_source *source, void *arg)
{
	uint64_t end_ns = clock_now_ns() + LATENCY_SLICE_NS;
	bool more;

	(void)arg;
	latency_note("followers");
	do {
		more = false;
		for (struct follower *at = followers.first, *next; at; at = next) {
			next = at->next;
			if (!follower_has_more(at))
				continue;
			more = true;
			follower_send(at);
		}
	} while (more && clock_now_ns() < end_ns);
	sd_event_source_set_enabled(source, more ? SD_EVENT_ON : SD_EVENT_OFF);
	return 0;
}

static void follower_on_event(void *arg)
{
	(void)arg;
	if (followers.first)
		sd_event_source_set_enabled(followers.turn, SD_EVENT_ON);
}

/* A follower has nothing to say: whatever it sends ends the connection. */
static int follower_on_io(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct follower *follower = arg;

	(void)fd;
	if (events & ~(uint32_t)EPOLLOUT) {
		follower_free(follower);
		return 0;
	}
	follower->full = false;
	sd_event_source_set_io_events(source, EPOLLIN);
	follower_on_event(NULL);
	return 0;
}

int follower_check(uid_t uid, struct err *err)
{
	unsigned int alike = 0, theirs = 0;

	for (const struct follower *at = followers.first; at; at = at->next) {
		alike += !at->uid == !uid;
		theirs += at->uid == uid;
	}
	if (uid && theirs >= MAX_PER_USER)
		return err_set(err, EBUSY,
			       "too many of your programs follow bondd's events; end some");
	if (alike >= MAX_FOLLOWERS)
		return err_set(err, EBUSY, "too many programs follow bondd's events; end some");
	return 0;
}

uint64_t follower_first_event(const json_t *words)
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

static int follower_watch(struct daemon *daemon, struct follower *follower)
{
	int r = 0;

	if (!followers.turn)
		r = sd_event_add_defer(daemon->event, &followers.turn, follower_on_turn, NULL);
	if (r >= 0)
		r = sd_event_source_set_priority(followers.turn, SD_EVENT_PRIORITY_IDLE);
	if (r >= 0)
		r = sd_event_add_io(daemon->event, &follower->source, follower->fd, EPOLLIN,
				    follower_on_io, follower);
	if (r >= 0)
		r = sd_event_source_set_priority(follower->source, SD_EVENT_PRIORITY_IDLE);
	return r;
}

void follower_add(struct daemon *daemon, int fd, uid_t uid, uint64_t from)
{
	struct follower *follower = memory_need(calloc(1, sizeof(*follower)));
	const int room = SOCKET_ROOM;

	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	follower->fd = fd;
	follower->uid = uid;
	follower->at = from;
	follower->next = followers.first;
	followers.first = follower;
	if (follower_watch(daemon, follower) < 0) {
		follower_free(follower);
		return;
	}
	event_listen(follower_on_event, NULL);
	follower_on_event(NULL);
}

void follower_done(void)
{
	event_listen(NULL, NULL);
	while (followers.first)
		follower_free(followers.first);
	followers.turn = sd_event_source_disable_unref(followers.turn);
}
