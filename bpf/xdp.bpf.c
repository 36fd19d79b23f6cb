// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The XDP programs of one bond: xbond_xdp_rx and xbond_xdp_rx_tags on slaves (rx_hook),
 * xbond_xdp_tx on the port side (xdp_tx). They handle frames that are common and simple, and let
 * all others pass to the TC programs of xbond.bpf.c, whose maps they share.
 */
#include <linux/bpf.h>

#include "bpf/collect.h"
#include "bpf/drops_count.h"
#include "bpf/send_xdp.h"

#define POLICY_PROGRAMS policy_xdp
#include "bpf/policy_ask.h"

char _license[] SEC("license") = "GPL";

/* The port side, once the slave may hand it frames. */
struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} xdp_port SEC(".maps");

/*
 * From Linux 6.8 on: the tag that the device keeps beside the frame. Only a program that was loaded
 * for that device may call it.
 */
extern int bpf_xdp_metadata_rx_vlan_tag(const struct xdp_md *ctx, __be16 *vlan_proto,
					__u16 *vlan_tci) __ksym __weak;

/*
 * Is the frame for bond0 alone? Not if it is link-local, as slow protocols and LLDP are; not if it
 * is EAPOL, which xbond_rx judges better; not if it is LLDP to another address, which a redirect
 * would hide from every socket on the slave.
 */
static __always_inline int xdp_is_ordinary(const struct packet *packet)
{
	const struct ethhdr *eth = packet->data;
	const struct vlan_header *tag = (void *)(eth + 1);
	__be16 type;

	if ((void *)(eth + 1) > packet->end || flow_is_link_local(eth))
		return 0;
	type = flow_ether_type(eth);
	if (type == bpf_htons(ETH_P_8021Q)) {
		if ((void *)(tag + 1) > packet->end)
			return 0;
		if (!(tag->tci & bpf_htons(VLAN_VID_MASK)))
			type = tag->type;
	}
	return type != bpf_htons(ETH_P_EAPOL) && type != bpf_htons(ETH_P_LLDP);
}

/* Packets of micro-BFD pass: xbond_rx takes them. A priority tag is not looked behind. */
static __always_inline int xdp_is_micro_bfd(const struct packet *packet)
{
	const struct ethhdr *eth = packet->data;
	const __u8 *at = packet->data;

	if ((void *)(eth + 1) > packet->end)
		return 0;
	if (flow_ether_type(eth) == bpf_htons(ETH_P_IP))
		return at + MICRO_BFD_PORT4 + 2 <= (const __u8 *)packet->end &&
		       micro_bfd_is_port(at, MICRO_BFD_PROTOCOL4, MICRO_BFD_PORT4);
	return flow_ether_type(eth) == bpf_htons(ETH_P_IPV6) &&
	       at + MICRO_BFD_PORT6 + 2 <= (const __u8 *)packet->end &&
	       micro_bfd_is_port(at, MICRO_BFD_PROTOCOL6, MICRO_BFD_PORT6);
}

/* Is it a frame that xbond_rx writes down for the ARP monitor? It may have tags. */
static __always_inline int xdp_is_for_monitor(const struct packet *packet)
{
	const struct ethhdr *eth = packet->data;
	const struct neighbour_headers *headers;
	__u32 offset = sizeof(*eth);
	__be16 type;
	__u16 vid;

	if ((void *)(eth + 1) > packet->end)
		return 0;
	type = flow_ether_type(eth);
	if (flow_untag(packet, &offset, &type, &vid))
		return 0;
	headers = packet->data + offset;
	if (type != bpf_htons(ETH_P_IPV6))
		return type == bpf_htons(ETH_P_ARP);
	return (void *)(headers + 1) <= packet->end && neighbour_is_message(headers);
}

/* balance-alb: does xbond_rx have to give it bond0's address, or to take a note of it? */
static __always_inline int xdp_is_for_other(const struct packet *packet)
{
	const struct ethhdr *eth = packet->data;

	return (void *)(eth + 1) > packet->end ||
	       tlb_mac_of(eth->h_dest) != READ_ONCE(alb.bond_mac) || xdp_is_for_monitor(packet);
}

/* Of a VLAN that a slave may have itself. A tag that the device keeps beside it is seen before. */
static __always_inline int xdp_is_tagged(const struct packet *packet)
{
	const struct ethhdr *eth = packet->data;

	return (void *)(eth + 1) > packet->end || eth->h_proto == bpf_htons(ETH_P_8021Q);
}

