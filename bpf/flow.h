/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
/*
 * The hash of a packet under a policy (docs/users/hash.md), also of what is encapsulated in it.
 * Knows packet memory only: no skb, no map, so that every hook and user space can use it.
 */
#ifndef XBOND_BPF_FLOW_H
#define XBOND_BPF_FLOW_H

#include "bpf/flow_headers.h"

/*
 * Encapsulated packets: from an IP header to the IP header that its packet carries, down to the
 * innermost. An entry point has the two halves of a step as functions that the verifier checks
 * once; they pass words to each other. Knows packet memory only.
 */

#ifndef NULL
#define NULL ((void *)0)
#endif

#define FLOW_MAX_ENCAPS 3
/* Headers that begin behind so many bytes of the frame are not looked at. */
#define FLOW_ENCAP_REACH 256
#define FLOW_MAX_LABELS 8
#define FLOW_MAX_GTP_EXTENSIONS 4

#define FLOW_OUTER 0 /* where there is no IP header */
#define FLOW_FRAME FLOW_PAYLOAD(IPPROTO_ETHERNET, 0)

#define ENCAP_PORT_VXLAN 4789
#define ENCAP_PORT_VXLAN_OLD 8472 /* Linux, before the number was given */
#define ENCAP_PORT_GENEVE 6081
#define ENCAP_PORT_GTPU 2152
#define ENCAP_LABEL_BOTTOM 0x0100 /* in the second half of a label */
#define ENCAP_GRE_CSUM 0x8000
#define ENCAP_GRE_KEY 0x2000
#define ENCAP_GRE_SEQ 0x1000
#define ENCAP_GRE_REFUSED 0x4007 /* routing; a version other than 0 */
#define ENCAP_VXLAN_VNI 0x08
#define ENCAP_GTPU_KIND 0xf0 /* version and protocol type */
#define ENCAP_GTPU_PLAIN 0x30
#define ENCAP_GTPU_OPTIONAL 0x07
#define ENCAP_GTPU_EXTENDED 0x04
#define ENCAP_GTPU_PACKET 0xff

enum encap_kind { ENCAP_NOTHING, ENCAP_IP, ENCAP_ETHER, ENCAP_MPLS, ENCAP_SHORT };

/* What is carried, and where it begins. */
struct encap {
	enum encap_kind kind;
	__u32 offset;
};

#define ENCAP(its_kind, its_offset) ((struct encap){ .kind = (its_kind), .offset = (its_offset) })

/*
 * Returns size bytes at an offset, or NULL. *ret_why then tells whether they are out of reach or
 * cut off.
 */
static __always_inline void *encap_read(const struct packet *packet, __u32 offset, __u32 size,
					enum encap_kind *ret_why)
{
	__u32 beside = packet->vlan_tci < 0 ? 0 : sizeof(struct vlan_header);
	void *at;

	*ret_why = ENCAP_NOTHING;
	if (offset + beside > FLOW_ENCAP_REACH)
		return NULL;
	at = packet->data + offset;
	*ret_why = ENCAP_SHORT;
	return at + size > packet->end ? NULL : at;
}

static __always_inline struct encap encap_by_type(__be16 type, __u32 offset)
{
	if (type == bpf_htons(ETH_P_IP) || type == bpf_htons(ETH_P_IPV6))
		return ENCAP(ENCAP_IP, offset);
	if (type == bpf_htons(ETH_P_TEB))
		return ENCAP(ENCAP_ETHER, offset);
	if (type == bpf_htons(ETH_P_MPLS_UC) || type == bpf_htons(ETH_P_MPLS_MC))
		return ENCAP(ENCAP_MPLS, offset);
	return ENCAP(ENCAP_NOTHING, 0);
}

/* RFC 2784 and 2890; NVGRE (RFC 7637) is one with a key. */
static __always_inline struct encap encap_gre(const struct packet *packet, __u32 offset)
{
	enum encap_kind why;
	const __be16 *gre = encap_read(packet, offset, 4, &why);
	__u16 flags;

	if (!gre)
		return ENCAP(why, 0);
	flags = bpf_ntohs(gre[0]);
	if (flags & ENCAP_GRE_REFUSED)
		return ENCAP(ENCAP_NOTHING, 0);
	offset += 4 + (flags & ENCAP_GRE_CSUM ? 4 : 0) + (flags & ENCAP_GRE_KEY ? 4 : 0) +
		  (flags & ENCAP_GRE_SEQ ? 4 : 0);
	return encap_by_type(gre[1], offset);
}

/* RFC 8926: options in units of 4 bytes. */
static __always_inline struct encap encap_geneve(const __u8 *geneve, __u32 offset)
{
	if (geneve[0] & 0xc0)
		return ENCAP(ENCAP_NOTHING, 0);
	return encap_by_type(*(__be16 *)(geneve + 2), offset + 8 + (geneve[0] & 0x3f) * 4);
}

