/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For XDP and TC programs of others (load balancers, routers, tunnels): sends a packet out of the
 * slave that a bond of xbond would choose for it, without a bond device in between.
 * docs/developers/select.md says how to use it and what it promises; loader.h gives the maps of a
 * bond to a program.
 *
 *   #include <linux/bpf.h>
 *   #include <xbond/select.bpf.h>
 *
 *   SEC("xdp.frags")
 *   int forward(struct xdp_md *ctx)
 *   {
 *           if (!xbond_may_send(ctx))
 *                   return XDP_PASS;
 *           ... makes the Ethernet header that shall leave ...
 *           return xbond_send(ctx);
 *   }
 *
 * A file is for XDP (its sections must be "xdp.frags"), or for TC: then it defines XBOND_SELECT_TC
 * before this #include. Programs that use this must be under a licence that goes with the GPL.
 */
#ifndef XBOND_SELECT_BPF_H
#define XBOND_SELECT_BPF_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/pkt_cls.h>
#include <linux/types.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <stdint.h>

/* Until the end of this file these names are xbond's own; then they are the program's again. */
#include "xbond/own_names.h"

#include "bpf/abi.h"
#ifdef XBOND_SELECT_TC
#include "bpf/send_tc.h"
#define XBOND_CONTEXT struct __sk_buff
#else
#include "bpf/send_xdp.h"
#define XBOND_CONTEXT struct xdp_md
#endif

/* What this program was compiled for. Read by loader.h. */
const volatile __u32 xbond_compiled_for SEC(".rodata.xbond") = XBOND_SELECT_ABI;

#ifdef XBOND_SELECT_TC

static __always_inline __u32 xbond_length(struct __sk_buff *skb)
{
	return skb->len;
}

static __always_inline int xbond_is_sendable(struct __sk_buff *skb)
{
	(void)skb;
	return 1;
}

static __always_inline int xbond_is_for_all(struct __sk_buff *skb)
{
	return tx_is_neighbour_message(skb);
}

__noinline __u32 xbond_select_tlb(struct __sk_buff *skb, __u64 mask, __u32 length)
{
	__u32 active = tlb_active(mask), slot;

	if (tlb_kind_of_skb(skb) != TLB_BALANCED)
		return active;
	slot = choose_slot(skb, hash_of, mask, length, READ_ONCE(table.flags));
	return tlb_give_source(skb, slot, active);
}

static __always_inline int xbond_send_by(struct __sk_buff *skb, int selected, __u32 length)
{
	__u64 mask;

	if (selected == XBOND_NO_BOND)
		return TC_ACT_UNSPEC;
	if (selected >= 0 && selected < XBOND_MAX_SLAVES)
		return tx_send((__u32)selected, length);
	mask = select_mask(READ_ONCE(table.flags));
	return selected == XBOND_EVERY_SLAVE && mask ? tx_broadcast(skb, mask) : TC_ACT_SHOT;
}

#else

static __always_inline __u32 xbond_length(struct xdp_md *ctx)
{
	struct packet packet = packet_of(ctx);

	return xdp_frame_length(ctx, &packet);
}

static __always_inline int xbond_is_sendable(struct xdp_md *ctx)
{
	struct packet packet = packet_of(ctx);

	return xdp_is_whole(&packet, xdp_frame_length(ctx, &packet));
}

static __always_inline int xbond_is_for_all(struct xdp_md *ctx)
{
	struct packet packet = packet_of(ctx);

	return neighbour_is_in(&packet);
}

/* A frame that is to be left to the stack stays as it is. */
static __always_inline __u32 xbond_select_tlb(struct xdp_md *ctx, __u64 mask, __u32 length)
{
	struct packet packet = packet_of(ctx);

	return xdp_is_whole(&packet, length) ? tlb_prepare_frame(ctx, mask, length)
					     : tlb_active(mask);
}

static __always_inline int xbond_send_by(struct xdp_md *ctx, int selected, __u32 length)
{
	struct packet packet = packet_of(ctx);
	__u32 slot = (__u32)selected;
	__u64 mask;

	if (!xdp_is_whole(&packet, length))
		return XDP_PASS;
	if (slot < XBOND_MAX_SLAVES) {
		choose_count(slot, length);
		return (int)bpf_redirect_map(&devices, slot, XDP_DROP);
	}
	if (selected == XBOND_NO_BOND)
		return XDP_PASS;
	mask = select_mask(READ_ONCE(table.flags));
	return selected == XBOND_EVERY_SLAVE && mask ? xdp_broadcast(length, mask) : XDP_DROP;
}

#endif

#include "bpf/answer.h"

/*
 * Ask this before you change the packet: if it is 0, xbond_send() would let the packet pass,
 * because the maps are a bond's no longer, because the bond has a policy, or because an XDP frame
 * lies in several buffers. So return XDP_PASS or TC_ACT_UNSPEC, and leave the packet to the stack.
 */
static __always_inline int xbond_may_send(XBOND_CONTEXT *ctx)
{
	return xbond_maps_are_current() && !(READ_ONCE(table.flags) & XBOND_F_POLICY) &&
	       xbond_is_sendable(ctx);
}

/*
 * The slot of the slave that the bond would choose for this packet, which begins with an Ethernet
 * header; or one of enum xbond_selected. In round-robin it is this packet's turn, so call it once
 * for each. In balance-tlb and balance-alb it writes the source address with which the packet has
 * to leave there. In TC, pointers into the packet are not valid afterwards.
 */
static __always_inline int xbond_select(XBOND_CONTEXT *ctx)
{
	return xbond_select_for(ctx, xbond_length(ctx));
}

/*
 * Sends the packet by what xbond_select() has returned, and counts it in the bond. Returns what the
 * program must return: XDP_REDIRECT or TC_ACT_REDIRECT; XDP_DROP or TC_ACT_SHOT if no slave may
 * transmit; XDP_PASS or TC_ACT_UNSPEC for XBOND_NO_BOND, and for XDP frames in several buffers.
 */
static __always_inline int xbond_redirect(XBOND_CONTEXT *ctx, int selected)
{
	return xbond_send_by(ctx, selected, xbond_length(ctx));
}

/* Both. */
static __always_inline int xbond_send(XBOND_CONTEXT *ctx)
{
	__u32 length = xbond_length(ctx);

	return xbond_send_by(ctx, xbond_select_for(ctx, length), length);
}

#include "xbond/own_names.h"

#endif
