/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ARP and neighbour messages by which balance-alb's clients learn an address, and the key of
 * the client. Knows no maps, so that bondctl explain says the same. Whoever includes it defines
 * CLIENTS_CONTEXT, a type of packet, and two functions: clients_load() copies bytes of it, and
 * clients_tag() returns the protocol of the tag beside it and the VLAN, or 0.
 */
#ifndef XBOND_BPF_CLIENTS_MESSAGE_H
#define XBOND_BPF_CLIENTS_MESSAGE_H

#include <linux/icmpv6.h>
#include <linux/if_ether.h>
#include <linux/ipv6.h>

#include "bpf/abi.h"
#include "bpf/flow_headers.h"
#include "bpf/neighbour.h"

#define CLIENTS_INET 2
#define CLIENTS_INET6 10
#define CLIENTS_ARP_REQUEST 1
#define CLIENTS_ARP_REPLY 2
#define CLIENTS_HOP_LIMIT 255 /* RFC 4861, 7.1 */
#define CLIENTS_SOURCE_ADDRESS 1
#define CLIENTS_TARGET_ADDRESS 2

/* Neighbour solicitation or advertisement whose first option is a link-layer address. */
struct clients_discovery {
	struct ipv6hdr ip;
	__u8 type, code;
	__be16 checksum;
	__be32 flags;
	__u8 target[16];
	__u8 option, option_length;
	__u8 mac[ETH_ALEN];
} __attribute__((packed));

/* Who hears a message: the other one, it and perhaps some others, or everybody. */
enum clients_reach { CLIENTS_ONE, CLIENTS_GROUP, CLIENTS_ALL };

struct clients_message {
	struct xbond_client_key key; /* own: the sender, peer: whom it speaks to */
	__u64 mac;		     /* that the sender says it has */
	__u64 dest;		     /* of the frame */
	__u32 mac_at, checksum_at;   /* where they are; 0: no checksum */
	__u32 is_answer;
	enum clients_reach reach;
};

/* A tag of VLAN 0 has a priority only: hosts take such a message as one without a tag. */
static __always_inline void clients_take_vlan(struct xbond_client_key *key, __be16 protocol,
					      __u16 vlan)
{
	key->vlan = vlan;
	key->vlan_protocol = vlan ? protocol : 0;
}

/* Returns where the network header is; 0: behind more than one tag. */
static __always_inline __u32 clients_untag(CLIENTS_CONTEXT *context, struct xbond_client_key *key,
					   __be16 *type)
{
	__be16 words[3], beside;
	__u16 vlan = 0;

	if (clients_load(context, 2 * ETH_ALEN, words, sizeof(words)))
		return 0;
	*type = words[0];
	beside = clients_tag(context, &vlan);
	if (!flow_is_vlan(words[0])) {
		clients_take_vlan(key, beside, vlan);
		return ETH_HLEN;
	}
	if (beside || flow_is_vlan(words[2]))
		return 0;
	clients_take_vlan(key, words[0], bpf_ntohs(words[1]) & VLAN_VID_MASK);
	*type = words[2];
	return ETH_HLEN + sizeof(struct vlan_header);
}

static __always_inline int clients_read_arp(CLIENTS_CONTEXT *context, __u32 at,
					    struct clients_message *message)
{
	struct neighbour_arp arp;

	if (clients_load(context, at, &arp, sizeof(arp)) ||
	    arp.hardware != bpf_htons(NEIGHBOUR_ETHERNET) || arp.protocol != bpf_htons(ETH_P_IP) ||
	    arp.hardware_length != ETH_ALEN || arp.protocol_length != 4 ||
	    (arp.operation != bpf_htons(CLIENTS_ARP_REQUEST) &&
	     arp.operation != bpf_htons(CLIENTS_ARP_REPLY)))
		return -1;
	message->key.family = CLIENTS_INET;
	__builtin_memcpy(message->key.own, arp.sender, sizeof(arp.sender));
	__builtin_memcpy(message->key.peer, arp.target, sizeof(arp.target));
	message->mac = tlb_mac_of(arp.sender_mac);
	message->mac_at = at + __builtin_offsetof(struct neighbour_arp, sender_mac);
	message->is_answer = arp.operation == bpf_htons(CLIENTS_ARP_REPLY);
	message->reach = message->dest & 1 ? CLIENTS_ALL : CLIENTS_ONE;
	return 0;
}

static __always_inline int clients_discovery_is_valid(const struct clients_discovery *discovery)
{
	__u8 option = discovery->type == NEIGHBOUR_ADVERTISEMENT ? CLIENTS_TARGET_ADDRESS
								 : CLIENTS_SOURCE_ADDRESS;

	return discovery->ip.nexthdr == IPPROTO_ICMPV6 &&
	       discovery->ip.hop_limit == CLIENTS_HOP_LIMIT && !discovery->code &&
	       (discovery->type == NEIGHBOUR_ADVERTISEMENT ||
		discovery->type == NEIGHBOUR_SOLICITATION) &&
	       bpf_ntohs(discovery->ip.payload_len) >= sizeof(*discovery) - sizeof(discovery->ip) &&
	       discovery->option == option && discovery->option_length == 1;
}

static __always_inline int clients_read_discovery(CLIENTS_CONTEXT *context, __u32 at,
						  struct clients_message *message)
{
	struct clients_discovery discovery;

	if (clients_load(context, at, &discovery, sizeof(discovery)) ||
	    !clients_discovery_is_valid(&discovery))
		return -1;
	message->key.family = CLIENTS_INET6;
	message->is_answer = discovery.type == NEIGHBOUR_ADVERTISEMENT;
	if (message->is_answer) {
		__builtin_memcpy(message->key.own, discovery.target, 16);
		__builtin_memcpy(message->key.peer, &discovery.ip.daddr, 16);
		message->reach = message->dest & 1 ? CLIENTS_ALL : CLIENTS_ONE;
	} else {
		__builtin_memcpy(message->key.own, &discovery.ip.saddr, 16);
		__builtin_memcpy(message->key.peer, discovery.target, 16);
		message->reach = message->dest & 1 ? CLIENTS_GROUP : CLIENTS_ONE;
	}
	message->mac = tlb_mac_of(discovery.mac);
	message->mac_at = at + __builtin_offsetof(struct clients_discovery, mac);
	message->checksum_at = at + __builtin_offsetof(struct clients_discovery, checksum);
	return 0;
}

/* Returns 0 if it is a message that tells its sender's address. */
static __always_inline int clients_read(CLIENTS_CONTEXT *context, struct clients_message *message)
{
	__be16 type = 0;
	__u32 at;

	if (clients_load(context, 0, &message->dest, ETH_ALEN))
		return -1;
	at = clients_untag(context, &message->key, &type);
	if (!at)
		return -1;
	if (type == bpf_htons(ETH_P_ARP))
		return clients_read_arp(context, at, message);
	return type == bpf_htons(ETH_P_IPV6) ? clients_read_discovery(context, at, message) : -1;
}

static __always_inline int clients_is_none(const __u8 *address)
{
	const __u64 *words = (const void *)address;

	return !(words[0] | words[1]);
}

static __always_inline int clients_is_same(const __u8 *address, const __u8 *other)
{
	const __u64 *a = (const void *)address, *b = (const void *)other;

	return !((a[0] ^ b[0]) | (a[1] ^ b[1]));
}

#endif
