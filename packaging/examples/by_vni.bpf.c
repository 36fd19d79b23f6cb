/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
/*
 * For options.function of libxbond-xsk: VXLAN networks that are in the map `vnis` are received by
 * the program, the others are the bond's. To add network 42, on all slaves at once:
 *
 *   bpftool map update pinned /sys/fs/bpf/vnis key 42 0 0 0 value 1
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#define VXLAN_PORT 4789

struct vxlan {
	struct ethhdr eth;
	struct iphdr ip;
	struct udphdr udp;
	__be32 flags, vni;
} __attribute__((packed));

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, __u32);
	__type(value, __u8);
} vnis SEC(".maps");

int xbond_wants(struct xdp_md *ctx)
{
	const struct vxlan *frame = (void *)(long)ctx->data;
	__u32 vni;

	if ((void *)(frame + 1) > (void *)(long)ctx->data_end ||
	    frame->eth.h_proto != bpf_htons(ETH_P_IP) || frame->ip.ihl != 5 ||
	    frame->ip.protocol != IPPROTO_UDP || frame->udp.dest != bpf_htons(VXLAN_PORT))
		return 0;
	vni = bpf_ntohl(frame->vni) >> 8;
	return bpf_map_lookup_elem(&vnis, &vni) != NULL;
}
