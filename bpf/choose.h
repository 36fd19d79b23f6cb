/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
/*
 * The worker under every transmit entry point, TC and XDP alike. From the bond's mode, the settings
 * and a packet in memory it finds the slot. The entry point makes the headers accessible and sends
 * the packet.
 */
#ifndef XBOND_BPF_CHOOSE_H
#define XBOND_BPF_CHOOSE_H

#include <linux/if_ether.h>

#include "bpf/flow.h"
#include "bpf/maps.h"
#include "bpf/neighbour.h"
#include "bpf/select.h"

/*
 * flowlet_gap: a flow keeps its slot while it sends, and after a gap it may go to the slot that has
 * sent least of late. A gap longer than the difference between the links' delays lets everything
 * arrive before what follows, so nothing is overtaken. Needs no bondd.
 */

/* A flow stays where it is if the idlest slot has not sent so many bytes less. */
#define FLOWLET_WORTH_IT (16 * 1024 * XBOND_BYTE_COST_ONE)
#define FLOWLET_FORGOTTEN_NS 1000000000ULL /* then the flow begins at its bucket's owner */

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
	if (slots_have(mask, slot) && of_cpu->sent[slot] <= of_cpu->sent[idlest] + FLOWLET_WORTH_IT)
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

	if (silent_ns > (__s64)(gap_ns + gap_ns / 4) || !slots_have(mask, slot)) {
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

/*
 * From a hash to a slot where more decides than the bucket's owner: load, and gaps in flows. For
 * choose.h, which asks only if one of these is on.
 */

/* The coarse clock costs nearly nothing, and is exact enough for ticks. */
static __always_inline void steer_count(__u32 bucket, __u32 length)
{
	struct xbond_load *load = bpf_map_lookup_elem(&loads, &bucket);

	if (!load)
		return;
	load->bytes += length;
	load->packets++;
	load->last = (__u32)(bpf_ktime_get_coarse_ns() >> XBOND_LOAD_TICK_SHIFT);
}

/*
 * A bucket that moves: its owner until the first gap, then the new one. CPUs that send at the same
 * time may see each other's time as later than their own; that is no gap.
 */
__noinline __u32 steer_moving(__u32 bucket, __u32 to, __u32 owner)
{
	__u64 now_ns = bpf_ktime_get_ns(), seen_ns;

	bucket %= XBOND_BUCKETS;
	seen_ns = READ_ONCE(moves.seen_ns[bucket]);
	if (READ_ONCE(moves.moved[bucket]))
		return to;
	if ((__s64)(now_ns - seen_ns) > (__s64)READ_ONCE(moves.gap_ns)) {
		WRITE_ONCE(moves.moved[bucket], 1);
		return to;
	}
	WRITE_ONCE(moves.seen_ns[bucket], now_ns);
	return owner;
}

/*
 * Returns the owner of the hash's bucket, which may be none that may transmit. Reads it after `to`:
 * bondd writes the new owner, then ends the move.
 */
static __always_inline __u32 steer_counted(__u64 hash, __u32 length)
{
	__u32 bucket = FLOW_BUCKET(hash) % XBOND_BUCKETS, to = READ_ONCE(moves.to[bucket]), owner;

	steer_count(bucket, length);
	owner = select_bucket(bucket);
	return to ? steer_moving(bucket, to - 1, owner) : owner;
}

/* Returns a slot, which may be none that may transmit. */
__noinline __u32 steer_slot(__u64 hash, __u64 mask, __u32 length, __u32 flags)
{
	return flags & XBOND_F_FLOWLETS ? flowlet_slot(hash, mask, length)
					: steer_counted(hash, length);
}

/*
 * balance-tlb and balance-alb: which slave has the bond's address, and what source address a packet
 * gets on another slave. Knows packet memory and maps; the entry points rewrite and send.
 *
 * The switches know one port for each address. So only the active slave sends with the bond's, and
 * each other slave with its own. Received frames come to the active slave, and in balance-alb
 * also to the slave whose address they are for.
 */

/* The slave that the user has asked for, or that bondd has chosen. May be no slot at all. */
static __always_inline __u32 tlb_chosen(void)
{
	if (READ_ONCE(settings.active_request) != READ_ONCE(table.active_request))
		return READ_ONCE(settings.active_slot);
	return READ_ONCE(alb.order[0]);
}

/* The slot of mask, which must not be empty, that has the bond's address now. */
__noinline __u32 tlb_active(__u64 mask)
{
	__u32 slot = tlb_chosen();

	if (slots_have(mask, slot) && !netdev_is_lost(slot))
		return slot;
	return select_first(alb.order, select_live(mask));
}

/*
 * The address that a packet has to have as its source on this slot; 0: it may not leave there. The
 * slave may still have the bond's address when another one has taken over.
 */
static __always_inline __u64 tlb_source(__u32 slot)
{
	__u64 mac = READ_ONCE(alb.mac[slot % XBOND_MAX_SLAVES]);

	return mac == READ_ONCE(alb.bond_mac) ? 0 : mac;
}

/* The switches are told of the slaves in this VLAN, too (learning packets). */
static __always_inline void tlb_note_vlan(__u32 vid)
{
	__u64 *word = &vlans.vlan[vid / 64 % XBOND_VLAN_WORDS], bit = 1ULL << vid % 64;

	if (vid && !(READ_ONCE(*word) & bit))
		__sync_fetch_and_or(word, bit);
}

static __always_inline enum tlb_kind tlb_kind_of(const struct packet *packet)
{
	__u16 vid;
	enum tlb_kind kind = tlb_kind_in(packet, &vid);

	tlb_note_vlan(vid);
	return kind;
}

/* The worker. */

#define CHOOSE_ALL 0xfe
/* Added to the slot in active-backup while bondd is away: the network may have to be told. */
#define CHOOSE_TELL 0x100

/* For flow_hash_plain(), which looks at no flow label. */
static __always_inline struct flow_rule choose_rule_plain(void)
{
	return (struct flow_rule){
		.policy = READ_ONCE(settings.xmit_hash_policy),
		.seed = table.hash_seed,
		.symmetric = READ_ONCE(settings.symmetric),
	};
}

/* For flow_hash(). */
static __always_inline struct flow_rule choose_rule(void)
{
	struct flow_rule rule = choose_rule_plain();

	rule.flow_label = READ_ONCE(settings.ip6_flow_label);
	return rule;
}

/* The slot for a hash, which may be none that may transmit. */
static __always_inline __u32 choose_owner(__u64 hash, __u64 mask, __u32 length, __u32 flags)
{
	return flags & XBOND_F_STEERED ? steer_slot(hash, mask, length, flags)
				       : select_bucket(FLOW_BUCKET(hash));
}

/*
 * Returns a slot of mask, which must not be empty, perhaps with CHOOSE_TELL, or CHOOSE_ALL for
 * broadcast. hash_of is called in modes that hash. It belongs to the entry point, which has the
 * context, and must be inline.
 */
static __always_inline __u32 choose_slot(void *context, __u64 (*hash_of)(void *context), __u64 mask,
					 __u32 length, __u32 flags)
{
	__u32 selection = table.selection, slot;
	__u64 hash;

	if (selection == XBOND_SELECT_HASH) {
		hash = hash_of(context);
		slot = choose_owner(hash, mask, length, flags);
	} else if (selection == XBOND_SELECT_TURNS) {
		slot = select_round_robin(mask, length);
		hash = slot;
	} else if (selection == XBOND_SELECT_ACTIVE) {
		slot = select_usable(select_active_backup(), 0, mask, length);
		return READ_ONCE(table.watched) ? slot : slot | CHOOSE_TELL;
	} else {
		return CHOOSE_ALL;
	}
	return select_usable(slot, hash, mask, length);
}

/* The active slave that bondd has chosen; another one may be asked for. May be no slot at all. */
static __always_inline __u32 choose_active(void)
{
	return READ_ONCE(table.flags) & XBOND_F_TLB ? READ_ONCE(alb.order[0]) : select_owner(0);
}

/*
 * The slave that transmission has moved to as the active one (by the settings or the detour) also
 * receives, before bondd has noticed: answers arrive where the questions left.
 */
static __always_inline int choose_collects_by_now(__u32 slot)
{
	__u32 flags = READ_ONCE(table.flags);
	__u64 mask = select_mask(flags);

	if (flags & XBOND_F_TLB)
		return mask && tlb_active(mask) == slot;
	return table.selection == XBOND_SELECT_ACTIVE && mask &&
	       select_usable(select_active_backup(), 0, mask, 0) == slot;
}

static __always_inline void choose_count(__u32 slot, __u32 length)
{
	struct xbond_counters *counter = bpf_map_lookup_elem(&counters, &slot);

	if (counter) {
		counter->tx_packets++;
		counter->tx_bytes += length;
	}
}

#endif
