/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
#include "xsk/choice.h"

#include <stdlib.h>

/*
 * What the worker of bpf/choose.h reads when it runs in user space: the same maps, mapped into
 * memory, for as many bonds as the process likes. Stands for bpf/maps.h and bpf/netdev.h, so it
 * comes before any header that includes these. The caller sets `worker` before each choice.
 */

#define XBOND_BPF_MAPS_H
#define XBOND_BPF_NETDEV_H

/* For dlopen(), too: eight bytes of static TLS are always to be had. */
static __thread struct choice *worker __attribute__((tls_model("initial-exec")));

#define settings (*worker->settings)
#define table (*worker->table)
#define buckets (*worker->buckets)
#define alb (*worker->alb)
#define cursor (*worker->cursor)
#define flowlets (*worker->flowlets)
#define moves (*worker->moves)
#define vlans (*worker->vlans)

#define READ_ONCE(x) (*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, value) (*(volatile typeof(x) *)&(x) = (value))
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#define __noinline static __attribute__((noinline, unused))

/*
 * Maps that have a copy for each CPU cannot be mapped. What a caller has sent of late (for
 * flowlets) is its own. The loads of buckets and the counters are not kept here: their entries are
 * not found.
 */
#define recent (worker->recent)
#define loads (*(struct xbond_load *)NULL)
#define counters (*(struct xbond_counters *)NULL)
#define bpf_map_lookup_elem(map, key) ((void)(key), (void *)(map))

/* bpf/netdev.h's questions. */
enum { NETDEV_SENDS, NETDEV_MAY_SEND };

static inline int netdev_is_up(__u32 slot, __u64 bits)
{
	return READ_ONCE(worker->up) >> (slot % XBOND_MAX_SLAVES) & 1;
}

static inline int netdev_is_lost(__u32 slot)
{
	return !netdev_is_up(slot, NETDEV_SENDS);
}

/*
 * bondd is told by the programs only: there is one record for each loss, and who has taken its turn
 * (wake.told) must write it.
 */
static inline void losses_tell(__u64 lost)
{
}

/* The kernel's helpers. */
#define bpf_ktime_get_ns choice_time_ns
#define bpf_ktime_get_coarse_ns choice_time_ns

/* xorshift, by G. Marsaglia. */
static inline __u32 worker_random(void)
{
	__u64 word = worker->random;

	word ^= word << 13;
	word ^= word >> 7;
	word ^= word << 17;
	worker->random = word;
	return (__u32)(word >> 32);
}
#define bpf_get_prandom_u32 worker_random

static inline void worker_loop(__u32 turns, long (*turn)(__u32 i, void *context), void *context)
{
	for (__u32 i = 0; i < turns && !turn(i, context); i++)
		;
}
#define bpf_loop(turns, turn, context, flags) worker_loop(turns, turn, context)

/* The worker itself. */

#include "bpf/flow.h"
#include "bpf/neighbour.h"
#include "bpf/slots.h"

#define FLOW_CONTEXT struct packet
#define XBOND_CONTEXT struct packet

static inline struct packet packet_of(const struct packet *packet)
{
	return *packet;
}

#include "bpf/send_frame.h"

static inline int xbond_is_for_all(const struct packet *packet)
{
	return neighbour_is_in(packet);
}

static inline __u32 xbond_select_tlb(struct packet *packet, __u64 mask, __u32 length)
{
	return tlb_prepare_frame(packet, mask, length);
}

#include "bpf/answer.h"

int choice_select(struct choice *choice, void *frame, __u32 length)
{
	struct packet packet = { .data = frame, .end = (char *)frame + length, .vlan_tci = -1 };

	worker = choice;
	return xbond_select_for(&packet, length);
}

int choice_collects(struct choice *choice, __u32 slot)
{
	worker = choice;
	return slots_have(READ_ONCE(table.rx_mask), slot) || choose_collects_by_now(slot);
}
