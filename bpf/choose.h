/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The worker under every transmit entry point, TC and XDP alike. From the bond's mode, the settings
 * and a packet in memory it finds the slot. The entry point makes the headers accessible and sends
 * the packet.
 */
#ifndef XBOND_BPF_CHOOSE_H
#define XBOND_BPF_CHOOSE_H

#include "bpf/flow.h"
#include "bpf/maps.h"
#include "bpf/select.h"
#include "bpf/steered.h"
#include "bpf/tlb.h"

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
 * receives, before bondd has followed: answers arrive where the questions left.
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
