/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * IPv4 and IPv6: addresses into the hash, and the way to what they carry. Knows packet
 * memory only.
 */
#ifndef XBOND_BPF_FLOW_IP_H
#define XBOND_BPF_FLOW_IP_H

#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>

#include "bpf/flow_words.h"

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
