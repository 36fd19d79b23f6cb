/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
/*
 * Gives frames to the AF_XDP sockets of a program (libxbond-xsk), by their destination port, their
 * IP address or their type, or by a function of the user, if bond0 would take them for its own
 * host. All else goes on to the bond: LACP, ARP, tagged frames, frames for machines behind a
 * bridge, and whatever comes by a queue without a socket. In libxdp's dispatcher it stands before
 * the bond's own program. Which slave may collect is looked at by the library.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <bpf/bpf_helpers.h>

#include "bfd/bfd_wire.h"
#include "bpf/neighbour.h"
#include "bpf/netdev_read.h"

char _license[] SEC("license") = "GPL";

#define FILTER_QUEUES 256

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, FILTER_QUEUES);
	__type(key, __u32);
	__type(value, __u32);
} sockets SEC(".maps");

/* Of the bond, as it is pinned. */
struct xbond_table table SEC(".data.table");
struct xbond_alb alb SEC(".data.alb");

/* bond0 is entry 0, if it is in the namespace of its slaves. The others make it readable. */
struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, XBOND_MAX_SLAVES);
	__type(key, __u32);
	__type(value, __u32);
} device SEC(".maps");

/* Set before loading. */
const volatile __u32 filter_slot = 0;
const volatile __be16 wanted_type = 0;
const volatile __be16 wanted_ip = 0; /* the packet type of wanted_address */
const volatile __u32 wanted_address[4] = {};
const volatile __u8 wants_ports = 0;
/* A bit for each port. */
const volatile __u8 wanted_ports[65536 / 8] = {};

/* To which UDP or TCP port; 0: to none. */
static __always_inline __u32 filter_port(const struct packet *packet, __be16 type)
{
	__u32 at = type == bpf_htons(ETH_P_IP) ? FLOW_AT_IP4 : FLOW_AT_IP6;
	__u32 payload = flow_payload(packet, ETH_HLEN | at);
	const __be16 *ports = packet->data + (payload & FLOW_AT_OFFSET);
	__u8 protocol = FLOW_PAYLOAD_PROTOCOL(payload);

	if (payload & FLOW_AT_SHORT || (protocol != IPPROTO_UDP && protocol != IPPROTO_TCP) ||
	    (void *)(ports + 2) > packet->end)
		return 0;
	return bpf_ntohs(ports[1]);
}

/* Or no address is asked for. */
static __always_inline int filter_wants_address(const struct packet *packet, __be16 type)
{
	const struct iphdr *ip4 = packet->data + ETH_HLEN;
	const struct ipv6hdr *ip6 = packet->data + ETH_HLEN;

	if (!wanted_ip)
		return 1;
	if (type != wanted_ip)
		return 0;
	if (type == bpf_htons(ETH_P_IP))
		return (void *)(ip4 + 1) <= packet->end && ip4->daddr == wanted_address[0];
	return (void *)(ip6 + 1) <= packet->end &&
	       ip6->daddr.in6_u.u6_addr32[0] == wanted_address[0] &&
	       ip6->daddr.in6_u.u6_addr32[1] == wanted_address[1] &&
	       ip6->daddr.in6_u.u6_addr32[2] == wanted_address[2] &&
	       ip6->daddr.in6_u.u6_addr32[3] == wanted_address[3];
}

static __always_inline int filter_wants(const struct packet *packet)
{
	__be16 type = flow_ether_type(packet->data);
	__u32 port;

	if (type != bpf_htons(ETH_P_IP) && type != bpf_htons(ETH_P_IPV6))
		return wanted_type && type == wanted_type;
	if (!filter_wants_address(packet, type))
		return 0;
	if (!wants_ports)
		return !!wanted_ip;
	port = filter_port(packet, type);
	/* Linux 6.12 does not know what bpf_ntohs() leaves, and the compiler does. */
	asm volatile("" : "+r"(port));
	port &= 0xffff;
	return wanted_ports[port / 8] >> port % 8 & 1;
}

/*
 * What no function of the user gets: LACP and all else to groups that bridges do not forward, ARP
 * and neighbour discovery, micro-BFD, tagged frames.
 */
static __always_inline int filter_is_of_bond(const struct packet *packet)
{
	__be16 type = flow_ether_type(packet->data);

	if (flow_is_link_local(packet->data) || flow_is_vlan(type) || neighbour_is_in(packet))
		return 1;
	return (type == bpf_htons(ETH_P_IP) || type == bpf_htons(ETH_P_IPV6)) &&
	       filter_port(packet, type) == BFD_MICRO_PORT;
}

/* The one of the user, which xsk_filter.c links with this file, takes its place. */
__weak __noinline int xbond_wants(struct xdp_md *ctx)
{
	asm volatile("" : : "r"(ctx));
	return 0;
}

static __always_inline __u64 filter_mac(const volatile void *address)
{
	return (__u64)((const volatile __u16 *)address)[2] << 32 | *(const volatile __u32 *)address;
}

/* The kernel knows it first, and without bondd. */
static __always_inline __u64 filter_bond_mac(void)
{
	__u64 mac = 0;

	if (netdev_is_readable())
		mac = filter_mac(
			NETDEV_CAST(netdev_entry(&device, 0)->dev->dev_addr, struct ethhdr));
	return mac ? mac : filter_mac(&alb.bond_mac);
}

/* Would bond0 take it for its own? balance-alb also has the slave's address there. */
static __always_inline int filter_is_for_bond(const struct ethhdr *eth)
{
	__u64 dest = filter_mac(eth->h_dest);

	return eth->h_dest[0] & 1 || dest == filter_bond_mac() ||
	       (*(volatile __u32 *)&table.flags & XBOND_F_ALB &&
		dest == filter_mac(&alb.mac[filter_slot % XBOND_MAX_SLAVES]));
}

static __always_inline struct packet filter_packet(const struct xdp_md *ctx)
{
	return (struct packet){ .data = (void *)(long)ctx->data,
				.end = (void *)(long)ctx->data_end,
				.vlan_tci = -1 };
}

SEC("xdp.frags")
int xbond_port_filter(struct xdp_md *ctx)
{
	struct packet packet = filter_packet(ctx);
	const struct ethhdr *eth = packet.data;

	if ((void *)(eth + 1) > packet.end || !filter_wants(&packet) || !filter_is_for_bond(eth))
		return XDP_PASS;
	return (int)bpf_redirect_map(&sockets, ctx->rx_queue_index, XDP_PASS);
}

/* With a function of the user. */
SEC("?xdp.frags")
int xbond_port_filter_asks(struct xdp_md *ctx)
{
	struct packet packet = filter_packet(ctx);
	const struct ethhdr *eth = packet.data;

	if ((void *)(eth + 1) > packet.end || filter_is_of_bond(&packet) ||
	    !filter_is_for_bond(eth) || !xbond_wants(ctx))
		return XDP_PASS;
	return (int)bpf_redirect_map(&sockets, ctx->rx_queue_index, XDP_PASS);
}
