/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
/*
 * Gives UDP and TCP packets to the AF_XDP sockets of a program (libxbond-xsk), by their destination
 * port. All else goes on to the bond: LACP, ARP, fragments, tagged frames, and whatever comes by a
 * queue without a socket. In libxdp's dispatcher it stands before the bond's own program. Which
 * slave may collect is looked at by the library.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <bpf/bpf_helpers.h>

#include "bpf/flow_headers.h"

char _license[] SEC("license") = "GPL";

#define FILTER_QUEUES 256

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, FILTER_QUEUES);
	__type(key, __u32);
	__type(value, __u32);
} sockets SEC(".maps");

/* Set before loading: a bit for each port. */
const volatile __u8 wanted_ports[65536 / 8] = {};

static __always_inline int filter_wants(const struct packet *packet, __u32 payload)
{
	const __be16 *ports = packet->data + (payload & FLOW_AT_OFFSET);
	__u8 protocol = FLOW_PAYLOAD_PROTOCOL(payload);
	__u16 port;

	if (payload & FLOW_AT_SHORT || (protocol != IPPROTO_UDP && protocol != IPPROTO_TCP) ||
	    (void *)(ports + 2) > packet->end)
		return 0;
	port = bpf_ntohs(ports[1]);
	return wanted_ports[port / 8] >> port % 8 & 1;
}

SEC("xdp.frags")
int xbond_port_filter(struct xdp_md *ctx)
{
	struct packet packet = { .data = (void *)(long)ctx->data,
				 .end = (void *)(long)ctx->data_end,
				 .vlan_tci = -1 };
	const struct ethhdr *eth = packet.data;
	__u32 at = ETH_HLEN;

	if ((void *)(eth + 1) > packet.end)
		return XDP_PASS;
	if (flow_ether_type(eth) == bpf_htons(ETH_P_IP))
		at |= FLOW_AT_IP4;
	else if (flow_ether_type(eth) == bpf_htons(ETH_P_IPV6))
		at |= FLOW_AT_IP6;
	else
		return XDP_PASS;
	if (!filter_wants(&packet, flow_payload(&packet, at)))
		return XDP_PASS;
	return (int)bpf_redirect_map(&sockets, ctx->rx_queue_index, XDP_PASS);
}
