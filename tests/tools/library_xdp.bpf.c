/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program of somebody else that does nothing but send as the bond does. */
#include <linux/bpf.h>

#include "xbond/select.bpf.h"

char _license[] SEC("license") = "GPL";

SEC("xdp.frags")
int sends_as_the_bond(struct xdp_md *ctx)
{
	return xbond_send(ctx);
}
