/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the header fields that the transmit policies of the bonding manual name, and
 * hashes them. Knows packet memory only: no skb, no map, so that every hook can use it.
 */
#ifndef XBOND_BPF_FLOW_H
#define XBOND_BPF_FLOW_H

#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "bpf/abi.h"

#define FLOW_MAX_VLANS 2
#define FLOW_MAX_EXTENSIONS 6
#define FLOW_HEADERS 192 /* what the longest walk may need to see */

#define VLAN_VID_MASK 0x0fff
#define IP_MF_OR_OFFSET 0x3fff
#define IP6_OFFSET_OR_MF 0xfff9

struct vlan_header {
	__be16 tci;
	__be16 type;
};

struct extension_header {
	__u8 next;
	__u8 length;	 /* in 8 bytes, without the first 8; AH: in 4 bytes, minus 2 */
	__be16 fragment; /* fragment header: offset, reserved, MF */
};

/* Where a packet lies. vlan_tci is the tag that the kernel keeps beside the packet, or -1. */
struct packet {
	void *data;
	void *end;
	__s32 vlan_tci;
};

/* Packet memory ended inside the headers: there may be more outside the linear part. */
#define FLOW_SHORT (-1)

static __always_inline __u64 flow_mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 32;
}

static __always_inline __u64 flow_finish(__u64 hash)
{
	return hash * 0xd6e8feb86659fd93ULL;
}

static __always_inline __u64 flow_mac(const __u8 *mac)
{
	return (__u64) * (__be16 *)mac << 32 | *(__be32 *)(mac + 2);
}

/* Source MAC, destination MAC, packet type ID. */
static __always_inline __u64 flow_layer2(__u64 hash, const struct ethhdr *eth, __be16 type)
{
	hash = flow_mix(hash, flow_mac(eth->h_source) | (__u64)type << 48);
	return flow_mix(hash, flow_mac(eth->h_dest));
}

static __always_inline __u64 flow_address6(__u64 hash, const struct in6_addr *address)
{
	const __u64 *half = (const __u64 *)address;

	return flow_mix(flow_mix(hash, half[0]), half[1]);
}

static __always_inline int flow_has_ports(__u8 protocol)
{
	return protocol == IPPROTO_UDP || protocol == IPPROTO_TCP || protocol == IPPROTO_SCTP ||
	       protocol == IPPROTO_DCCP || protocol == IPPROTO_UDPLITE;
}

/* Both ports in one word; packets without ports, or too short for them, hash without. */
static __always_inline int flow_ports(__u64 *hash, const struct packet *packet, void *layer4)
{
	if (layer4 + 4 > packet->end)
		return FLOW_SHORT;
	*hash = flow_mix(*hash, *(__be32 *)layer4);
	return 0;
}

static __always_inline int flow_ip4(__u64 *hash, const struct packet *packet, void *layer3, int with_ports)
{
	const struct iphdr *ip = layer3;

	if (layer3 + sizeof(*ip) > packet->end)
		return FLOW_SHORT;
	*hash = flow_mix(*hash, (__u64)ip->saddr << 32 | ip->daddr);
	if (!with_ports || !flow_has_ports(ip->protocol) || ip->frag_off & bpf_htons(IP_MF_OR_OFFSET))
		return 0;
	return flow_ports(hash, packet, layer3 + ip->ihl * 4);
}

static __always_inline int flow_is_extension(__u8 next)
{
	return next == IPPROTO_HOPOPTS || next == IPPROTO_ROUTING || next == IPPROTO_DSTOPTS ||
	       next == IPPROTO_FRAGMENT || next == IPPROTO_AH;
}

/* Walks the extension headers from layer4 on. The ports of a fragment count for none of its datagram's. */
static __always_inline int flow_ip6_ports(__u64 *hash, const struct packet *packet, void *layer4, __u8 next)
{
	for (int i = 0; i < FLOW_MAX_EXTENSIONS && flow_is_extension(next); i++) {
		const struct extension_header *extension = layer4;

		if (layer4 + 8 > packet->end)
			return FLOW_SHORT;
		if (next == IPPROTO_FRAGMENT) {
			if (extension->fragment & bpf_htons(IP6_OFFSET_OR_MF))
				return 0;
			layer4 += 8;
		} else if (next == IPPROTO_AH) {
			layer4 += (extension->length + 2) * 4;
		} else {
			layer4 += (extension->length + 1) * 8;
		}
		next = extension->next;
	}
	if (!flow_has_ports(next))
		return 0;
	return flow_ports(hash, packet, layer4);
}

