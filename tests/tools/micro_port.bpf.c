// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For test_bfd_others.py: BFD of hosts that know only the port of single-hop BFD (RFC 5881) looks
 * like micro-BFD on the wire. to_micro is for what such a host sends, to_usual for what it gets.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/pkt_cls.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#define USUAL bpf_htons(3784)
#define MICRO bpf_htons(6784)
#define AT_UDP (ETH_HLEN + sizeof(struct iphdr))

char _license[] SEC("license") = "GPL";

static __always_inline int rewrite(struct __sk_buff *skb, __be16 from, __be16 to)
{
	__u8 protocol = 0;
	__be16 port = 0;

	if (skb->protocol != bpf_htons(ETH_P_IP) ||
	    bpf_skb_load_bytes(skb, ETH_HLEN + 9, &protocol, 1) || protocol != IPPROTO_UDP ||
	    bpf_skb_load_bytes(skb, AT_UDP + 2, &port, 2) || port != from)
		return TC_ACT_UNSPEC;
	bpf_l4_csum_replace(skb, AT_UDP + 6, from, to, 2);
	bpf_skb_store_bytes(skb, AT_UDP + 2, &to, 2, 0);
	return TC_ACT_UNSPEC;
}

SEC("tc/to_micro")
int to_micro(struct __sk_buff *skb)
{
	return rewrite(skb, USUAL, MICRO);
}

SEC("tc/to_usual")
int to_usual(struct __sk_buff *skb)
{
	return rewrite(skb, MICRO, USUAL);
}
