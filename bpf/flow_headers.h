/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
/*
 * The headers of a packet into the hash: Ethernet and VLAN tags, IPv4 and IPv6. Knows packet memory
 * only.
 */
#ifndef XBOND_BPF_FLOW_HEADERS_H
#define XBOND_BPF_FLOW_HEADERS_H

#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>

#include "bpf/flow_words.h"

/* Ethernet: MACs and packet type into the hash, VLAN tags. */

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

/* 01:80:c2:00:00:00 to :0f, which bridges do not forward (802.1Q table 8-1). */
static __always_inline int flow_is_link_local(const struct ethhdr *eth)
{
	const __be16 *dest = (const __be16 *)eth->h_dest;

	return dest[0] == bpf_htons(0x0180) && dest[1] == bpf_htons(0xc200) &&
	       !(dest[2] & bpf_htons(0xfff0));
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

/* IPv4 and IPv6: addresses into the hash, and the way to what they carry. */

#define FLOW_MAX_EXTENSIONS 6
#define FLOW_MAX_EXTENDED 128 /* bytes of extension headers that are walked */

#define IP_MF_OR_OFFSET 0x3fff
#define IP6_OFFSET_OR_MF 0xfff9
#define IP6_FLOW_LABEL 0x000fffff

struct extension_header {
	__u8 next;
	__u8 length;	 /* in 8 bytes, without the first 8; AH: in 4 bytes, minus 2 */
	__be16 fragment; /* fragment header: offset, reserved, MF */
};

/* Where an IP header is: its offset in the packet, and its version. */
#define FLOW_AT_OFFSET 0x1ff
#define FLOW_AT_IP4 0x10000
#define FLOW_AT_IP6 0x20000
#define FLOW_AT_SHORT 0x80000000 /* packet memory ended first */

/* What the packet carries: protocol << 16 | offset; 0 if it does not count. */
#define FLOW_PAYLOAD(protocol, offset) ((__u32)(protocol) << 16 | (offset))
#define FLOW_PAYLOAD_PROTOCOL(payload) ((payload) >> 16 & 0xff)

static __always_inline int flow_has_ports(__u8 protocol)
{
	return protocol == IPPROTO_UDP || protocol == IPPROTO_TCP || protocol == IPPROTO_SCTP ||
	       protocol == IPPROTO_DCCP || protocol == IPPROTO_UDPLITE;
}

/* Bits instead of comparisons, so that the verifier does not follow each kind by itself. */
static __always_inline int flow_is_extension(__u8 next)
{
	const __u64 kinds = 1ULL << IPPROTO_HOPOPTS | 1ULL << IPPROTO_ROUTING |
			    1ULL << IPPROTO_DSTOPTS | 1ULL << IPPROTO_FRAGMENT | 1ULL << IPPROTO_AH;

	return next < 64 && kinds >> next & 1;
}

/*
 * Bytes of an extension header that lies within reach. 0 if this is a fragment and not the whole.
 */
static __always_inline __u32 flow_extension_length(const struct extension_header *extension,
						   __u8 kind)
{
	if (kind == IPPROTO_FRAGMENT)
		return extension->fragment & bpf_htons(IP6_OFFSET_OR_MF) ? 0 : 8;
	if (kind == IPPROTO_AH)
		return (extension->length + 2) * 4;
	return (extension->length + 1) * 8;
}

/*
 * Skips the extension headers. Fragments, and packets with too many headers, have no payload that
 * counts.
 */
static __always_inline __u32 flow_payload6(const struct packet *packet, __u32 offset)
{
	const struct ipv6hdr *ip = packet->data + offset;
	__u32 walked = 0;
	__u8 next;

	if ((void *)(ip + 1) > packet->end)
		return FLOW_AT_SHORT;
	next = ip->nexthdr;
	offset += sizeof(*ip);
	for (int i = 0; i < FLOW_MAX_EXTENSIONS && flow_is_extension(next); i++) {
		const struct extension_header *extension = packet->data + offset + walked;
		__u32 length;

		if ((void *)extension + 8 > packet->end)
			return FLOW_AT_SHORT;
		length = flow_extension_length(extension, next);
		walked += length;
		if (!length || walked > FLOW_MAX_EXTENDED)
			return 0;
		next = extension->next;
	}
	return FLOW_PAYLOAD(next, offset + walked);
}

static __always_inline __u32 flow_payload4(const struct packet *packet, __u32 offset)
{
	const struct iphdr *ip = packet->data + offset;

	if ((void *)(ip + 1) > packet->end)
		return FLOW_AT_SHORT;
	return ip->frag_off & bpf_htons(IP_MF_OR_OFFSET)
		       ? 0
		       : FLOW_PAYLOAD(ip->protocol, offset + ip->ihl * 4);
}

/* For the IP header at `at`: FLOW_PAYLOAD(), 0 or FLOW_AT_SHORT. */
static __always_inline __u32 flow_payload(const struct packet *packet, __u32 at)
{
	__u32 offset = at & FLOW_AT_OFFSET;

	return at & FLOW_AT_IP6 ? flow_payload6(packet, offset) : flow_payload4(packet, offset);
}

/* A packet that is too short for its ports is hashed without them. */
static __always_inline int flow_ports(__u64 *hash, const struct packet *packet, void *layer4,
				      const struct flow_rule *rule)
{
	if (layer4 + 4 > packet->end)
		return FLOW_SHORT;
	*hash = flow_port_pair(*hash, *(__u32 *)layer4, rule);
	return 0;
}

static __always_inline int flow_ip4(__u64 *hash, const struct packet *packet, __u32 at,
				    int with_ports, const struct flow_rule *rule)
{
	const struct iphdr *ip = packet->data + (at & FLOW_AT_OFFSET);

	if ((void *)(ip + 1) > packet->end)
		return FLOW_SHORT;
	*hash = flow_addresses4(*hash, ip->saddr, ip->daddr, rule);
	if (!with_ports || !flow_has_ports(ip->protocol) ||
	    ip->frag_off & bpf_htons(IP_MF_OR_OFFSET))
		return 0;
	return flow_ports(hash, packet, (void *)ip + ip->ihl * 4, rule);
}

/* Not with symmetric: the two directions have different labels. */
static __always_inline int flow_label_counts(const struct flow_rule *rule)
{
	return rule->flow_label && !rule->symmetric;
}

static __always_inline int flow_ip6(__u64 *hash, const struct packet *packet, __u32 at,
				    int with_ports, const struct flow_rule *rule,
				    const struct flow_hook *hook)
{
	const struct ipv6hdr *ip = packet->data + (at & FLOW_AT_OFFSET);
	__u32 payload;

	if ((void *)(ip + 1) > packet->end)
		return FLOW_SHORT;
	*hash = flow_addresses6(*hash, &ip->saddr, &ip->daddr, rule);
	if (!with_ports)
		return 0;
	if (flow_label_counts(rule))
		*hash = flow_mix(*hash, bpf_ntohl(*(__be32 *)ip) & IP6_FLOW_LABEL);
	if (flow_has_ports(ip->nexthdr))
		return flow_ports(hash, packet, (void *)(ip + 1), rule);
	if (!flow_is_extension(ip->nexthdr))
		return 0;
	payload = hook->payload_of(hook->context, at);
	if (payload & FLOW_AT_SHORT)
		return FLOW_SHORT;
	if (!flow_has_ports(FLOW_PAYLOAD_PROTOCOL(payload)))
		return 0;
	return flow_ports(hash, packet, packet->data + (payload & FLOW_AT_OFFSET), rule);
}

#endif
