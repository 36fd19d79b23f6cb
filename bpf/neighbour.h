/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
/*
 * Packets that more than a hash decides about: neighbour messages, and what balance-tlb and
 * balance-alb balance.
 */
#ifndef XBOND_BPF_NEIGHBOUR_H
#define XBOND_BPF_NEIGHBOUR_H

#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ipv6.h>
#include <bpf/bpf_endian.h>

#include "bpf/flow_headers.h"

/*
 * ARP, neighbour solicitation and advertisement (RFC 4861), which broadcast_neighbor sends by every
 * port, and their headers. For whoever makes these accessible.
 */

#define NEIGHBOUR_ETHERNET 1 /* the hardware of ARP and RARP */
#define NEIGHBOUR_SOLICITATION 135
#define NEIGHBOUR_ADVERTISEMENT 136

/* Behind the Ethernet header of ARP (RFC 826) and RARP (RFC 903) over Ethernet and IPv4. */
struct neighbour_arp {
	__be16 hardware, protocol;
	__u8 hardware_length, protocol_length;
	__be16 operation;
	__u8 sender_mac[ETH_ALEN];
	__u8 sender[4];
	__u8 target_mac[ETH_ALEN];
	__u8 target[4];
} __attribute__((packed));

/* What is looked at behind the Ethernet header of an IPv6 packet. */
struct neighbour_headers {
	struct ipv6hdr ip;
	__u8 type; /* of ICMPv6 */
} __attribute__((packed));

static __always_inline int neighbour_is_message(const struct neighbour_headers *headers)
{
	return headers->ip.nexthdr == IPPROTO_ICMPV6 && (headers->type == NEIGHBOUR_SOLICITATION ||
							 headers->type == NEIGHBOUR_ADVERTISEMENT);
}

/* Is the whole message in the packet's memory? */
static __always_inline int neighbour_is_in(const struct packet *packet)
{
	const struct ethhdr *eth = packet->data;
	const struct neighbour_headers *headers = (void *)(eth + 1);

	if ((void *)(eth + 1) > packet->end)
		return 0;
	if (flow_ether_type(eth) == bpf_htons(ETH_P_ARP))
		return 1;
	if (flow_ether_type(eth) != bpf_htons(ETH_P_IPV6) || (void *)(headers + 1) > packet->end)
		return 0;
	return neighbour_is_message(headers);
}

/*
 * Which packets balance-tlb and balance-alb balance, and MAC addresses as their maps have them.
 * Knows packet memory only, so that bondctl explain says the same.
 */

enum tlb_kind { TLB_BALANCED, TLB_ARP, TLB_NEIGHBOUR, TLB_OTHER, TLB_SHORT };

#define TLB_HEADERS \
	(ETH_HLEN + FLOW_MAX_VLANS * sizeof(struct vlan_header) + sizeof(struct neighbour_headers))

static __always_inline enum tlb_kind tlb_kind_of_ipv6(const struct packet *packet, __u32 offset)
{
	const struct neighbour_headers *headers = packet->data + offset;

	if ((void *)(headers + 1) > packet->end)
		return TLB_SHORT;
	return neighbour_is_message(headers) ? TLB_NEIGHBOUR : TLB_BALANCED;
}

/* As in struct xbond_alb. */
static __always_inline __u64 tlb_mac_of(const __u8 *mac)
{
	__u64 word = 0;

	__builtin_memcpy(&word, mac, ETH_ALEN);
	return word;
}

/*
 * IPv4 and IPv6 to one host are balanced, except neighbour discovery. All else, and what goes to
 * many, belongs to the active slave: the others drop such frames, and would hear a copy of their
 * own. TLB_SHORT: headers are not accessible. ret_vid: the outermost VLAN id, 0 for none.
 */
static __always_inline enum tlb_kind tlb_kind_in(const struct packet *packet, __u16 *ret_vid)
{
	const struct ethhdr *eth = packet->data;
	__u32 offset = sizeof(*eth);
	enum tlb_kind kind;
	__be16 type;

	*ret_vid = 0;
	if ((void *)(eth + 1) > packet->end)
		return TLB_SHORT;
	type = flow_ether_type(eth);
	if (flow_untag(packet, &offset, &type, ret_vid))
		return TLB_SHORT;
	if (type == bpf_htons(ETH_P_ARP))
		return TLB_ARP;
	if (type == bpf_htons(ETH_P_IP))
		return eth->h_dest[0] & 1 ? TLB_OTHER : TLB_BALANCED;
	if (type != bpf_htons(ETH_P_IPV6))
		return TLB_OTHER;
	kind = tlb_kind_of_ipv6(packet, offset);
	return kind == TLB_BALANCED && eth->h_dest[0] & 1 ? TLB_OTHER : kind;
}

#endif
