/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/announce/announce_frames.h"

#include <arpa/inet.h>
#include <net/ethernet.h>
#include <netinet/icmp6.h>
#include <netinet/if_ether.h>
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
	} __attribute__((packed)) frame = { 0 };

	announce_fill_eth(sender, &frame.eth, broadcast, type);
	frame.arp.ea_hdr.ar_hrd = htons(ARPHRD_ETHER);
	frame.arp.ea_hdr.ar_pro = htons(ETHERTYPE_IP);
	frame.arp.ea_hdr.ar_hln = XBOND_MAC_SIZE;
	frame.arp.ea_hdr.ar_pln = 4;
	frame.arp.ea_hdr.ar_op = htons(operation);
	memcpy(frame.arp.arp_sha, sender->mac, XBOND_MAC_SIZE);
	memcpy(frame.arp.arp_spa, address, 4);
	memcpy(frame.arp.arp_tpa, address, 4);
	if (operation == ARPOP_RREQUEST)
		memcpy(frame.arp.arp_tha, sender->mac, XBOND_MAC_SIZE);
	packet_send(sender->fd, sender->ifindex, &frame, sizeof(frame));
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

/* The checksum of ICMPv6 covers its pseudo header (RFC 4443, 2.3). */
static uint16_t announce_checksum(const struct advertisement *frame, size_t length)
{
	uint32_t sum = (uint32_t)length + IPPROTO_ICMPV6;

	sum = checksum_add(sum, &frame->ip.ip6_src, 32);
	return checksum_end(checksum_add(sum, &frame->advert, length));
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
	frame.advert.nd_na_cksum = announce_checksum(&frame, length);
	packet_send(sender->fd, sender->ifindex, &frame, sizeof(frame));
}
