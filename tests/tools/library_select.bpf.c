/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program of somebody else that returns what xbond_select() answers. */
#include <linux/bpf.h>

#include "xbond/select.bpf.h"

char _license[] SEC("license") = "GPL";

SEC("xdp.frags")
int answers(struct xdp_md *ctx)
{
	return xbond_select(ctx);
}
