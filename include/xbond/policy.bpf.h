/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For policies of the user: functions that choose the slave of each packet that a bond sends.
 * docs/developers/policy.md says how to build, load and test one.
 *
 *   #include <xbond/policy.bpf.h>
 *
 *   XBOND_POLICY(by_vlan)
 *   {
 *           return packet->vlan < 0 ? XBOND_DEFAULT : xbond_hash(packet->vlan);
 *   }
 *
 *   char _license[] SEC("license") = "GPL";
 *
 * The function is compiled twice, as a program for TC and as one for XDP. It has two arguments:
 *
 *   const struct xbond_packet *packet        the packet
 *   const struct xbond_question *question    its hash, and the slots that may transmit
 *
 * and returns XBOND_DEFAULT, xbond_hash() or xbond_take_hash(), or xbond_slot(). It may have maps
 * of its own. It must not change the packet, and does not send it.
 */
#ifndef XBOND_POLICY_BPF_H
#define XBOND_POLICY_BPF_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/types.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "bpf/abi_policy.h"

struct xbond_packet {
	/*
	 * What can be read directly, from the Ethernet header on. It may be less than the packet
	 * has. Compare with `end` before each read, or use xbond_load().
	 */
	const void *data, *end;
	__s32 vlan;    /* the VLAN of the outermost tag; -1: untagged */
	__u16 type;    /* what follows the tags: ETH_P_IP, ETH_P_IPV6, ... */
	__u16 network; /* where that begins, in bytes from data */
	void *context; /* for xbond_load() */
	int is_xdp;
};

/* The bond decides, by xmit_hash_policy. */
#define XBOND_DEFAULT ((__u64)XBOND_ANSWER_DEFAULT)

/*
 * The slot of a slave, which `bondctl policy show BOND` prints. If it may not transmit, the packet
 * takes another.
 */
static __always_inline __u64 xbond_slot(__u32 slot)
{
	return (__u64)slot << 2 | XBOND_ANSWER_SLOT;
}

/* A hash, such as question->hash. Its highest 12 bits are the bucket; weights are kept. */
static __always_inline __u64 xbond_take_hash(__u64 hash)
{
	return (hash & ~(__u64)XBOND_ANSWER_KIND) | XBOND_ANSWER_HASH;
}

/* Distributes numbers evenly over all bits. */
static __always_inline __u64 xbond_mix(__u64 number)
{
	number *= 0x9e3779b97f4a7c15ULL;
	number ^= number >> 32;
	number *= 0xd6e8feb86659fd93ULL;
	return number ^ number >> 29;
}

/* What has the same number takes the same slave: a VLAN, a tunnel, an address. */
static __always_inline __u64 xbond_hash(__u64 number)
{
	return xbond_take_hash(xbond_mix(number));
}

/*
 * Copies size bytes of the packet, from offset on, wherever they are in memory. size must be a
 * constant. Returns 0, or a negative number if the packet has no such bytes.
 */
static __always_inline long xbond_load(const struct xbond_packet *packet, __u32 offset,
				       void *ret_bytes, __u32 size)
{
	if (packet->is_xdp)
		return bpf_xdp_load_bytes(packet->context, offset, ret_bytes, size);
	return bpf_skb_load_bytes(packet->context, offset, ret_bytes, size);
}

/* From here on: what XBOND_POLICY() needs. */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct xbond_question);
} XBOND_POLICY_QUESTION SEC(".maps");

struct xbond_tag {
	__be16 tci, type;
};

/* At most three tags are looked behind, with the one that is beside the packet. */
static __always_inline void xbond_untag(struct xbond_packet *packet)
{
	const struct ethhdr *eth = packet->data;
	int most = packet->vlan < 0 ? 3 : 2;
	__be16 type;

	packet->network = sizeof(*eth);
	packet->type = 0;
	if ((const void *)(eth + 1) > packet->end)
		return;
	type = eth->h_proto;
	for (int i = 0; i < 3; i++) {
		const struct xbond_tag *tag = packet->data + packet->network;

		if (i == most ||
		    (type != bpf_htons(ETH_P_8021Q) && type != bpf_htons(ETH_P_8021AD)) ||
		    (const void *)(tag + 1) > packet->end)
			break;
		if (packet->vlan < 0)
			packet->vlan = bpf_ntohs(tag->tci) & 0xfff;
		type = tag->type;
		packet->network += sizeof(*tag);
	}
	packet->type = bpf_ntohs(type);
}

/* Returns NULL if there is no question, which the verifier cannot rule out. */
static __always_inline const struct xbond_question *xbond_prepare(struct xbond_packet *packet)
{
	__u32 key = 0;

	xbond_untag(packet);
	return bpf_map_lookup_elem(&XBOND_POLICY_QUESTION, &key);
}

#define XBOND_POLICY(name)                                                                 \
	static __always_inline __u64 name##_answer(const struct xbond_packet *packet,      \
						   const struct xbond_question *question); \
	SEC("tc")                                                                          \
	__u64 name(struct __sk_buff *skb)                                                  \
	{                                                                                  \
		struct xbond_packet packet = {                                             \
			.data = (void *)(long)skb->data,                                   \
			.end = (void *)(long)skb->data_end,                                \
			.vlan = skb->vlan_present ? (__s32)(skb->vlan_tci & 0xfff) : -1,   \
			.context = skb,                                                    \
		};                                                                         \
		const struct xbond_question *question = xbond_prepare(&packet);            \
                                                                                           \
		return question ? name##_answer(&packet, question) : XBOND_DEFAULT;        \
	}                                                                                  \
	SEC("xdp.frags")                                                                   \
	__u64 name##_xdp(struct xdp_md *ctx)                                               \
	{                                                                                  \
		struct xbond_packet packet = {                                             \
			.data = (void *)(long)ctx->data,                                   \
			.end = (void *)(long)ctx->data_end,                                \
			.vlan = -1,                                                        \
			.context = ctx,                                                    \
			.is_xdp = 1,                                                       \
		};                                                                         \
		const struct xbond_question *question = xbond_prepare(&packet);            \
                                                                                           \
		return question ? name##_answer(&packet, question) : XBOND_DEFAULT;        \
	}                                                                                  \
	static __always_inline __u64 name##_answer(                                        \
		const struct xbond_packet *packet __attribute__((unused)),                 \
		const struct xbond_question *question __attribute__((unused)))

#endif
