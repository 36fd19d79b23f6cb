// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A router in XDP, for the devices by which packets come: what the kernel's routes send by a bond
 * leaves by the slave that the bond would choose. Everything else passes to the stack. route.c
 * loads it. Build it:
 *
 *   clang -O2 -g -ffreestanding -target bpf -mcpu=v3 -I/usr/include/$(uname -m)-linux-gnu \
 *       -c route.bpf.c -o route.bpf.o
 */
#include <linux/bpf.h>
#include <xbond/select.bpf.h>

char _license[] SEC("license") = "GPL";

#define FAMILY_INET 2
#define FAMILY_INET6 10

const volatile __u32 bond_ifindex SEC(".rodata.route"); /* set by the loader */

/* By the ifindex of a device: its address. Written by the loader. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u32);
	__type(value, __u16[ETH_ALEN / 2]);
} route_macs SEC(".maps");

/* What a switch floods, or sends to many, may be another router's: the stack knows. */
static __always_inline int route_is_for_us(struct xdp_md *ctx, const struct ethhdr *eth)
{
	const __u16 *dest = (const void *)eth->h_dest, *mac;
	__u32 ifindex = ctx->ingress_ifindex;

	mac = bpf_map_lookup_elem(&route_macs, &ifindex);
	return mac && dest[0] == mac[0] && dest[1] == mac[1] && dest[2] == mac[2];
}

/* RFC 1624, for the one field that changes. */
static __always_inline void route_age(struct iphdr *ip)
{
	__u32 check = ip->check;

	check += bpf_htons(0x0100);
	ip->check = (__u16)(check + (check >= 0xffff));
	ip->ttl--;
}

/* Returns 0 if the packet is one to be forwarded. */
static __always_inline int route_ask4(struct bpf_fib_lookup *ask, struct iphdr *ip, void *end)
{
	if ((void *)(ip + 1) > end || ip->ihl != 5 || ip->ttl <= 1)
		return -1;
	ask->family = FAMILY_INET;
	ask->l4_protocol = ip->protocol;
	ask->tos = ip->tos;
	ask->tot_len = bpf_ntohs(ip->tot_len);
	ask->ipv4_src = ip->saddr;
	ask->ipv4_dst = ip->daddr;
	return 0;
}

static __always_inline int route_ask6(struct bpf_fib_lookup *ask, struct ipv6hdr *ip, void *end)
{
	if ((void *)(ip + 1) > end || ip->hop_limit <= 1)
		return -1;
	ask->family = FAMILY_INET6;
	ask->l4_protocol = ip->nexthdr;
	ask->tot_len = bpf_ntohs(ip->payload_len);
	__builtin_memcpy(ask->ipv6_src, &ip->saddr, sizeof(ask->ipv6_src));
	__builtin_memcpy(ask->ipv6_dst, &ip->daddr, sizeof(ask->ipv6_dst));
	return 0;
}

SEC("xdp.frags")
int route(struct xdp_md *ctx)
{
	void *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = (void *)(long)ctx->data;
	struct bpf_fib_lookup ask = { .ifindex = ctx->ingress_ifindex };
	int six, refused = -1;

	if ((void *)(eth + 1) > end || !route_is_for_us(ctx, eth) || !xbond_may_send(ctx))
		return XDP_PASS;
	six = eth->h_proto == bpf_htons(ETH_P_IPV6);
	if (six)
		refused = route_ask6(&ask, (void *)(eth + 1), end);
	else if (eth->h_proto == bpf_htons(ETH_P_IP))
		refused = route_ask4(&ask, (void *)(eth + 1), end);
	if (refused || bpf_fib_lookup(ctx, &ask, sizeof(ask), 0) != BPF_FIB_LKUP_RET_SUCCESS ||
	    ask.ifindex != bond_ifindex)
		return XDP_PASS;
	if (six)
		((struct ipv6hdr *)(eth + 1))->hop_limit--;
	else
		route_age((void *)(eth + 1));
	__builtin_memcpy(eth->h_dest, ask.dmac, ETH_ALEN);
	__builtin_memcpy(eth->h_source, ask.smac, ETH_ALEN);
	return xbond_send(ctx);
}
