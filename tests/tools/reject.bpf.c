// SPDX-License-Identifier: GPL-2.0-or-later
/* A TC filter that lets no IPv4 through. */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

char _license[] SEC("license") = "GPL";

SEC("tc")
int reject(struct __sk_buff *skb)
{
	return skb->protocol == bpf_htons(ETH_P_IP) ? TC_ACT_SHOT : TC_ACT_UNSPEC;
}
