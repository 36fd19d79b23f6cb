/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bonds whose bond0 is a team of the kernel: slaves are its ports. Behind xbond_rx the team's
 * receive handler makes a slave's frame one of bond0, without the CPU's backlog. The team sends
 * nothing: xbond_egress redirects every packet.
 */
#ifndef XBOND_BPF_TEAM_PATH_H
#define XBOND_BPF_TEAM_PATH_H

#include <linux/if_packet.h>
#include <linux/pkt_cls.h>

#include "bpf/maps.h"

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
