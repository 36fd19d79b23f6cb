/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What slaves hear of the hosts that the ARP monitor probes: writes down when, and judges nothing.
 * So a flood costs no more than its frames, and what comes while bondd is busy is not missed.
 * Called by xbond_rx only. XDP leaves such frames to it.
 */
#ifndef XBOND_BPF_PROBE_H
#define XBOND_BPF_PROBE_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "bpf/flow_headers.h"
#include "bpf/maps.h"
#include "bpf/neighbour.h"

#define PROBE_MAX_TAGS 2    /* beside the one that the kernel keeps with the packet */
#define PROBE_HOP_LIMIT 255 /* what comes through a router has less (RFC 4861, 7.1) */

struct xbond_probes probes SEC(".data.probes");

/* The verifier of Linux 6.1 loses the bound that the compiler knows. */
static __always_inline struct xbond_probe_times *probe_times(__u32 slot)
{
	asm volatile("" : "+r"(slot));
	return &probes.times[slot & (XBOND_MAX_SLAVES - 1)];
}

/* Who speaks to whom, as two words each; an IPv4 address is in the first, and the rest is 0. */
struct probe_ends {
	__u64 from[2], to[2];
	__u32 first;	 /* the first target of this address family */
	__u32 is_to_all; /* to all nodes */
	__u8 dest[8];	 /* the frame's */
};

/* Is it a frame for probe_receive()? Whatever has another tag may be. */
static __always_inline int probe_concerns(const struct __sk_buff *skb)
{
	const struct neighbour_headers *headers;
	void *end = (void *)(long)skb->data_end;

	if (skb->protocol == bpf_htons(ETH_P_ARP) || flow_is_vlan((__be16)skb->protocol))
		return 1;
	if (skb->protocol != bpf_htons(ETH_P_IPV6))
		return 0;
	headers = (void *)(long)skb->data + ETH_HLEN;
	return (void *)(headers + 1) > end || neighbour_is_message(headers);
}

static __always_inline int probe_skip_tags(struct __sk_buff *skb, __u32 *offset, __be16 *type)
{
	struct vlan_header tag;

	for (int i = 0; i < PROBE_MAX_TAGS && flow_is_vlan(*type); i++) {
		if (bpf_skb_load_bytes(skb, *offset, &tag, sizeof(tag)))
			return -1;
		*type = tag.type;
		*offset += sizeof(tag);
	}
	return 0;
}

static __always_inline int probe_read_arp(struct __sk_buff *skb, __u32 offset,
					  struct probe_ends *ends)
{
	struct neighbour_arp arp;

	if (bpf_skb_load_bytes(skb, offset, &arp, sizeof(arp)) ||
	    arp.hardware != bpf_htons(NEIGHBOUR_ETHERNET) || arp.protocol != bpf_htons(ETH_P_IP) ||
	    arp.hardware_length != ETH_ALEN || arp.protocol_length != 4)
		return -1;
	__builtin_memcpy(ends->from, arp.sender, 4);
	__builtin_memcpy(ends->to, arp.target, 4);
	return 0;
}

static __always_inline int probe_read_neighbour(struct __sk_buff *skb, __u32 offset,
						struct probe_ends *ends)
{
	struct neighbour_headers headers;

	if (bpf_skb_load_bytes(skb, offset, &headers, sizeof(headers)) ||
	    !neighbour_is_message(&headers) || headers.ip.hop_limit != PROBE_HOP_LIMIT)
		return -1;
	__builtin_memcpy(ends->from, &headers.ip.saddr, 16);
	__builtin_memcpy(ends->to, &headers.ip.daddr, 16);
	ends->first = XBOND_MAX_TARGETS;
	ends->is_to_all = ends->to[0] == bpf_cpu_to_be64(0xff02ULL << 48) &&
			  ends->to[1] == bpf_cpu_to_be64(1);
	return 0;
}

static __always_inline int probe_is(const __u64 *address, const __u8 *other)
{
	return address[0] == *(const __u64 *)other && address[1] == *(const __u64 *)(other + 8);
}

/* ff02::1:ff00:0/104 and the last three bytes of the address (RFC 4291, 2.7.1). */
static __always_inline int probe_is_solicited(const __u64 *group, const __u8 *address)
{
	const __u64 tail = bpf_cpu_to_be64(0xffffff);

	return group[0] == bpf_cpu_to_be64(0xff02ULL << 48) &&
	       (group[1] & ~tail) == bpf_cpu_to_be64(0x1ff000000ULL) &&
	       !((group[1] ^ *(const __u64 *)(address + 8)) & tail);
}

