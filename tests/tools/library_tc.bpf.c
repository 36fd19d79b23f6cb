/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The same for TC, in two steps. */
#include <linux/bpf.h>

#define XBOND_SELECT_TC
#include "xbond/select.bpf.h"

char _license[] SEC("license") = "GPL";

SEC("tc")
int sends_as_the_bond(struct __sk_buff *skb)
{
	return xbond_redirect(skb, xbond_select(skb));
}
