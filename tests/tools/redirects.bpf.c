// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For tests/bench: XDP programs that redirect to one device, or by a port to one of four. A map of
 * a device for each, so that all work at a time.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#define DEVMAP(name, size)                         \
	struct {                                   \
		__uint(type, BPF_MAP_TYPE_DEVMAP); \
		__uint(max_entries, size);         \
		__type(key, __u32);                \
		__type(value, __u32);              \
	} name SEC(".maps")

char _license[] SEC("license") = "GPL";

DEVMAP(to, 1);
DEVMAP(to_pair, 1);
DEVMAP(to_tc, 1);
DEVMAP(among, 4);

SEC("xdp.frags")
int fixed(struct xdp_md *ctx)
{
	(void)ctx;
	return bpf_redirect_map(&to, 0, XDP_DROP);
}

SEC("xdp.frags")
int pair(struct xdp_md *ctx)
{
	(void)ctx;
	return bpf_redirect_map(&to_pair, 0, XDP_DROP);
}

SEC("xdp.frags")
int tc(struct xdp_md *ctx)
{
	(void)ctx;
	return bpf_redirect_map(&to_tc, 0, XDP_DROP);
}

SEC("xdp.frags")
int spread(struct xdp_md *ctx)
{
	const unsigned char *udp = (void *)(long)ctx->data + 34;

	if ((void *)(udp + 1) > (void *)(long)ctx->data_end)
		return XDP_DROP;
	return bpf_redirect_map(&among, *udp & 3, XDP_DROP);
}

SEC("xdp.frags")
int drops(struct xdp_md *ctx)
{
	(void)ctx;
	return XDP_DROP;
}

SEC("xdp.frags")
int passes(struct xdp_md *ctx)
{
	(void)ctx;
	return XDP_PASS;
}