static __always_inline int probe_is_mac(const __u8 *mac, const __u8 *other)
{
	return *(const __be32 *)mac == *(const __be32 *)other &&
	       *(const __be16 *)(mac + 4) == *(const __be16 *)(other + 4);
}

#define PROBE_IS_FROM 1	  /* the target speaks to the sender of its probes */
#define PROBE_IS_TO 2	  /* that sender speaks to the target */
#define PROBE_IS_SENDER 4 /* the frame is addressed to that sender */

/*
 * What a frame is for one target. Global, so that the verifier looks at one target, and not at all
 * of them on every path: loading took half a second.
 */
__noinline __u32 probe_match(const struct probe_ends *ends, __u32 at)
{
	const struct xbond_probe_target *target = &probes.target[at & (XBOND_PROBE_TARGETS - 1)];
	const __u64 none[2] = {};
	__u32 match = 0;

	if (!ends || probe_is(none, target->address))
		return 0;
	if (probe_is(ends->from, target->address) &&
	    (ends->is_to_all || probe_is(ends->to, target->source)))
		match |= PROBE_IS_FROM;
	if (probe_is(ends->from, target->source) &&
	    (probe_is(ends->to, target->address) || probe_is_solicited(ends->to, target->address)))
		match |= PROBE_IS_TO;
	if (probe_is_mac(ends->dest, target->mac))
		match |= PROBE_IS_SENDER;
	return match;
}

/*
 * Is it addressed to the sender of some target's probes, or to everybody? What is for another
 * station has been flooded by a switch, or let in by a promiscuous slave.
 */
static __always_inline int probe_is_for_us(const struct __sk_buff *skb,
					   const struct probe_ends *ends)
{
	__u32 match = skb->pkt_type != PACKET_OTHERHOST ? PROBE_IS_SENDER : 0;

	for (__u32 i = 0; i < XBOND_MAX_TARGETS && !(match & PROBE_IS_SENDER); i++)
		match = probe_match(ends, ends->first + i);
	return match & PROBE_IS_SENDER;
}

/* Global for the same reason. */
__noinline int probe_note(const struct probe_ends *ends, __u32 slot, int is_for_us, __u64 now_ns)
{
	struct xbond_probe_times *times = probe_times(slot);

	if (!ends)
		return 0;
	for (__u32 i = 0; i < XBOND_MAX_TARGETS; i++) {
		__u32 at = (ends->first + i) & (XBOND_PROBE_TARGETS - 1);
		__u32 match = probe_match(ends, at);

		if (is_for_us && match & PROBE_IS_FROM)
			times->from_ns[at] = now_ns;
		if (match & PROBE_IS_TO)
			times->to_ns[at] = now_ns;
	}
	return 0;
}

/* Of frames for which probe_concerns() is true. */
__noinline int probe_receive(struct __sk_buff *skb, __u32 slot)
{
	struct probe_ends ends = {};
	__be16 type = (__be16)skb->protocol;
	__u64 now_ns = bpf_ktime_get_ns();
	__u32 offset = ETH_HLEN;
	int r;

	if (slot >= XBOND_MAX_SLAVES || bpf_skb_load_bytes(skb, 0, ends.dest, ETH_ALEN) ||
	    probe_skip_tags(skb, &offset, &type))
		return 0;
	if (type == bpf_htons(ETH_P_ARP))
		r = probe_read_arp(skb, offset, &ends);
	else
		r = type == bpf_htons(ETH_P_IPV6) ? probe_read_neighbour(skb, offset, &ends) : -1;
	if (r)
		return 0;
	probe_times(slot)->neighbour_ns = now_ns;
	probe_note(&ends, slot, probe_is_for_us(skb, &ends), now_ns);
	return 0;
}

/* A frame that xbond_rx does not count. */
static __always_inline void probe_note_uncounted(__u32 slot)
{
	if (READ_ONCE(table.flags) & XBOND_F_PROBES && slot < XBOND_MAX_SLAVES)
		probe_times(slot)->uncounted_ns = bpf_ktime_get_ns();
}

#endif
