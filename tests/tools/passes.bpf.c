// SPDX-License-Identifier: GPL-2.0-or-later
/* Somebody's XDP program that lets all pass. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char _license[] SEC("license") = "GPL";

SEC("xdp")
int passes(struct xdp_md *ctx)
{
	(void)ctx;
	return XDP_PASS;
}
