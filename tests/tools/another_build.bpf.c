// SPDX-License-Identifier: GPL-2.0-or-later
/* For test_xdp_beside.py: xbond's program on slaves, by its name, but of another build. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char _license[] SEC("license") = "GPL";

SEC("xdp.frags")
int xbond_xdp_rx(struct xdp_md *ctx)
{
	(void)ctx;
	return XDP_PASS;
}
