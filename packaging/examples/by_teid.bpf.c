// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A policy: packets of GTP-U (3GPP TS 29.281), over IPv4 or IPv6, are distributed by the tunnel
 * endpoint identifier, so that the packets of one tunnel stay in order. Everything else goes on as
 * xmit_hash_policy says, also fragments: only the first of a packet has the identifier.
 */
#include <xbond/policy.bpf.h>

#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>

#define GTP_PORT 2152
#define GTP_VERSION_1 0x30 /* version 1, GTP */
#define GTP_VERSION_MASK 0xf0
#define IP_FRAGMENT 0x3fff /* bits of frag_off: more fragments follow, or where it belongs */

struct gtp {
	struct udphdr udp;
	__u8 flags, message;
	__be16 length;
	__be32 teid;
};

/* Where UDP begins; 0: nowhere. */
static __always_inline __u32 udp_of(const struct xbond_packet *packet)
{
	struct ipv6hdr ip6;
	struct iphdr ip4;

	if (packet->type == ETH_P_IP) {
		if (xbond_load(packet, packet->network, &ip4, sizeof(ip4)) ||
		    ip4.protocol != IPPROTO_UDP || ip4.frag_off & bpf_htons(IP_FRAGMENT))
			return 0;
		return packet->network + ip4.ihl * 4;
	}
	if (packet->type != ETH_P_IPV6 || xbond_load(packet, packet->network, &ip6, sizeof(ip6)))
		return 0;
	return ip6.nexthdr == IPPROTO_UDP ? packet->network + sizeof(ip6) : 0;
}

XBOND_POLICY(by_teid)
{
	__u32 at = udp_of(packet);
	struct gtp gtp;

	if (!at || xbond_load(packet, at, &gtp, sizeof(gtp)) ||
	    gtp.udp.dest != bpf_htons(GTP_PORT) || (gtp.flags & GTP_VERSION_MASK) != GTP_VERSION_1)
		return XBOND_DEFAULT;
	return xbond_hash(gtp.teid);
}

char _license[] SEC("license") = "GPL";
