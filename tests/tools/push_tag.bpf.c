// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For test_xdp.py: tags what leaves a device with VLAN 7, as a VLAN device does: beside the frame,
 * not in it.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

char _license[] SEC("license") = "GPL";

SEC("tc")
int push_tag(struct __sk_buff *skb)
{
	if (skb->protocol == bpf_htons(ETH_P_IP))
		bpf_skb_vlan_push(skb, bpf_htons(ETH_P_8021Q), 7);
	return TC_ACT_UNSPEC;
}
