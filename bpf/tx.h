/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the programs on bond0 and on the pair's port side do with a packet that the bond sends: by
 * which slave it leaves, and how. For xbond.bpf.c, which has the map `bond`.
 */
#ifndef XBOND_BPF_TX_H
#define XBOND_BPF_TX_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "bpf/choose.h"
#include "bpf/drops_count.h"
#include "bpf/maps.h"
#include "bpf/neighbour.h"
#include "bpf/select.h"
#include "bpf/send_tc.h"
#include "bpf/send_tlb.h"

/*
 * queue_id: a packet whose queue_mapping is that of a slave takes this slave, if the slave may
 * transmit. The mapping is read where a packet enters bond0, before the stack changes it to a queue
 * of the pair. It crosses the pair in tc_index, together with the priority.
 */

#define QUEUE_CROSSING 0x8000 /* in tc_index: a slot in bits 8 to 13, the priority below */
#define QUEUE_SLOT(tc_index) ((tc_index) >> 8 & (XBOND_MAX_SLAVES - 1))

__noinline __u32 queue_slot(__u32 queue_mapping)
{
	for (__u32 slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (queue_mapping && table.queue_id[slot] == queue_mapping)
			return slot;
	return SELECT_NONE;
}

/* The value that tc_index needs so that the slave and a small priority survive; 0: none. */
static __always_inline __u32 queue_before_crossing(__u32 queue_mapping, __u32 priority)
{
	__u32 slot = queue_slot(queue_mapping);

	if (slot < XBOND_MAX_SLAVES)
		return QUEUE_CROSSING | slot << 8 | (priority <= 0xff ? priority : 0);
	return priority < QUEUE_CROSSING ? priority : 0;
}

/*
 * Active-backup while bondd is away: when the packets take another slave than before, the network
 * is told. The packet itself teaches only the switches on its way. So a broadcast follows it, once
 * for each VLAN: a RARP request, which teaches switches and which hosts ignore. It is not a
 * gratuitous ARP, which needs an address that the program does not know; num_grat_arp is not
 * touched. Nobody can be told before there is a packet to send. Called by the TC transmit programs
 * only.
 */

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

/*
 * Bonds whose bond0 is a team of the kernel: slaves are its ports. Behind xbond_rx the team's
 * receive handler makes a slave's frame one of bond0, without the CPU's backlog. What bond0 sends
 * xbond_egress redirects, or lets the team send (network/bonding.h).
 */

/*
 * The bits of a packet's hash that name the slot. By the others slaves choose queues, and queueing
 * disciplines tell flows apart. So a packet of an unconnected socket, or one that is forwarded,
 * gets a hash of its headers first, if it has none.
 */
#define TEAM_SLOT_BITS (XBOND_MAX_SLAVES - 1)

/* Passes the packet on to the team, with the slot in its hash. */
static __always_inline int team_send(struct __sk_buff *skb, __u32 slot, __u32 length)
{
	__u32 hash = skb->hash;

	if (slot >= XBOND_MAX_SLAVES)
		return TC_ACT_SHOT;
	choose_count(slot, length);
	if (!hash)
		hash = bpf_get_hash_recalc(skb);
	bpf_set_hash(skb, (hash & ~TEAM_SLOT_BITS) | slot);
	return TC_ACT_UNSPEC;
}

/*
 * A link-local frame on a slave that does not collect: for sockets on the slave, and the team gets
 * it, too. A bridge above must not hear what other bridges say there.
 */
static __always_inline int team_keep(const struct __sk_buff *skb)
{
	return skb->protocol == bpf_htons(ETH_P_802_2) ? TC_ACT_SHOT : TC_ACT_UNSPEC;
}

/* What becomes of a packet that the bond sends. */

/* The packet first, by a clone; the packet itself becomes the broadcast of the active slave. */
__noinline int tx_tell(struct __sk_buff *skb, __u32 slot, __u32 active)
{
	const struct xbond_bond *pinned;
	__u32 key = 0, length = skb->len, inside = rarp_tag_inside(skb);

	if (slot >= XBOND_MAX_SLAVES)
		return TC_ACT_SHOT;
	pinned = bpf_map_lookup_elem(&bond, &key);
	if (!pinned || bpf_clone_redirect(skb, table.ifindex[slot], 0))
		return tx_send(slot, length);
	choose_count(slot, length);
	return rarp_make(skb, pinned->mac, inside) ? TC_ACT_SHOT : tx_send(active, RARP_SIZE);
}

/* flags: table.flags, read once for everything, without XBOND_F_TEAM_SENDS if it may not send. */
static __always_inline int tx_send_on(struct __sk_buff *skb, __u32 slot, __u32 length, __u32 flags)
{
	return flags & XBOND_F_TEAM_SENDS ? team_send(skb, slot, length) : tx_send(slot, length);
}

/* Sends a packet while bondd is away. */
static __always_inline int tx_send_away(struct __sk_buff *skb, __u32 slot, __u32 active,
					__u32 length, __u32 flags)
{
	return rarp_is_due(rarp_vlan(skb), active) ? tx_tell(skb, slot, active)
						   : tx_send_on(skb, slot, length, flags);
}

/* While bondd is away, the network is told where the active slave is. */
static __always_inline int tx_transmit_tlb(struct __sk_buff *skb, __u64 mask, __u32 asked)
{
	__u32 slot = tlb_prepare(skb, mask, asked), length = skb->len;

	if (READ_ONCE(table.watched))
		return tx_send(slot, length);
	return tx_send_away(skb, slot, tlb_active(mask), length, 0);
}

__noinline int tx_drop(void)
{
	drops_count(XBOND_DROPS_OF_BOND, XBOND_DROP_NO_SLAVE);
	return TC_ACT_SHOT;
}

typedef __u32 (*tx_chooser)(struct __sk_buff *skb, __u64 mask, __u32 length, __u32 flags);

static __always_inline __u32 tx_choose(struct __sk_buff *skb, __u64 mask, __u32 length, __u32 flags)
{
	return choose_slot(skb, hash_of, mask, length, flags);
}

/*
 * Sends to the chosen slave, or drops the packet if no slave may transmit. asked: the slot that the
 * packet's queue_mapping asks for, or SELECT_NONE. choose: choose_slot() or its like.
 */
static __always_inline int tx_transmit(struct __sk_buff *skb, __u32 flags, __u32 asked,
				       tx_chooser choose)
{
	__u32 length = skb->len, slot;
	__u64 mask = select_mask(flags);

	if (!mask)
		return tx_drop();
	if (asked < XBOND_MAX_SLAVES && !(flags & XBOND_F_TLB) && slots_have(mask, asked) &&
	    select_is_up(asked, NETDEV_SENDS))
		return tx_send_on(skb, asked, length, flags);
	if (flags & (XBOND_F_BROADCAST_NEIGHBOR | XBOND_F_TLB)) {
		if (flags & XBOND_F_TLB)
			return tx_transmit_tlb(skb, mask, asked);
		if (tx_is_neighbour_message(skb))
			return tx_send_on(skb, tx_copy_to_others(skb, mask), length, flags);
	}
	slot = choose(skb, mask, length, flags);
	if (slot < XBOND_MAX_SLAVES)
		return tx_send_on(skb, slot, length, flags);
	if (slot & CHOOSE_TELL)
		return tx_send_away(skb, slot & ~CHOOSE_TELL, slot & ~CHOOSE_TELL, length, flags);
	return slot == CHOOSE_ALL ? tx_send_on(skb, tx_copy_to_others(skb, mask), length, flags)
				  : TC_ACT_SHOT;
}

/*
 * While XDP chooses, packets of the stack must not take that path, because they may lack their
 * checksum. Only while bondd watches where bond0 is: in another namespace an ifindex means another
 * device. (A namespace cookie does not help: for a packet without a socket the helper returns that
 * of the first namespace.)
 */
static __always_inline int path_is_direct(__u32 flags)
{
	const __u32 needed = XBOND_F_STACK_DIRECT | XBOND_F_CARRIER;

	if (READ_ONCE(settings.path) == XBOND_PATH_DIRECT)
		flags |= XBOND_F_STACK_DIRECT;
	return (flags & (needed | XBOND_F_FORCE_COUNTED)) == needed && READ_ONCE(table.watched);
}

/* A veth clears skb->priority; xbond_port restores as much as fits. */
static __always_inline int tx_cross(struct __sk_buff *skb, __u32 flags)
{
	if (flags & XBOND_F_QUEUE_IDS)
		skb->tc_index = queue_before_crossing(skb->queue_mapping, skb->priority);
	else if (skb->priority && skb->priority <= 0xffff && !(flags & XBOND_F_NETKIT))
		skb->tc_index = skb->priority;
	return TC_ACT_UNSPEC;
}

/*
 * What does not cross to the port side. A team stays where it was made, so an ifindex is good
 * there, whether bondd watches or not.
 */
static __always_inline int tx_egress(struct __sk_buff *skb, tx_chooser choose)
{
	__u32 flags = READ_ONCE(table.flags), asked = SELECT_NONE;

	if (path_is_direct(flags))
		flags &= ~XBOND_F_TEAM_SENDS;
	else if (!(flags & XBOND_F_TEAM))
		return tx_cross(skb, flags);
	if (flags & XBOND_F_QUEUE_IDS)
		asked = queue_slot(skb->queue_mapping);
	return tx_transmit(skb, flags, asked, choose);
}

/* A netkit keeps skb->priority, so only queue_ids need to cross. */
static __always_inline int tx_crossing_is_ours(__u32 flags)
{
	return (flags & (XBOND_F_NETKIT | XBOND_F_QUEUE_IDS)) != XBOND_F_NETKIT;
}

/*
 * The mapping names a queue of bond0. A slave would take it for the queue that has received the
 * packet: with as many queues, its last one would get nothing.
 */
static __always_inline int tx_port(struct __sk_buff *skb, tx_chooser choose)
{
	__u32 flags = READ_ONCE(table.flags) & ~XBOND_F_TEAM_SENDS;
	__u32 crossed = skb->tc_index, asked = SELECT_NONE;

	skb->queue_mapping = 0;
	if (crossed && tx_crossing_is_ours(flags)) {
		if (crossed & QUEUE_CROSSING && flags & XBOND_F_QUEUE_IDS) {
			asked = QUEUE_SLOT(crossed);
			crossed &= 0xff;
		}
		skb->priority = crossed;
		skb->tc_index = 0;
	}
	return tx_transmit(skb, flags, asked, choose);
}

#endif
