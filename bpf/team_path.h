/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bonds whose bond0 is a team of the kernel: slaves are its ports. Behind xbond_rx the team's
 * receive handler makes a slave's frame one of bond0, without the CPU's backlog. What bond0 sends
 * xbond_egress redirects, or lets the team send (network/bonding.h).
 */
#ifndef XBOND_BPF_TEAM_PATH_H
#define XBOND_BPF_TEAM_PATH_H

#include <linux/if_packet.h>
#include <linux/pkt_cls.h>

#include "bpf/maps.h"
#include "bpf/send_tc.h"

/*
 * The bits of a packet's hash that name the slot. By the others slaves choose queues, and queueing
 * disciplines tell flows apart. So a packet of an unconnected socket, or one that is forwarded,
 * gets a hash of its headers first, if it has none.
 */
#define TEAM_SLOT_BITS (XBOND_MAX_SLAVES - 1)

/* Passes the packet on to the team, with the slot in its hash, if the team can send. */
static __always_inline int team_send(struct __sk_buff *skb, __u32 slot, __u32 length)
{
	__u32 hash = skb->hash;

	if (!(READ_ONCE(table.flags) & XBOND_F_TEAM_SENDS))
		return tx_send(slot, length);
	if (slot >= XBOND_MAX_SLAVES)
		return TC_ACT_SHOT;
	choose_count(slot, length);
	if (!hash)
		hash = bpf_get_hash_recalc(skb);
	bpf_set_hash(skb, (hash & ~TEAM_SLOT_BITS) | slot);
	return TC_ACT_UNSPEC;
}

/* The team does not determine again for whom a frame is: slaves may have other addresses. */
__noinline int team_judge(struct __sk_buff *skb, const struct xbond_bond *pinned)
{
	const struct ethhdr *eth = (void *)(long)skb->data;

	if (!pinned || (void *)(eth + 1) > (void *)(long)skb->data_end)
		return 0;
	for (int i = 0; i < XBOND_MAC_SIZE; i++)
		if (eth->h_dest[i] != pinned->mac[i])
			return 0;
	return bpf_skb_change_type(skb, PACKET_HOST);
}

/*
 * A link-local frame on a slave that does not collect: for sockets on the slave, and the team gets
 * it, too. A bridge above must not hear what other bridges say there.
 */
static __always_inline int team_keep(const struct __sk_buff *skb)
{
	return skb->protocol == bpf_htons(ETH_P_802_2) ? TC_ACT_SHOT : TC_ACT_UNSPEC;
}

#endif