/*
 * 3GPP TS 29.281 5.2: each extension says its length in units of 4 bytes, and ends with the type of
 * the next.
 */
static __always_inline struct encap encap_gtpu_extensions(const struct packet *packet, __u32 offset)
{
	for (int i = 0; i < FLOW_MAX_GTP_EXTENSIONS; i++) {
		enum encap_kind why;
		const __u8 *type = encap_read(packet, offset, 2, &why);

		if (!type)
			return ENCAP(why, 0);
		if (!type[0])
			return ENCAP(ENCAP_IP, offset + 1);
		if (!type[1])
			return ENCAP(ENCAP_NOTHING, 0);
		offset += type[1] * 4;
	}
	return ENCAP(ENCAP_NOTHING, 0);
}

static __always_inline struct encap encap_gtpu(const struct packet *packet, const __u8 *gtpu,
					       __u32 offset)
{
	if ((gtpu[0] & ENCAP_GTPU_KIND) != ENCAP_GTPU_PLAIN || gtpu[1] != ENCAP_GTPU_PACKET)
		return ENCAP(ENCAP_NOTHING, 0);
	if (gtpu[0] & ENCAP_GTPU_EXTENDED)
		return encap_gtpu_extensions(packet, offset + 11);
	return ENCAP(ENCAP_IP, offset + (gtpu[0] & ENCAP_GTPU_OPTIONAL ? 12 : 8));
}

static __always_inline int encap_is_udp_tunnel(__u16 port)
{
	return port == ENCAP_PORT_VXLAN || port == ENCAP_PORT_VXLAN_OLD ||
	       port == ENCAP_PORT_GENEVE || port == ENCAP_PORT_GTPU;
}

/*
 * What a UDP packet carries, by its destination port. All of these have at least 8 bytes of header.
 */
static __always_inline struct encap encap_udp(const struct packet *packet, __u32 offset)
{
	enum encap_kind why;
	const __be16 *udp = encap_read(packet, offset, 4, &why);
	const __u8 *tunnel;
	__u16 port;

	if (!udp)
		return ENCAP(why, 0);
	port = bpf_ntohs(udp[1]);
	if (!encap_is_udp_tunnel(port))
		return ENCAP(ENCAP_NOTHING, 0);
	tunnel = encap_read(packet, offset + 8, 8, &why);
	if (!tunnel)
		return ENCAP(why, 0);
	if (port == ENCAP_PORT_GENEVE)
		return encap_geneve(tunnel, offset + 8);
	if (port == ENCAP_PORT_GTPU)
		return encap_gtpu(packet, tunnel, offset + 8);
	return tunnel[0] & ENCAP_VXLAN_VNI ? ENCAP(ENCAP_ETHER, offset + 16)
					   : ENCAP(ENCAP_NOTHING, 0);
}

/* What an IP packet carries, by its protocol number. It may also be a frame (RFC 8986). */
static __always_inline struct encap encap_of_payload(const struct packet *packet, __u8 protocol,
						     __u32 offset)
{
	switch (protocol) {
	case IPPROTO_IPIP:
	case IPPROTO_IPV6: return ENCAP(ENCAP_IP, offset);
	case IPPROTO_GRE: return encap_gre(packet, offset);
	case IPPROTO_UDP: return encap_udp(packet, offset);
	case IPPROTO_MPLS: return ENCAP(ENCAP_MPLS, offset);
	case IPPROTO_ETHERNET: return ENCAP(ENCAP_ETHER, offset);
	default: return ENCAP(ENCAP_NOTHING, 0);
	}
}

static __always_inline int encap_may_carry(__u8 protocol)
{
	return protocol == IPPROTO_IPIP || protocol == IPPROTO_IPV6 || protocol == IPPROTO_GRE ||
	       protocol == IPPROTO_UDP || protocol == IPPROTO_MPLS || protocol == IPPROTO_ETHERNET;
}

/* What a frame carries. */
static __always_inline struct encap encap_of_ether(const struct packet *packet, __u32 offset)
{
	int most = offset || packet->vlan_tci < 0 ? FLOW_MAX_VLANS : FLOW_MAX_VLANS - 1;

	offset += ETH_ALEN * 2;
	for (int i = 0; i <= most; i++) {
		enum encap_kind why;
		const __be16 *type = encap_read(packet, offset, 2, &why);

		if (!type)
			return ENCAP(why, 0);
		if (!flow_is_vlan(*type))
			return encap_by_type(*type, offset + 2);
		offset += sizeof(struct vlan_header);
	}
	return ENCAP(ENCAP_NOTHING, 0);
}

