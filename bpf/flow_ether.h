/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ethernet: MACs and packet type into the hash, VLAN tags. Knows packet memory only. */
#ifndef XBOND_BPF_FLOW_ETHER_H
#define XBOND_BPF_FLOW_ETHER_H

#include <linux/if_ether.h>

#include "bpf/flow_words.h"

#define FLOW_MAX_VLANS 2
#define VLAN_VID_MASK 0x0fff

struct vlan_header {
	__be16 tci;
	__be16 type;
};

static __always_inline __u64 flow_mac(const __u8 *mac)
{
	return (__u64) * (__be16 *)mac << 32 | *(__be32 *)(mac + 2);
}

/* Source MAC, destination MAC, packet type ID. */
static __always_inline __u64 flow_layer2(__u64 hash, const struct ethhdr *eth, __be16 type,
					 const struct flow_rule *rule)
{
	__u64 source = flow_mac(eth->h_source), dest = flow_mac(eth->h_dest);

	if (rule->symmetric && source > dest)
		flow_swap(&source, &dest);
	return flow_mix(flow_mix(hash, source | (__u64)type << 48), dest);
}

static __always_inline int flow_is_vlan(__be16 type)
{
	return type == bpf_htons(ETH_P_8021Q) || type == bpf_htons(ETH_P_8021AD);
}

/* Skips in-band tags at an offset. ret_vid: the outermost VLAN id, 0 for none. */
static __always_inline int flow_untag(const struct packet *packet, __u32 *offset, __be16 *type,
				      __u16 *ret_vid)
{
	*ret_vid = packet->vlan_tci >= 0 ? packet->vlan_tci & VLAN_VID_MASK : 0;
	for (int i = 0; i < FLOW_MAX_VLANS && flow_is_vlan(*type); i++) {
		const struct vlan_header *tag = packet->data + *offset;

		if ((void *)(tag + 1) > packet->end)
			return FLOW_SHORT;
		if (i == 0 && packet->vlan_tci < 0)
			*ret_vid = bpf_ntohs(tag->tci) & VLAN_VID_MASK;
		*type = tag->type;
		*offset += sizeof(*tag);
	}
	return 0;
}

#endif
