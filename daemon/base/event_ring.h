/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last events as lines of text, in a fixed amount of memory. The oldest give way to new ones,
 * so nobody who reads slowly can make it grow. Lines are numbered from 1. Knows no readers.
 */
#ifndef XBOND_DAEMON_BASE_EVENT_RING_H
#define XBOND_DAEMON_BASE_EVENT_RING_H

#include <stddef.h>
#include <stdint.h>

struct event_ring_line;

struct event_ring {
	char *bytes;
	size_t size;
	struct event_ring_line *lines;
	unsigned int room;    /* lines */
	uint64_t first, next; /* the numbers of the oldest line and of the one to come */
};

void event_ring_init(struct event_ring *ring, size_t size, unsigned int lines);
void event_ring_done(struct event_ring *ring);
/* A line that is longer than the ring is only counted. */
void event_ring_add(struct event_ring *ring, const char *line, size_t length);
/*
 * Copies whole lines, beginning with number *at, as many as there are and fit. Returns their
 * bytes; *at is then the number after the last. Lines that are gone are left out: the caller
 * compares *at with ring->first before.
 */
size_t event_ring_copy(const struct event_ring *ring, uint64_t *at, char *buffer, size_t room);

#endif