/* What is below a label stack. Only its first bits tell (RFC 3032, 4928). */
static __always_inline struct encap encap_of_mpls(const struct packet *packet, __u32 offset)
{
	for (int i = 0; i < FLOW_MAX_LABELS; i++) {
		enum encap_kind why;
		const __be16 *label = encap_read(packet, offset, 4, &why);

		if (!label)
			return ENCAP(why, 0);
		offset += 4;
		if (label[1] & bpf_htons(ENCAP_LABEL_BOTTOM))
			return ENCAP(ENCAP_IP, offset);
	}
	return ENCAP(ENCAP_NOTHING, 0);
}

/* Returns a complete IP header, recognised by the version in it. */
static __always_inline __u32 encap_at(const struct packet *packet, __u32 offset)
{
	enum encap_kind why;
	const __u8 *ip = encap_read(packet, offset, 20, &why);

	if (!ip)
		return why == ENCAP_SHORT ? FLOW_AT_SHORT : FLOW_OUTER;
	if (*ip >> 4 == 4)
		return FLOW_AT_IP4 | offset;
	if (*ip >> 4 != 6)
		return FLOW_OUTER;
	return encap_read(packet, offset, 40, &why) ? FLOW_AT_IP6 | offset : FLOW_AT_SHORT;
}

/* The IP header within a payload. FLOW_OUTER if there is none, or FLOW_AT_SHORT. */
static __always_inline __u32 flow_encap_inner(const struct packet *packet, __u32 payload)
{
	struct encap encap =
		encap_of_payload(packet, FLOW_PAYLOAD_PROTOCOL(payload), payload & FLOW_AT_OFFSET);

	if (encap.kind == ENCAP_ETHER)
		encap = encap_of_ether(packet, encap.offset);
	if (encap.kind == ENCAP_MPLS)
		encap = encap_of_mpls(packet, encap.offset);
	if (encap.kind == ENCAP_SHORT)
		return FLOW_AT_SHORT;
	return encap.kind == ENCAP_IP ? encap_at(packet, encap.offset) : FLOW_OUTER;
}

/* The innermost IP header, with FLOW_AT_SHORT if there may be more beyond packet->end. */
static __always_inline __u32 flow_encap_walk(const struct flow_hook *hook)
{
	__u32 at = FLOW_OUTER, payload = FLOW_FRAME;

	for (int i = 0; i <= FLOW_MAX_ENCAPS && encap_may_carry(FLOW_PAYLOAD_PROTOCOL(payload));
	     i++) {
		__u32 next = hook->inner_of(hook->context, payload);

		if (next == FLOW_OUTER || next & FLOW_AT_SHORT)
			return at | next;
		at = next;
		payload = hook->payload_of(hook->context, at);
		if (payload & FLOW_AT_SHORT)
			return at | FLOW_AT_SHORT;
	}
	return at;
}

static __always_inline int flow_policy_is_encap(__u32 policy)
{
	return policy == XBOND_POLICY_ENCAP23 || policy == XBOND_POLICY_ENCAP34;
}

#define FLOW_HEADERS 448 /* what the longest walk may need to see */

static __always_inline int flow_policy_has_ports(__u32 policy)
{
	return policy == XBOND_POLICY_LAYER34 || policy == XBOND_POLICY_ENCAP34 ||
	       policy == XBOND_POLICY_FLOW;
}

/*
 * Policies that look at the Ethernet header only. Returns -1 for another policy, or if there is a
 * tag that counts.
 */
static __always_inline int flow_plain_ether(__u64 *hash, const struct packet *packet, __u32 policy,
					    const struct flow_rule *rule)
{
	const struct ethhdr *eth = packet->data;

	if (flow_is_vlan(flow_ether_type(eth)))
		return -1;
	if (policy == XBOND_POLICY_LAYER2)
		*hash = flow_layer2(*hash, eth, flow_ether_type(eth), rule);
	else if (policy == XBOND_POLICY_VLAN_SRCMAC && packet->vlan_tci < 0)
		*hash = flow_mix(*hash, flow_mac(eth->h_source));
	else
		return -1;
	return 0;
}

/* An IPv4 packet that certainly carries no other packet. */
static __always_inline int flow_plain_carries_nothing(const struct packet *packet,
						      const struct ethhdr *eth)
{
	const struct iphdr *ip = (void *)(eth + 1);
	const __be16 *ports = (void *)(ip + 1);

	if (flow_ether_type(eth) != bpf_htons(ETH_P_IP) || (void *)(ports + 2) > packet->end ||
	    ip->version != 4)
		return 0;
	if (!encap_may_carry(ip->protocol))
		return 1;
	return ip->protocol == IPPROTO_UDP && ip->ihl == 5 &&
	       !encap_is_udp_tunnel(bpf_ntohs(ports[1]));
}

/*
 * flow_hash() for most packets: no tag in them (one beside the packet counts in one policy only),
 * IPv4 if the policy looks at IP, all headers accessible. Returns -1 for all others and for
 * symmetric hashes.
 */
