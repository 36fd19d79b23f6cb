/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * balance-tlb and balance-alb: which packets are balanced, which slave has the bond's address, and
 * what source address a packet gets on another slave. Knows packet memory and maps; the entry
 * points rewrite and send.
 *
 * The switches know one port for each address. So only the active slave sends with the bond's, and
 * each other slave with its own. Received frames come to the active slave, and in balance-alb
 * also to the slave whose address they are for.
 */
#ifndef XBOND_BPF_TLB_H
#define XBOND_BPF_TLB_H

#include <linux/if_ether.h>
#include <bpf/bpf_endian.h>

#include "bpf/flow_ether.h"
#include "bpf/neighbour.h"
#include "bpf/select.h"

struct xbond_alb alb SEC(".data.alb");
struct xbond_vlans vlans SEC(".data.vlans");

/* The slave that the user has asked for, or that bondd has chosen. May be no slot at all. */
static __always_inline __u32 tlb_chosen(void)
{
	if (READ_ONCE(settings.active_request) != READ_ONCE(table.active_request))
		return READ_ONCE(settings.active_slot);
	return READ_ONCE(alb.order[0]);
}

/* The slot of mask, which must not be empty, that has the bond's address now. */
__noinline __u32 tlb_active(__u64 mask)
{
	__u32 slot = tlb_chosen();

	if (slot < XBOND_MAX_SLAVES && mask >> slot & 1 && !netdev_is_lost(slot))
		return slot;
	mask = select_live(mask);
	slot = successor_of(alb.order, mask);
	return slot < XBOND_MAX_SLAVES ? slot : select_lowest(mask);
}

static __always_inline __u64 tlb_mac_of(const __u8 *mac)
{
	__u64 word = 0;

	__builtin_memcpy(&word, mac, ETH_ALEN);
	return word;
}

/*
 * The address that a packet has to have as its source on this slot; 0: it may not leave there. The
 * slave may still have the bond's address when another one has taken over.
 */
static __always_inline __u64 tlb_source(__u32 slot)
{
	__u64 mac = READ_ONCE(alb.mac[slot % XBOND_MAX_SLAVES]);

	return mac == READ_ONCE(alb.bond_mac) ? 0 : mac;
}

/* The switches are told of the slaves in this VLAN, too (learning packets). */
static __always_inline void tlb_note_vlan(__u32 vid)
{
	__u64 *word = &vlans.vlan[vid / 64 % XBOND_VLAN_WORDS], bit = 1ULL << vid % 64;

	if (vid && !(READ_ONCE(*word) & bit))
		__sync_fetch_and_or(word, bit);
}

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

/*
 * IPv4 and IPv6 to one host are balanced, except neighbour discovery. All else, and what goes to
 * many, belongs to the active slave: the others drop such frames, and would hear a copy of their
 * own. TLB_SHORT: headers are not accessible.
 */
static __always_inline enum tlb_kind tlb_kind_of(const struct packet *packet)
{
	const struct ethhdr *eth = packet->data;
	__u32 offset = sizeof(*eth);
	enum tlb_kind kind;
	__be16 type;
	__u16 vid;

	if ((void *)(eth + 1) > packet->end)
		return TLB_SHORT;
	type = eth->h_proto;
	if (flow_untag(packet, &offset, &type, &vid))
		return TLB_SHORT;
	tlb_note_vlan(vid);
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
