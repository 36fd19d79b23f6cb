/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/packets/order.h"

#include <stdlib.h>
#include <string.h>

#include "common/err.h"

static bool order_is_before(const struct order_packet *a, const struct order_packet *b)
{
	if (a->packet.time_ns != b->packet.time_ns)
		return a->packet.time_ns < b->packet.time_ns;
	return a->number < b->number;
}

static void order_swap(struct order *order, size_t a, size_t b)
{
	struct order_packet *kept = order->heap[a];

	order->heap[a] = order->heap[b];
	order->heap[b] = kept;
}

static void order_rise(struct order *order, size_t at)
{
	while (at && order_is_before(order->heap[at], order->heap[(at - 1) / 2])) {
		order_swap(order, at, (at - 1) / 2);
		at = (at - 1) / 2;
	}
}

static void order_sink(struct order *order, size_t at)
{
	for (;;) {
		size_t least = at;

		for (size_t child = 2 * at + 1; child <= 2 * at + 2; child++)
			if (child < order->count &&
			    order_is_before(order->heap[child], order->heap[least]))
				least = child;
		if (least == at)
			return;
		order_swap(order, at, least);
		at = least;
	}
}

static void order_make_room(struct order *order)
{
	if (order->count < order->capacity)
		return;
	order->capacity = order->capacity ? 2 * order->capacity : 1024;
	order->heap =
		memory_need(realloc(order->heap, order->capacity * sizeof(struct order_packet *)));
}

void order_put(struct order *order, const struct tap_packet *packet, const void *source,
	       uint64_t due_ns)
{
	struct order_packet *kept = memory_need(malloc(sizeof(*kept) + packet->kept));

	order_make_room(order);
	*kept = (struct order_packet){ due_ns, order->number++, source, *packet };
	memcpy(kept->bytes, packet->bytes, packet->kept);
	kept->packet.bytes = kept->bytes;
	order->size += sizeof(*kept) + packet->kept;
	order->heap[order->count++] = kept;
	order_rise(order, order->count - 1);
}

struct order_packet *order_take(struct order *order, uint64_t now_ns)
{
	struct order_packet *first = order->count ? order->heap[0] : NULL;

	if (!first || (first->due_ns > now_ns && order->size <= ORDER_MOST))
		return NULL;
	order->heap[0] = order->heap[--order->count];
	order_sink(order, 0);
	order->size -= sizeof(*first) + first->packet.kept;
	return first;
}

void order_done(struct order *order)
{
	while (order->count)
		free(order->heap[--order->count]);
	free(order->heap);
	*order = (struct order){ 0 };
}
