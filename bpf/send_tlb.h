/* SPDX-License-Identifier: GPL-2.0-or-later */
/* balance-tlb and balance-alb at the TC programs: what is sent, and what is received. */
#ifndef XBOND_BPF_SEND_TLB_H
#define XBOND_BPF_SEND_TLB_H

#include "bpf/clients.h"
#include "bpf/tlb_tc.h"

/* By the hash, unless the packet's queue_mapping asks for a slot that may transmit. */
static __always_inline __u32 tlb_choose(struct __sk_buff *skb, __u64 mask, __u32 asked)
{
	if (asked < XBOND_MAX_SLAVES && mask >> asked & 1 && select_is_up(asked, NETDEV_SENDS))
		return asked;
	return choose_slot(skb, hash_of, mask, skb->len, READ_ONCE(table.flags));
}

/*
 * The slot of mask by which a packet leaves, with the source address that it has to have there. The
 * caller sends it. asked: as in tx_transmit().
 */
__noinline __u32 tlb_prepare(struct __sk_buff *skb, __u64 mask, __u32 asked)
{
	enum tlb_kind kind = tlb_kind_of_skb(skb);
	__u32 active = tlb_active(mask);

	if (kind == TLB_BALANCED)
		return tlb_give_source(skb, tlb_choose(skb, mask, asked), active);
	if (READ_ONCE(table.flags) & XBOND_F_ALB && (kind == TLB_ARP || kind == TLB_NEIGHBOUR))
		return clients_prepare(skb, select_live(mask), active);
	return active;
}

/* Is it the address of a slave that cannot send now? That of a slot without a slave is zero. */
static __always_inline int tlb_is_orphaned(__u64 mac)
{
	__u64 mask = READ_ONCE(table.tx_mask);

	for (__u32 slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (READ_ONCE(alb.mac[slot]) == mac)
			return mac && (!(mask >> slot & 1) || !select_is_up(slot, NETDEV_MAY_SEND));
	return 0;
}

/*
 * balance-alb: makes a frame for a slave's address one for bond0's. Returns whether the slave
 * receives it, active or not. The active slave also takes frames for slaves that are down, which
 * switches send everywhere.
 */
__noinline int tlb_take(struct __sk_buff *skb, __u32 slot)
{
	const struct ethhdr *eth = (void *)(long)skb->data;
	__u64 dest, mine = READ_ONCE(alb.bond_mac);

	if ((void *)(eth + 1) > (void *)(long)skb->data_end || slot >= XBOND_MAX_SLAVES)
		return 0;
	dest = tlb_mac_of(eth->h_dest);
	if (dest == mine || eth->h_dest[0] & 1)
		return 0;
	if (dest != READ_ONCE(alb.mac[slot]) &&
	    !(tlb_is_orphaned(dest) && choose_collects_by_now(slot)))
		return 0;
	return !bpf_skb_store_bytes(skb, 0, &mine, ETH_ALEN, 0);
}

#endif
