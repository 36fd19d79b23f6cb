/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Active-backup while bondd is away: when the packets take another slave than before, the network
 * is told. The packet itself teaches only the switches on its way. So a broadcast follows it, once
 * for each VLAN: a RARP request, which teaches switches and which hosts ignore. It is not a
 * gratuitous ARP, which needs an address that the program does not know; num_grat_arp is not
 * touched. Nobody can be told before there is a packet to send. Called by the TC transmit programs
 * only.
 */
#ifndef XBOND_BPF_RARP_H
#define XBOND_BPF_RARP_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "bpf/choose.h"
#include "bpf/maps.h"
#include "bpf/neighbour.h"

#define RARP_REQUEST 3 /* RFC 903: "who am I?" */
/* All headers that may lie before a checksum, which the kernel does not cut off. */
#define RARP_SIZE 120
#define RARP_VLAN_ID 0xfff
#define RARP_TAG_PROTOCOL(tag) ((__be16)((tag) >> 16))
#define RARP_TAG_TCI(tag) ((__u16)(tag))

struct xbond_told told SEC(".data.told");

struct rarp_frame {
	struct ethhdr eth;
	struct neighbour_arp body;
	__u8 padding[RARP_SIZE - ETH_HLEN - sizeof(struct neighbour_arp)];
} __attribute__((packed));
_Static_assert(sizeof(struct rarp_frame) == RARP_SIZE, "nothing of the packet is left");

/* bondd is there, and announces what happens from now on. Called by xbond_beat. */
static __always_inline void rarp_bondd_is_here(void)
{
	told.away++;
}

/*
 * Does somebody have to be told that this VLAN is on this slot now? One caller gets the answer yes.
 * The slot that bondd has chosen needs no word, unless the programs have left it since.
 */
static __always_inline int rarp_is_due(__u32 vlan, __u32 slot)
{
	__u32 now = told.away << 8 | slot, before = told.vlan[vlan & RARP_VLAN_ID];

	if (before == now)
		return 0;
	before = __sync_lock_test_and_set(&told.vlan[vlan & RARP_VLAN_ID], now);
	if (before == now)
		return 0;
	return before >> 8 == now >> 8 || slot != choose_active();
}

/*
 * The tag inside a packet: protocol << 16 | TCI, or 0. Of what a packet socket or a macvtap sends,
 * nobody moves it beside the packet before the egress of a team, or in a netkit. The outermost one
 * counts, as with a tag that is beside.
 */
static __always_inline __u32 rarp_tag_inside(const struct __sk_buff *skb)
{
	__be16 words[2]; /* the packet type and what is behind it */

	if (!flow_is_vlan((__be16)skb->protocol) ||
	    bpf_skb_load_bytes(skb, ETH_HLEN - sizeof(words[0]), words, sizeof(words)) ||
	    !flow_is_vlan(words[0]))
		return 0;
	return (__u32)words[0] << 16 | bpf_ntohs(words[1]);
}

/* The VLAN that a packet leaves in; 0: none. */
static __always_inline __u32 rarp_vlan(const struct __sk_buff *skb)
{
	return skb->vlan_present ? skb->vlan_tci : RARP_TAG_TCI(rarp_tag_inside(skb));
}

static __always_inline void rarp_fill(struct rarp_frame *rarp, const __u8 *mac)
{
	__builtin_memset(rarp, 0, sizeof(*rarp));
	__builtin_memset(rarp->eth.h_dest, 0xff, ETH_ALEN);
	__builtin_memcpy(rarp->eth.h_source, mac, ETH_ALEN);
	__builtin_memcpy(rarp->body.sender_mac, mac, ETH_ALEN);
	__builtin_memcpy(rarp->body.target_mac, mac, ETH_ALEN);
	rarp->eth.h_proto = bpf_htons(ETH_P_RARP);
	rarp->body.hardware = bpf_htons(NEIGHBOUR_ETHERNET);
	rarp->body.protocol = bpf_htons(ETH_P_IP);
	rarp->body.hardware_length = ETH_ALEN;
	rarp->body.protocol_length = sizeof(rarp->body.sender);
	rarp->body.operation = bpf_htons(RARP_REQUEST);
}

/*
 * Makes the packet, whose clone has been sent, a RARP request of this MAC in the same VLAN. inside:
 * what rarp_tag_inside() has said. Returns 0, or an error; the packet is good for nothing then. A
 * checksum that a device still has to fill in may end up in `target`, where it does no harm.
 */
static __always_inline long rarp_make(struct __sk_buff *skb, const __u8 *mac, __u32 inside)
{
	long refused = bpf_skb_change_tail(skb, RARP_SIZE, 0);
	struct rarp_frame rarp;

	if (refused)
		return refused;
	rarp_fill(&rarp, mac);
	refused = bpf_skb_store_bytes(skb, 0, &rarp, sizeof(rarp), 0);
	if (refused || !inside || skb->vlan_present)
		return refused;
	return bpf_skb_vlan_push(skb, RARP_TAG_PROTOCOL(inside), RARP_TAG_TCI(inside));
}

#endif