/* Is there more to do with received frames than to hand them to bond0? */
static __noinline int xdp_needs_more(const struct packet *packet, __u32 flags)
{
	return (flags & (XBOND_F_CARRIER | XBOND_F_OPENING)) != XBOND_F_CARRIER ||
	       (flags & XBOND_F_ALB && xdp_is_for_other(packet)) ||
	       (flags & XBOND_F_PROBES && xdp_is_for_monitor(packet)) ||
	       (flags & XBOND_F_OWN_VLANS && xdp_is_tagged(packet)) ||
	       (flags & XBOND_F_BFD && xdp_is_micro_bfd(packet));
}

/* Sends to bond0 by the port side. Frames that need more pass to xbond_rx. */
static __always_inline int xdp_collect(struct xdp_md *ctx)
{
	const __u32 more =
		XBOND_F_OPENING | XBOND_F_PROBES | XBOND_F_BFD | XBOND_F_ALB | XBOND_F_OWN_VLANS;
	__u32 slot = collect_slot(ctx->ingress_ifindex), flags = READ_ONCE(table.flags);
	struct packet packet = packet_of(ctx);
	struct xbond_counters *counter;
	__u32 length;

	if (slot >= XBOND_MAX_SLAVES || !slots_have(READ_ONCE(table.rx_mask), slot) ||
	    ((flags & (XBOND_F_CARRIER | more)) != XBOND_F_CARRIER &&
	     xdp_needs_more(&packet, flags)) ||
	    !xdp_is_ordinary(&packet))
		return XDP_PASS;
	length = xdp_frame_length(ctx, &packet);
	if (!xdp_is_whole(&packet, length))
		return XDP_PASS;
	counter = bpf_map_lookup_elem(&counters, &slot);
	if (!counter)
		return XDP_PASS;
	if (bpf_redirect_map(&xdp_port, 0, XDP_PASS) != XDP_REDIRECT)
		return XDP_PASS; /* not open yet */
	counter->rx_packets++;
	counter->rx_bytes += length;
	return XDP_REDIRECT;
}

SEC("xdp.frags")
int xbond_xdp_rx(struct xdp_md *ctx)
{
	return xdp_collect(ctx);
}

/* For devices that keep the tag beside the frame, where it would be lost on the way to bond0. */
SEC("xdp.frags")
int xbond_xdp_rx_tags(struct xdp_md *ctx)
{
	__be16 protocol;
	__u16 tci;

	if (!bpf_xdp_metadata_rx_vlan_tag(ctx, &protocol, &tci))
		return XDP_PASS;
	return xdp_collect(ctx);
}

static __always_inline int xdp_chooses(__u32 flags)
{
	const __u32 wanted = XBOND_F_XDP_TX | XBOND_F_CARRIER;

	return (flags & (wanted | XBOND_F_FORCE_COUNTED)) == wanted && READ_ONCE(table.watched);
}

typedef __u32 (*xdp_chooser)(struct xdp_md *ctx, __u64 mask, __u32 length, __u32 flags);

static __always_inline __u32 xdp_choose(struct xdp_md *ctx, __u64 mask, __u32 length, __u32 flags)
{
	return choose_slot(ctx, hash_of, mask, length, flags);
}

static __always_inline int xdp_drop(void)
{
	drops_count(XBOND_DROPS_OF_BOND, XBOND_DROP_NO_SLAVE);
	return XDP_DROP;
}

static __always_inline int xdp_transmit(struct xdp_md *ctx, xdp_chooser choose)
{
	__u32 flags = READ_ONCE(table.flags), length, slot;
	__u64 mask = select_mask(flags);
	struct packet packet = packet_of(ctx);

	if (!xdp_chooses(flags))
		return XDP_PASS;
	if (!mask)
		return xdp_drop();
	length = xdp_frame_length(ctx, &packet);
	if (!xdp_is_whole(&packet, length))
		return XDP_PASS;
	if (flags & XBOND_F_BROADCAST_NEIGHBOR && neighbour_is_in(&packet))
		return xdp_broadcast(length, mask);
	slot = flags & XBOND_F_TLB ? tlb_prepare_frame(ctx, mask, length)
				   : choose(ctx, mask, length, flags) & ~CHOOSE_TELL;
	if (slot == CHOOSE_ALL)
		return xdp_broadcast(length, mask);
	if (slot >= XBOND_MAX_SLAVES)
		return XDP_DROP;
	choose_count(slot, length);
	return bpf_redirect_map(&devices, slot, XDP_DROP);
}

SEC("xdp.frags")
int xbond_xdp_tx(struct xdp_md *ctx)
{
	return xdp_transmit(ctx, xdp_choose);
}

/* While the bond has a policy. */
SEC("?xdp.frags")
int xbond_xdp_tx_asks(struct xdp_md *ctx)
{
	return xdp_transmit(ctx, policy_choose_slot);
}