static __always_inline int flow_hash_plain(const struct packet *packet,
					   const struct flow_rule *rule, __u64 *ret_hash)
{
	const struct flow_rule plain = {}; /* so that symmetric is known to be off */
	const struct ethhdr *eth = packet->data;
	__u64 hash = flow_seed(rule->seed);
	__u32 policy = rule->policy;

	if ((void *)(eth + 1) > packet->end || rule->symmetric)
		return -1;
	if (policy == XBOND_POLICY_LAYER34) {
		if (flow_ether_type(eth) != bpf_htons(ETH_P_IP) ||
		    flow_ip4(&hash, packet, FLOW_AT_IP4 | sizeof(*eth), 1, &plain))
			return -1;
	} else if (policy == XBOND_POLICY_LAYER23) {
		hash = flow_layer2(hash, eth, flow_ether_type(eth), &plain);
		if (flow_ether_type(eth) != bpf_htons(ETH_P_IP) ||
		    flow_ip4(&hash, packet, FLOW_AT_IP4 | sizeof(*eth), 0, &plain))
			return -1;
	} else if (flow_policy_is_encap(policy)) {
		if (!flow_plain_carries_nothing(packet, eth))
			return -1;
		if (policy == XBOND_POLICY_ENCAP23)
			hash = flow_layer2(hash, eth, flow_ether_type(eth), &plain);
		if (flow_ip4(&hash, packet, FLOW_AT_IP4 | sizeof(*eth),
			     policy == XBOND_POLICY_ENCAP34, &plain))
			return -1;
	} else if (flow_plain_ether(&hash, packet, policy, &plain)) {
		return -1;
	}
	*ret_hash = flow_finish(hash);
	return 0;
}

/* Finds the IP header by the packet type; FLOW_OUTER if there is none. */
static __always_inline __u32 flow_at_type(__be16 type, __u32 offset)
{
	if (type == bpf_htons(ETH_P_IP))
		return FLOW_AT_IP4 | offset;
	return type == bpf_htons(ETH_P_IPV6) ? FLOW_AT_IP6 | offset : FLOW_OUTER;
}

/* The MACs, if the policy has them or there is no IP packet; then the IP packet. */
static __always_inline int flow_layers(__u64 *hash, const struct packet *packet, __be16 type,
				       __u32 at, const struct flow_rule *rule,
				       const struct flow_hook *hook)
{
	int with_ports = flow_policy_has_ports(rule->policy);

	if (!with_ports || at == FLOW_OUTER)
		*hash = flow_layer2(*hash, packet->data, type, rule);
	if (at == FLOW_OUTER || rule->policy == XBOND_POLICY_LAYER2)
		return 0;
	if (at & FLOW_AT_IP6)
		return flow_ip6(hash, packet, at, with_ports, rule, hook);
	return flow_ip4(hash, packet, at, with_ports, rule);
}

/*
 * The hash of the packet. Returns FLOW_SHORT if headers that count lie beyond packet->end; the hash
 * is then that of the readable part. XBOND_POLICY_FLOW is layer3+4 where there is no skb.
 */
static __always_inline int flow_hash(const struct packet *packet, const struct flow_rule *rule,
				     const struct flow_hook *hook, __u64 *ret_hash)
{
	const struct ethhdr *eth = packet->data;
	__u64 hash = flow_seed(rule->seed);
	__u32 at, inner = FLOW_OUTER;
	__u64 untagged;
	__be16 type;
	int cut;

	*ret_hash = hash;
	if ((void *)(eth + 1) > packet->end)
		return FLOW_SHORT;
	untagged = flow_is_vlan(flow_ether_type(eth)) ? hook->untagged_of(hook->context)
						      : flow_untagged_at_once(packet);
	type = FLOW_UNTAGGED_TYPE(untagged);
	cut = untagged & FLOW_UNTAGGED_SHORT ? FLOW_SHORT : 0;
	if (rule->policy == XBOND_POLICY_VLAN_SRCMAC) {
		hash = flow_mix(hash, flow_mac(eth->h_source) | (__u64)FLOW_UNTAGGED_VID(untagged)
									<< 48);
	} else {
		at = flow_at_type(type, FLOW_UNTAGGED_OFFSET(untagged));
		if (flow_policy_is_encap(rule->policy))
			inner = flow_encap_walk(hook);
		if (inner & ~FLOW_AT_SHORT)
			at = inner & ~FLOW_AT_SHORT;
		if (inner & FLOW_AT_SHORT)
			cut = FLOW_SHORT;
		if (flow_layers(&hash, packet, type, at, rule, hook))
			cut = FLOW_SHORT;
	}
	*ret_hash = flow_finish(hash);
	return cut;
}

#endif
