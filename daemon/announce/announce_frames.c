/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The frames of announcements, for announce.c. Knows no devices: makes bytes, and sends them. */
#include "daemon/announce/announce.h"

#include <arpa/inet.h>
#include <net/ethernet.h>
#include <netinet/icmp6.h>
#include <netinet/if_ether.h>
#include <netinet/igmp.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <string.h>

#include "bpf/abi.h"
#include "network/packet.h"

/* RFC 4861, 4.4, with the target's link-layer address. */
struct advertisement {
	struct ether_header eth;
	struct ip6_hdr ip;
	struct nd_neighbor_advert advert;
	struct nd_opt_hdr option;
	uint8_t mac[XBOND_MAC_SIZE];
} __attribute__((packed));

static const uint8_t broadcast[XBOND_MAC_SIZE] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
static const uint8_t all_nodes_mac[XBOND_MAC_SIZE] = { 0x33, 0x33, 0, 0, 0, 1 };
static const uint8_t all_nodes[16] = { 0xff, 0x02, [15] = 1 };

static void announce_fill_eth(const struct announce_sender *sender, struct ether_header *eth,
			      const uint8_t *to, uint16_t type)
{
	memcpy(eth->ether_dhost, to, XBOND_MAC_SIZE);
	memcpy(eth->ether_shost, sender->mac, XBOND_MAC_SIZE);
	eth->ether_type = htons(type);
}

static void announce_send_arp(const struct announce_sender *sender, uint16_t type,
			      uint16_t operation, const uint8_t *address)
{
	struct {
		struct ether_header eth;
		struct ether_arp arp;
	} __attribute__((packed)) plain = {
		.arp = packet_arp(operation, sender->mac, address, address),
	};
	struct {
		struct ether_header eth;
		uint16_t tci, type;
		struct ether_arp arp;
	} __attribute__((packed))
	tagged = { .tci = htons(sender->vlan), .type = htons(type), .arp = plain.arp };

	announce_fill_eth(sender, &plain.eth, broadcast, type);
	announce_fill_eth(sender, &tagged.eth, broadcast, sender->tag_protocol);
	if (sender->vlan)
		packet_send(sender->fd, sender->ifindex, &tagged, sizeof(tagged));
	else
		packet_send(sender->fd, sender->ifindex, &plain, sizeof(plain));
}

void announce_arp(const struct announce_sender *sender, const uint8_t address[4])
{
	announce_send_arp(sender, ETHERTYPE_ARP, ARPOP_REQUEST, address);
}

void announce_rarp(const struct announce_sender *sender)
{
	static const uint8_t none[4];

	announce_send_arp(sender, ETHERTYPE_REVARP, ARPOP_RREQUEST, none);
}

void announce_advertisement(const struct announce_sender *sender, const uint8_t address[16],
			    int flags)
{
	struct advertisement frame = { 0 };
	size_t length = sizeof(frame) - offsetof(struct advertisement, advert);

	announce_fill_eth(sender, &frame.eth, all_nodes_mac, ETHERTYPE_IPV6);
	frame.ip.ip6_flow = htonl(6u << 28);
	frame.ip.ip6_plen = htons((uint16_t)length);
	frame.ip.ip6_nxt = IPPROTO_ICMPV6;
	frame.ip.ip6_hlim = 255;
	memcpy(&frame.ip.ip6_src, address, 16);
	memcpy(&frame.ip.ip6_dst, all_nodes, 16);
	frame.advert.nd_na_type = ND_NEIGHBOR_ADVERT;
	frame.advert.nd_na_flags_reserved = (flags & ANNOUNCE_ROUTER ? ND_NA_FLAG_ROUTER : 0) |
					    (flags & ANNOUNCE_OVERRIDE ? ND_NA_FLAG_OVERRIDE : 0);
	memcpy(&frame.advert.nd_na_target, address, 16);
	frame.option.nd_opt_type = ND_OPT_TARGET_LINKADDR;
	frame.option.nd_opt_len = 1;
	memcpy(frame.mac, sender->mac, XBOND_MAC_SIZE);
	frame.advert.nd_na_cksum = checksum_icmp6(&frame.ip.ip6_src, &frame.advert, length);
	packet_send(sender->fd, sender->ifindex, &frame, sizeof(frame));
}

struct igmp_report {
	struct ether_header eth;
	struct iphdr ip;
	uint8_t router_alert[4];
	struct igmp igmp;
} __attribute__((packed));

struct mld_report {
	struct ether_header eth;
	struct ip6_hdr ip;
	uint8_t hop_by_hop[8];
	struct mld_hdr mld;
} __attribute__((packed));

void announce_group_ipv4(const struct announce_sender *sender, const uint8_t source[4],
			 const uint8_t group[4])
{
	static const uint8_t router_alert[4] = { 0x94, 4, 0, 0 };
	const uint8_t mac[XBOND_MAC_SIZE] = {
		0x01, 0x00, 0x5e, group[1] & 0x7f, group[2], group[3]
	};
	struct igmp_report frame = { 0 };

	announce_fill_eth(sender, &frame.eth, mac, ETHERTYPE_IP);
	frame.ip.version = 4;
	frame.ip.ihl = (sizeof(frame.ip) + sizeof(router_alert)) / 4;
	frame.ip.tos = IPTOS_CLASS_CS6;
	frame.ip.tot_len = htons(sizeof(frame) - sizeof(frame.eth));
	frame.ip.ttl = 1;
	frame.ip.protocol = IPPROTO_IGMP;
	memcpy(&frame.ip.saddr, source, 4);
	memcpy(&frame.ip.daddr, group, 4);
	memcpy(frame.router_alert, router_alert, sizeof(router_alert));
	frame.ip.check =
		checksum_end(checksum_add(0, &frame.ip, sizeof(frame.ip) + sizeof(router_alert)));
	frame.igmp.igmp_type = IGMP_V2_MEMBERSHIP_REPORT;
	memcpy(&frame.igmp.igmp_group, group, 4);
	frame.igmp.igmp_cksum = checksum_end(checksum_add(0, &frame.igmp, sizeof(frame.igmp)));
	packet_send(sender->fd, sender->ifindex, &frame, sizeof(frame));
}

void announce_group_ipv6(const struct announce_sender *sender, const uint8_t source[16],
			 const uint8_t group[16])
{
	/* Router alert: MLD. */
	static const uint8_t hop_by_hop[8] = { IPPROTO_ICMPV6, 0, 5, 2, 0, 0, 1, 0 };
	const uint8_t mac[XBOND_MAC_SIZE] = {
		0x33, 0x33, group[12], group[13], group[14], group[15]
	};
	struct mld_report frame = { 0 };

	announce_fill_eth(sender, &frame.eth, mac, ETHERTYPE_IPV6);
	frame.ip.ip6_flow = htonl(6u << 28);
	frame.ip.ip6_plen = htons(sizeof(hop_by_hop) + sizeof(frame.mld));
	frame.ip.ip6_nxt = IPPROTO_HOPOPTS;
	frame.ip.ip6_hlim = 1;
	memcpy(&frame.ip.ip6_src, source, 16);
	memcpy(&frame.ip.ip6_dst, group, 16);
	memcpy(frame.hop_by_hop, hop_by_hop, sizeof(hop_by_hop));
	frame.mld.mld_type = MLD_LISTENER_REPORT;
	memcpy(&frame.mld.mld_addr, group, 16);
	frame.mld.mld_cksum = checksum_icmp6(&frame.ip.ip6_src, &frame.mld, sizeof(frame.mld));
	packet_send(sender->fd, sender->ifindex, &frame, sizeof(frame));
}
