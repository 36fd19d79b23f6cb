/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that tell of a change of carrier before the kernel's message does (linkwatch.bpf.c),
 * for all bonds at once. Where the kernel refuses them, messages and the poll are what is left.
 * Called by wake.c. Knows no bonds.
 */
#ifndef XBOND_DAEMON_MONITOR_CARRIER_WATCH_H
#define XBOND_DAEMON_MONITOR_CARRIER_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "bpf/linkwatch.h"

struct carrier_watch;

/* Tells of a device; not if only tracepoints are in force. */
typedef void (*carrier_watch_fn)(void *arg, const struct watch_record *record);

/*
 * NULL: libbpf could not find out what this kernel can, for want of memory, and will not ask it
 * again; only the next bondd does.
 */
struct carrier_watch *carrier_watch_new(carrier_watch_fn on_change, void *arg);
void carrier_watch_free(struct carrier_watch *watch);
/* What is in force. */
enum xbond_carrier_source carrier_watch_source(const struct carrier_watch *watch);
/* Readable when carrier_watch_read() has something to read; -1: it never has. */
int carrier_watch_fd(const struct carrier_watch *watch);
/* The devices to tell of. They are in the namespace with this cookie. */
void carrier_watch_set(struct carrier_watch *watch, uint64_t netns_cookie,
		       const uint32_t *ifindexes, unsigned int count);
/*
 * Raises the doubt of a bond, the map of this descriptor, at each loss. Returns a place, for
 * carrier_watch_drop_doubt(); -1: nothing raises it.
 */
int carrier_watch_add_doubt(struct carrier_watch *watch, int map_fd);
void carrier_watch_drop_doubt(struct carrier_watch *watch, int place);
/* Returns the time of the first change since the last call; 0: there was none. */
uint64_t carrier_watch_read(struct carrier_watch *watch);
/* May further changes come of which nothing tells? Then look from time to time. */
bool carrier_watch_is_blind(struct carrier_watch *watch);

#endif
