// SPDX-License-Identifier: GPL-2.0-or-later
/* An XDP filter that lets nothing but ARP and IPv6 through. */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

char _license[] SEC("license") = "GPL";

SEC("xdp.frags")
int discard(struct xdp_md *ctx)
{
	const struct ethhdr *eth = (void *)(long)ctx->data;

	if ((void *)(eth + 1) > (void *)(long)ctx->data_end)
		return XDP_DROP;
	return eth->h_proto == bpf_htons(ETH_P_IP) ? XDP_DROP : XDP_PASS;
}
