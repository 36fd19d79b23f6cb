/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ARP, neighbour solicitation and advertisement (RFC 4861), which broadcast_neighbor sends by every
 * port, and their headers. For whoever makes these accessible.
 */
#ifndef XBOND_BPF_NEIGHBOUR_H
#define XBOND_BPF_NEIGHBOUR_H

#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ipv6.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#define NEIGHBOUR_ETHERNET 1 /* the hardware of ARP and RARP */
#define NEIGHBOUR_SOLICITATION 135
#define NEIGHBOUR_ADVERTISEMENT 136

/* Behind the Ethernet header of ARP (RFC 826) and RARP (RFC 903) over Ethernet and IPv4. */
struct neighbour_arp {
	__be16 hardware, protocol;
	__u8 hardware_length, protocol_length;
	__be16 operation;
	__u8 sender_mac[ETH_ALEN];
	__u8 sender[4];
	__u8 target_mac[ETH_ALEN];
	__u8 target[4];
} __attribute__((packed));

/* What is looked at behind the Ethernet header of an IPv6 packet. */
struct neighbour_headers {
	struct ipv6hdr ip;
	__u8 type; /* of ICMPv6 */
} __attribute__((packed));

static __always_inline int neighbour_is_message(const struct neighbour_headers *headers)
{
	return headers->ip.nexthdr == IPPROTO_ICMPV6 && (headers->type == NEIGHBOUR_SOLICITATION ||
							 headers->type == NEIGHBOUR_ADVERTISEMENT);
}

#endif
