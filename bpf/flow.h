/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hash of a packet under a policy (docs/users/hash.md). Knows packet memory only: no skb, no
 * map, so that every hook and user space can use it.
 */
#ifndef XBOND_BPF_FLOW_H
#define XBOND_BPF_FLOW_H

#include "bpf/flow_encap.h"
#include "bpf/flow_ip.h"

#define FLOW_HEADERS 448 /* what the longest walk may need to see */

static __always_inline int flow_policy_has_ports(__u32 policy)
{
	return policy == XBOND_POLICY_LAYER34 || policy == XBOND_POLICY_ENCAP34 ||
	       policy == XBOND_POLICY_FLOW;
}

/*
 * Policies that look at the Ethernet header only. Returns -1 for another policy, or if there is a
 * tag.
 */
static __always_inline int flow_plain_ether(__u64 *hash, const struct ethhdr *eth, __u32 policy,
					    const struct flow_rule *rule)
{
	if (flow_is_vlan(flow_ether_type(eth)))
		return -1;
	if (policy == XBOND_POLICY_LAYER2)
		*hash = flow_layer2(*hash, eth, flow_ether_type(eth), rule);
	else if (policy == XBOND_POLICY_VLAN_SRCMAC)
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
 * flow_hash() for most packets: untagged, IPv4 if the policy looks at IP, all headers accessible.
 * Returns -1 for all others and for symmetric hashes.
 */
static __always_inline int flow_hash_plain(const struct packet *packet,
					   const struct flow_rule *rule, __u64 *ret_hash)
{
	const struct flow_rule plain = {}; /* so that symmetric is known to be off */
	const struct ethhdr *eth = packet->data;
	__u64 hash = flow_seed(rule->seed);
	__u32 policy = rule->policy;

	if ((void *)(eth + 1) > packet->end || packet->vlan_tci >= 0 || rule->symmetric)
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
	} else if (flow_plain_ether(&hash, eth, policy, &plain)) {
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
