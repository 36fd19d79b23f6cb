/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the programs on bond0 and on the pair's port side do with a packet that the bond sends: by
 * which slave it leaves, and how. For xbond.bpf.c, which has the map `bond`.
 */
#ifndef XBOND_BPF_TX_H
#define XBOND_BPF_TX_H

#include "bpf/drops_count.h"
#include "bpf/queue_id.h"
#include "bpf/rarp.h"
#include "bpf/send_tlb.h"
#include "bpf/team_path.h"

/* The packet first, by a clone; the packet itself becomes the broadcast of the active slave. */
__noinline int tx_tell(struct __sk_buff *skb, __u32 slot, __u32 active)
{
	const struct xbond_bond *pinned;
	__u32 key = 0, length = skb->len, inside = rarp_tag_inside(skb);

	if (slot >= XBOND_MAX_SLAVES)
		return TC_ACT_SHOT;
	pinned = bpf_map_lookup_elem(&bond, &key);
	if (!pinned || bpf_clone_redirect(skb, table.ifindex[slot], 0))
		return tx_send(slot, length);
	choose_count(slot, length);
	return rarp_make(skb, pinned->mac, inside) ? TC_ACT_SHOT : tx_send(active, RARP_SIZE);
}

typedef int (*tx_sender)(struct __sk_buff *skb, __u32 slot, __u32 length);

static __always_inline int tx_redirect(struct __sk_buff *skb, __u32 slot, __u32 length)
{
	(void)skb;
	return tx_send(slot, length);
}

/* Sends a packet while bondd is away. */
static __always_inline int tx_send_away(struct __sk_buff *skb, __u32 slot, __u32 active,
					__u32 length, tx_sender send)
{
	return rarp_is_due(rarp_vlan(skb), active) ? tx_tell(skb, slot, active)
						   : send(skb, slot, length);
}

/* While bondd is away, the network is told where the active slave is. */
static __always_inline int tx_transmit_tlb(struct __sk_buff *skb, __u64 mask, __u32 asked)
{
	__u32 slot = tlb_prepare(skb, mask, asked), length = skb->len;

	if (READ_ONCE(table.watched))
		return tx_send(slot, length);
	return tx_send_away(skb, slot, tlb_active(mask), length, tx_redirect);
}

__noinline int tx_drop(void)
{
	drops_count(XBOND_DROPS_OF_BOND, XBOND_DROP_NO_SLAVE);
	return TC_ACT_SHOT;
}

typedef __u32 (*tx_chooser)(struct __sk_buff *skb, __u64 mask, __u32 length, __u32 flags);

static __always_inline __u32 tx_choose(struct __sk_buff *skb, __u64 mask, __u32 length, __u32 flags)
{
	return choose_slot(skb, hash_of, mask, length, flags);
}

/*
 * Sends to the chosen slave, or drops the packet if no slave may transmit. asked: the slot that the
 * packet's queue_mapping asks for, or SELECT_NONE. choose: choose_slot() or its like.
 */
static __always_inline int tx_transmit_by(struct __sk_buff *skb, __u32 asked, tx_chooser choose,
					  tx_sender send)
{
	__u32 flags = READ_ONCE(table.flags), length = skb->len, slot;
	__u64 mask = select_mask(flags);

	if (!mask)
		return tx_drop();
	if (asked < XBOND_MAX_SLAVES && !(flags & XBOND_F_TLB) && mask >> asked & 1 &&
	    select_is_up(asked, NETDEV_SENDS))
		return send(skb, asked, length);
	if (flags & (XBOND_F_BROADCAST_NEIGHBOR | XBOND_F_TLB)) {
		if (flags & XBOND_F_TLB)
			return tx_transmit_tlb(skb, mask, asked);
		if (tx_is_neighbour_message(skb))
			return send(skb, tx_copy_to_others(skb, mask), length);
	}
	slot = choose(skb, mask, length, flags);
	if (slot < XBOND_MAX_SLAVES)
		return send(skb, slot, length);
	if (slot & CHOOSE_TELL)
		return tx_send_away(skb, slot & ~CHOOSE_TELL, slot & ~CHOOSE_TELL, length, send);
	return slot == CHOOSE_ALL ? send(skb, tx_copy_to_others(skb, mask), length) : TC_ACT_SHOT;
}

static __always_inline int tx_transmit(struct __sk_buff *skb, __u32 asked, tx_chooser choose)
{
	return tx_transmit_by(skb, asked, choose, tx_redirect);
}

/*
 * While XDP chooses, packets of the stack must not take that path, because they may lack their
 * checksum. Only while bondd watches where bond0 is: in another namespace an ifindex means another
 * device. (A namespace cookie does not help: for a packet without a socket the helper returns that
 * of the first namespace.)
 */
static __always_inline int path_is_direct(void)
{
	__u32 flags = READ_ONCE(table.flags);

	return (READ_ONCE(settings.path) == XBOND_PATH_DIRECT || flags & XBOND_F_STACK_DIRECT) &&
	       (flags & (XBOND_F_CARRIER | XBOND_F_FORCE_COUNTED)) == XBOND_F_CARRIER &&
	       READ_ONCE(table.watched);
}

static __always_inline __u32 tx_asked(const struct __sk_buff *skb)
{
	return queue_ids_used() ? queue_slot(skb->queue_mapping) : SELECT_NONE;
}

/* A team stays where it was made, so an ifindex is good there, whether bondd watches or not. */
__noinline int tx_for_team(struct __sk_buff *skb)
{
	return tx_transmit_by(skb, tx_asked(skb), tx_choose, team_send);
}

static __always_inline int tx_egress(struct __sk_buff *skb, tx_chooser choose)
{
	__u32 flags = READ_ONCE(table.flags);

	if (path_is_direct())
		return tx_transmit(skb, tx_asked(skb), choose);
	if (flags & (XBOND_F_TEAM | XBOND_F_QUEUE_IDS)) {
		if (flags & XBOND_F_TEAM)
			return choose == tx_choose
				       ? tx_for_team(skb)
				       : tx_transmit_by(skb, tx_asked(skb), choose, team_send);
		skb->tc_index = queue_before_crossing(skb->queue_mapping, skb->priority);
	} else if (skb->priority && skb->priority <= 0xffff && !(flags & XBOND_F_NETKIT)) {
		/* A veth clears skb->priority; xbond_port restores as much as fits. */
		skb->tc_index = skb->priority;
	}
	return TC_ACT_UNSPEC;
}

/* A netkit keeps skb->priority, so only queue_ids need to cross. */
static __always_inline int tx_crossing_is_ours(void)
{
	return (READ_ONCE(table.flags) & (XBOND_F_NETKIT | XBOND_F_QUEUE_IDS)) != XBOND_F_NETKIT;
}

static __always_inline int tx_port(struct __sk_buff *skb, tx_chooser choose)
{
	__u32 crossed = skb->tc_index, asked = SELECT_NONE;

	if (crossed && tx_crossing_is_ours()) {
		if (crossed & QUEUE_CROSSING && queue_ids_used()) {
			asked = QUEUE_SLOT(crossed);
			crossed &= 0xff;
		}
		skb->priority = crossed;
		skb->tc_index = 0;
	}
	return tx_transmit(skb, asked, choose);
}

#endif
