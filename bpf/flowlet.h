/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flowlet_gap: a flow keeps its slot while it sends, and after a gap it may go to the slot that has
 * sent least of late. A gap longer than the difference between the links' delays lets everything
 * arrive before what follows, so nothing is overtaken. Needs no bondd.
 */
#ifndef XBOND_BPF_FLOWLET_H
#define XBOND_BPF_FLOWLET_H

#include "bpf/select.h"

/* A flow stays where it is if the idlest slot has not sent so many bytes less. */
#define FLOWLET_WORTH_IT (16 * 1024 * XBOND_BYTE_COST_ONE)
#define FLOWLET_FORGOTTEN_NS 1000000000ULL /* then the flow begins at its bucket's owner */

struct xbond_flowlets flowlets SEC(".data.flowlets");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct xbond_recent);
} recent SEC(".maps");

/* No jumps, so that the verifier sees the loop as one path. */
static __always_inline void flowlet_age(struct xbond_recent *of_cpu, __u64 now_ns)
{
	__u64 halvings = (now_ns - of_cpu->since_ns) / XBOND_RECENT_NS;

	if (!halvings)
		return;
	of_cpu->since_ns = now_ns;
	if (halvings > 40)
		halvings = 40;
	for (__u32 slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		of_cpu->sent[slot] >>= halvings;
}

/* A slot of mask for a flow that pauses, or whose slot may not transmit. */
__noinline __u32 flowlet_choose(__u32 slot, __u64 mask, __u64 now_ns)
{
	__u64 wanted = READ_ONCE(flowlets.slots) & mask;
	__u32 key = 0, idlest;
	struct xbond_recent *of_cpu = bpf_map_lookup_elem(&recent, &key);

	if (!of_cpu)
		return slot;
	if (wanted)
		mask = wanted;
	flowlet_age(of_cpu, now_ns);
	idlest = select_fewest(of_cpu->sent, mask, 0) & XBOND_FLOWLET_SLOT;
	slot %= XBOND_MAX_SLAVES;
	if (mask >> slot & 1 && of_cpu->sent[slot] <= of_cpu->sent[idlest] + FLOWLET_WORTH_IT)
		return slot;
	return idlest;
}

static __always_inline void flowlet_count(__u32 slot, __u32 length)
{
	__u32 key = 0;
	struct xbond_recent *of_cpu = bpf_map_lookup_elem(&recent, &key);

	slot %= XBOND_MAX_SLAVES;
	if (of_cpu)
		of_cpu->sent[slot] += (__u64)length * table.byte_cost[slot];
}

/*
 * The time of a flow is stored only when the stored one is older than a quarter of the gap, so CPUs
 * that send flows of one cache line seldom disturb each other. Hence the longer gap. A time that is
 * later than now is another CPU's, and no gap.
 */
static __always_inline __u32 flowlet_slot(__u64 hash, __u64 mask, __u32 length)
{
	__u64 now_ns = bpf_ktime_get_ns(), gap_ns = READ_ONCE(table.flowlet_gap_ns);
	__u64 *flow = &flowlets.flow[FLOWLET_OF(hash)], word = READ_ONCE(*flow);
	__s64 silent_ns = now_ns - (word & ~XBOND_FLOWLET_SLOT);
	__u32 slot = word & XBOND_FLOWLET_SLOT;

	if (silent_ns > (__s64)(gap_ns + gap_ns / 4) || !(mask >> slot & 1)) {
		if (silent_ns > (__s64)FLOWLET_FORGOTTEN_NS)
			slot = select_bucket(FLOW_BUCKET(hash));
		slot = flowlet_choose(slot, mask, now_ns);
		silent_ns = gap_ns;
	}
	if (silent_ns > (__s64)(gap_ns / 4))
		WRITE_ONCE(*flow, (now_ns & ~XBOND_FLOWLET_SLOT) | (slot & XBOND_FLOWLET_SLOT));
	flowlet_count(slot, length);
	return slot;
}

#endif
