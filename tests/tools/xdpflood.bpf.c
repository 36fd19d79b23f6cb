// SPDX-License-Identifier: GPL-2.0-or-later
/* For xdpflood.c: frames of a map by turns, redirected to a device. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char _license[] SEC("license") = "GPL";

struct frame {
	__u64 word[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 8192);
	__type(key, __u32);
	__type(value, struct frame);
} frames SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} to SEC(".maps");

const volatile __u32 count = 1; /* of the frames */
__u32 turn;

SEC("xdp")
int xdpflood(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u32 key = turn++ % count;
	struct frame *frame = bpf_map_lookup_elem(&frames, &key);

	if (!frame || data + sizeof(*frame) > end)
		return XDP_DROP;
	__builtin_memcpy(data, frame, sizeof(*frame));
	return bpf_redirect_map(&to, 0, XDP_DROP);
}
