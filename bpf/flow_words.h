/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
/*
 * The hash of docs/users/hash.md: how it mixes, and the words that addresses make. Knows packet
 * memory only, so that every hook and user space (bondctl explain) compute the same.
 */
#ifndef XBOND_BPF_FLOW_WORDS_H
#define XBOND_BPF_FLOW_WORDS_H

#include <linux/types.h>
#include <bpf/bpf_endian.h>

#include "bpf/abi.h"

/* The __always_inline of linux/stddef.h is only a hint to the compiler. */
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))

/* Where a packet lies. vlan_tci is the tag that the kernel keeps beside the packet, or -1. */
struct packet {
	void *data;
	void *end;
	__s32 vlan_tci;
};

/* Packet memory ended inside the headers. There may be more outside the linear part. */
#define FLOW_SHORT (-1)

/* What the user has asked for. */
struct flow_rule {
	__u32 policy; /* enum xbond_policy */
	__u32 seed;
	__u32 symmetric;
	__u32 flow_label;
};

/*
 * What an entry point must provide: the parts of the walk that the verifier checks as functions of
 * their own, called with words. They call flow_untagged(), flow_payload() and flow_encap_inner() on
 * its packet.
 */
struct flow_hook {
	void *context;
	__u64 (*untagged_of)(void *context);
	__u32 (*payload_of)(void *context, __u32 at);
	__u32 (*inner_of)(void *context, __u32 payload);
};

static __always_inline __u64 flow_seed(__u32 seed)
{
	return (__u64)seed << 32 | seed;
}

static __always_inline __u64 flow_mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 32;
}

static __always_inline __u64 flow_finish(__u64 hash)
{
	return hash * 0xd6e8feb86659fd93ULL;
}

/* Another bucket for the same packet: turn is 1, 2, 3... */
static __always_inline __u64 flow_again(__u64 hash, __u32 turn)
{
	return flow_finish(hash ^ hash >> 32 ^ turn);
}

#define FLOW_BUCKET(hash) ((hash) >> 52) /* of XBOND_BUCKETS */
#define FLOWLET_OF(hash) ((hash) >> 24 & (XBOND_FLOWLETS - 1))
#define FLOW_TURNS 4 /* further buckets that are tried */

static __always_inline void flow_swap(__u64 *a, __u64 *b)
{
	__u64 kept = *a;

	*a = *b;
	*b = kept;
}

/* IPv4 addresses. */
static __always_inline __u64 flow_addresses4(__u64 hash, __be32 source, __be32 dest,
					     const struct flow_rule *rule)
{
	if (rule->symmetric && source > dest)
		return flow_mix(hash, (__u64)dest << 32 | source);
	return flow_mix(hash, (__u64)source << 32 | dest);
}

struct in6_addr;

static __always_inline __u64 flow_addresses6(__u64 hash, const struct in6_addr *source,
					     const struct in6_addr *dest,
					     const struct flow_rule *rule)
{
	const __u64 *from = (const __u64 *)source, *to = (const __u64 *)dest;
	__u64 word[4] = { from[0], from[1], to[0], to[1] };

	if (rule->symmetric && (word[0] > word[2] || (word[0] == word[2] && word[1] > word[3]))) {
		flow_swap(&word[0], &word[2]);
		flow_swap(&word[1], &word[3]);
	}
	return flow_mix(flow_mix(flow_mix(flow_mix(hash, word[0]), word[1]), word[2]), word[3]);
}

/* Source and destination port as they lie in the packet. */
static __always_inline __u64 flow_port_pair(__u64 hash, __u32 ports, const struct flow_rule *rule)
{
	__u32 exchanged = ports << 16 | ports >> 16;

	if (rule->symmetric && (ports & 0xffff) > (exchanged & 0xffff))
		ports = exchanged;
	return flow_mix(hash, ports);
}

#endif
