/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Brings packets of several rings into the order of time. Each is held for a while, because an
 * earlier one of another ring may still come. Memory is bounded: beyond ORDER_MOST the earliest
 * packet does not wait any longer.
 */
#ifndef XBOND_CLI_PACKETS_ORDER_H
#define XBOND_CLI_PACKETS_ORDER_H

#include "cli/base/tap.h"

#define ORDER_MOST (64 << 20)

struct order_packet {
	uint64_t due_ns; /* monotonic: it has been held for long enough */
	uint64_t number; /* packets of the same time stay in this order */
	const void *source;
	struct tap_packet packet; /* its bytes follow here */
	uint8_t bytes[];
};

struct order {
	struct order_packet **heap;
	size_t count, capacity;
	size_t size; /* of all packets in bytes */
	uint64_t number;
};

/* Keeps a copy. */
void order_put(struct order *order, const struct tap_packet *packet, const void *source,
	       uint64_t due_ns);
/* The earliest packet, if it is due at that time; free() it. Else NULL. */
struct order_packet *order_take(struct order *order, uint64_t now_ns);
void order_done(struct order *order);

#endif
