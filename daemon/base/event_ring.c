/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/base/event_ring.h"

#include <stdlib.h>
#include <string.h>

#include "common/err.h"

struct event_ring_line {
	uint64_t at; /* counts all bytes that were ever added; its place is the rest by size */
	size_t length;
};

void event_ring_init(struct event_ring *ring, size_t size, unsigned int lines)
{
	*ring = (struct event_ring){ .bytes = memory_need(malloc(size)),
				     .size = size,
				     .lines = memory_need(calloc(lines, sizeof(*ring->lines))),
				     .room = lines,
				     .first = 1,
				     .next = 1 };
	/*
	 * All memory is taken now, so bondd does not seem to grow while the ring fills. Of zeros
	 * the compiler would make a calloc(), which takes none.
	 */
	memset(ring->bytes, '\n', size);
	memset(ring->lines, 0xff, lines * sizeof(*ring->lines));
}

void event_ring_done(struct event_ring *ring)
{
	free(ring->bytes);
	free(ring->lines);
	ring->bytes = NULL;
	ring->lines = NULL;
	ring->room = 0;
	ring->first = ring->next;
}

static struct event_ring_line *event_ring_line(const struct event_ring *ring, uint64_t number)
{
	return &ring->lines[number % ring->room];
}

static uint64_t event_ring_end(const struct event_ring *ring)
{
	const struct event_ring_line *last;

	if (ring->first == ring->next)
		return 0;
	last = event_ring_line(ring, ring->next - 1);
	return last->at + last->length;
}

static void event_ring_write(struct event_ring *ring, uint64_t at, const char *from, size_t length)
{
	size_t place = at % ring->size, head = ring->size - place;

	if (head > length)
		head = length;
	memcpy(ring->bytes + place, from, head);
	memcpy(ring->bytes, from + head, length - head);
}

static void event_ring_read(const struct event_ring *ring, const struct event_ring_line *line,
			    char *to)
{
	size_t place = line->at % ring->size, head = ring->size - place;

	if (head > line->length)
		head = line->length;
	memcpy(to, ring->bytes + place, head);
	memcpy(to + head, ring->bytes, line->length - head);
}

void event_ring_add(struct event_ring *ring, const char *line, size_t length)
{
	uint64_t at = event_ring_end(ring);

	if (!ring->room || length > ring->size) {
		ring->first = ++ring->next;
		return;
	}
	while (ring->first < ring->next &&
	       (ring->next - ring->first == ring->room ||
		at + length - event_ring_line(ring, ring->first)->at > ring->size))
		ring->first++;
	event_ring_write(ring, at, line, length);
	*event_ring_line(ring, ring->next++) =
		(struct event_ring_line){ .at = at, .length = length };
}

size_t event_ring_copy(const struct event_ring *ring, uint64_t *at, char *buffer, size_t room)
{
	size_t used = 0;

	if (*at < ring->first)
		*at = ring->first;
	while (*at < ring->next) {
		const struct event_ring_line *line = event_ring_line(ring, *at);

		if (line->length > room - used)
			break;
		event_ring_read(ring, line, buffer + used);
		used += line->length;
		++*at;
	}
	return used;
}