static __always_inline int flow_ip6(__u64 *hash, const struct packet *packet, void *layer3, int with_ports)
{
	const struct ipv6hdr *ip = layer3;

	if (layer3 + sizeof(*ip) > packet->end)
		return FLOW_SHORT;
	*hash = flow_address6(*hash, &ip->saddr);
	*hash = flow_address6(*hash, &ip->daddr);
	if (!with_ports)
		return 0;
	return flow_ip6_ports(hash, packet, layer3 + sizeof(*ip), ip->nexthdr);
}

static __always_inline int flow_is_vlan(__be16 type)
{
	return type == bpf_htons(ETH_P_8021Q) || type == bpf_htons(ETH_P_8021AD);
}

/* Skips in-band tags. ret_vid: the outermost VLAN id, 0 for none. */
static __always_inline int flow_untag(const struct packet *packet, void **layer3, __be16 *type,
				      __u16 *ret_vid)
{
	*ret_vid = packet->vlan_tci >= 0 ? packet->vlan_tci & VLAN_VID_MASK : 0;
	for (int i = 0; i < FLOW_MAX_VLANS && flow_is_vlan(*type); i++) {
		const struct vlan_header *tag = *layer3;

		if (*layer3 + sizeof(*tag) > packet->end)
			return FLOW_SHORT;
		if (i == 0 && packet->vlan_tci < 0)
			*ret_vid = bpf_ntohs(tag->tci) & VLAN_VID_MASK;
		*type = tag->type;
		*layer3 += sizeof(*tag);
	}
	return 0;
}

static __always_inline __u64 flow_seed(__u32 seed)
{
	return (__u64)seed << 32 | seed;
}

/*
 * flow_hash() for what most packets are: untagged IPv4 with all headers at hand, by IP
 * addresses. -1: something else.
 */
static __always_inline int flow_hash_plain(const struct packet *packet, __u32 policy, __u32 seed,
					   __u64 *ret_hash)
{
	const struct ethhdr *eth = packet->data;
	__u64 hash = flow_seed(seed);

	if (packet->data + sizeof(*eth) > packet->end || packet->vlan_tci >= 0 ||
	    eth->h_proto != bpf_htons(ETH_P_IP))
		return -1;
	if (policy != XBOND_POLICY_LAYER34 && policy != XBOND_POLICY_LAYER23)
		return -1;
	if (policy == XBOND_POLICY_LAYER23)
		hash = flow_layer2(hash, eth, eth->h_proto);
	if (flow_ip4(&hash, packet, packet->data + sizeof(*eth), policy == XBOND_POLICY_LAYER34))
		return -1;
	*ret_hash = flow_finish(hash);
	return 0;
}

/*
 * Hash of the packet under a policy (kernel Documentation/networking/bonding.rst,
 * xmit_hash_policy), seeded. FLOW_SHORT when headers that count lie beyond packet->end;
 * the hash is then that of what could be read.
 */
static __always_inline int flow_hash(const struct packet *packet, __u32 policy, __u32 seed, __u64 *ret_hash)
{
	const struct ethhdr *eth = packet->data;
	void *layer3 = packet->data + sizeof(*eth);
	__u64 hash = flow_seed(seed);
	__be16 type;
	__u16 vid;
	int short_of = 0;

	*ret_hash = hash;
	if (layer3 > packet->end)
		return FLOW_SHORT;
	type = eth->h_proto;
	short_of = flow_untag(packet, &layer3, &type, &vid);
	if (policy == XBOND_POLICY_VLAN_SRCMAC) {
		hash = flow_mix(hash, flow_mac(eth->h_source) | (__u64)vid << 48);
	} else {
		int with_ip = policy != XBOND_POLICY_LAYER2, with_ports = policy == XBOND_POLICY_LAYER34;
		int ip4 = type == bpf_htons(ETH_P_IP), ip6 = type == bpf_htons(ETH_P_IPV6);

		if (!with_ports || !(ip4 || ip6))
			hash = flow_layer2(hash, eth, type);
		if (with_ip && ip4)
			short_of = flow_ip4(&hash, packet, layer3, with_ports);
		else if (with_ip && ip6)
			short_of = flow_ip6(&hash, packet, layer3, with_ports);
	}
	*ret_hash = flow_finish(hash);
	return short_of;
}

#endif
