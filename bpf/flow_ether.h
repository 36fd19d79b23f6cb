/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ethernet: MACs and packet type into the hash, VLAN tags. Knows packet memory only. */
#ifndef XBOND_BPF_FLOW_ETHER_H
#define XBOND_BPF_FLOW_ETHER_H

#include <linux/if_ether.h>

#include "bpf/flow_words.h"

#define FLOW_MAX_VLANS 3 /* with the one that is beside the packet */
#define VLAN_VID_MASK 0x0fff

struct vlan_header {
	__be16 tci;
	__be16 type;
};

static __always_inline __u64 flow_mac(const __u8 *mac)
{
	return (__u64) * (__be16 *)mac << 32 | *(__be32 *)(mac + 2);
}

/* In one load: struct ethhdr is packed, so its fields are read byte by byte. */
static __always_inline __be16 flow_ether_type(const struct ethhdr *eth)
{
	return *(const __be16 *)((const __u8 *)eth + __builtin_offsetof(struct ethhdr, h_proto));
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

/* Skips the tags inside the packet. ret_vid: the outermost VLAN id, 0 for none. */
static __always_inline int flow_untag(const struct packet *packet, __u32 *offset, __be16 *type,
				      __u16 *ret_vid)
{
	int beside = packet->vlan_tci >= 0;

	*ret_vid = beside ? packet->vlan_tci & VLAN_VID_MASK : 0;
	for (int i = 0; i < FLOW_MAX_VLANS && flow_is_vlan(*type); i++) {
		const struct vlan_header *tag = packet->data + *offset;

		if (i == FLOW_MAX_VLANS - 1 && beside)
			break;
		if ((void *)(tag + 1) > packet->end)
			return FLOW_SHORT;
		if (i == 0 && !beside)
			*ret_vid = bpf_ntohs(tag->tci) & VLAN_VID_MASK;
		*type = tag->type;
		*offset += sizeof(*tag);
	}
	return 0;
}

/* What lies behind the tags: its type << 32 | the outermost VLAN id << 16 | its offset. */
#define FLOW_UNTAGGED_TYPE(untagged) ((__be16)((untagged) >> 32))
#define FLOW_UNTAGGED_VID(untagged) ((__u16)((untagged) >> 16 & VLAN_VID_MASK))
#define FLOW_UNTAGGED_OFFSET(untagged) ((__u32)((untagged)&0x1f))
#define FLOW_UNTAGGED_SHORT 0x80000000 /* packet memory ended in a tag, whose type this is */

#define FLOW_UNTAGGED(type, vid, offset) ((__u64)(type) << 32 | (__u32)(vid) << 16 | (offset))

/* The same for a packet with an Ethernet header, and without tags inside. */
static __always_inline __u64 flow_untagged_at_once(const struct packet *packet)
{
	__u16 vid = packet->vlan_tci >= 0 ? packet->vlan_tci & VLAN_VID_MASK : 0;

	return FLOW_UNTAGGED(flow_ether_type(packet->data), vid, sizeof(struct ethhdr));
}

static __always_inline __u64 flow_untagged(const struct packet *packet)
{
	const struct ethhdr *eth = packet->data;
	__u32 offset = sizeof(*eth), cut;
	__be16 type;
	__u16 vid;

	if ((void *)(eth + 1) > packet->end)
		return FLOW_UNTAGGED_SHORT;
	type = flow_ether_type(eth);
	cut = flow_untag(packet, &offset, &type, &vid) ? FLOW_UNTAGGED_SHORT : 0;
	return FLOW_UNTAGGED(type, vid, offset) | cut;
}

#endif
