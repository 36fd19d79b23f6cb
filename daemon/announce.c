/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/announce.h"

#include <arpa/inet.h>
#include <net/ethernet.h>
#include <netinet/icmp6.h>
#include <netinet/if_ether.h>
#include <netinet/ip6.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/announce_groups.h"
#include "daemon/daemon.h"
#include "daemon/net/address.h"
#include "daemon/net/checksum.h"
#include "daemon/net/packet.h"

#define MAX_ADDRESSES 64
#define MAX_VLANS 256

struct sender {
	int fd;
	int ifindex;
	const uint8_t *mac;
};

/* Unsolicited neighbour advertisement (RFC 4861, 4.4) with its target's link-layer address. */
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

/* A frame that is lost is a neighbour that learns a little later. */
static void send_frame(const struct sender *sender, const void *frame, size_t size)
{
	packet_send(sender->fd, sender->ifindex, frame, size);
}

static void fill_eth(const struct sender *sender, struct ether_header *eth, const uint8_t *to, uint16_t type)
{
	memcpy(eth->ether_dhost, to, XBOND_MAC_SIZE);
	memcpy(eth->ether_shost, sender->mac, XBOND_MAC_SIZE);
	eth->ether_type = htons(type);
}

/* operation: ARPOP_REQUEST for an address (RFC 5227 announcement), or ARPOP_RREQUEST with none. */
static void send_arp(const struct sender *sender, uint16_t type, uint16_t operation, const uint8_t *address)
{
	struct {
		struct ether_header eth;
		struct ether_arp arp;
	} __attribute__((packed)) frame = { 0 };

	fill_eth(sender, &frame.eth, broadcast, type);
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
	send_frame(sender, &frame, sizeof(frame));
}

/* ICMPv6 over its pseudo header (RFC 4443, 2.3). */
static uint16_t checksum(const struct advertisement *frame, size_t length)
{
	uint32_t sum = (uint32_t)length + IPPROTO_ICMPV6;

	sum = checksum_add(sum, &frame->ip.ip6_src, 32);
	return checksum_end(checksum_add(sum, &frame->advert, length));
}

static void send_advertisement(const struct sender *sender, const uint8_t *address)
{
	struct advertisement frame = { 0 };
	size_t length = sizeof(frame) - offsetof(struct advertisement, advert);

	fill_eth(sender, &frame.eth, all_nodes_mac, ETHERTYPE_IPV6);
	frame.ip.ip6_flow = htonl(6u << 28);
	frame.ip.ip6_plen = htons((uint16_t)length);
	frame.ip.ip6_nxt = IPPROTO_ICMPV6;
	frame.ip.ip6_hlim = 255;
	memcpy(&frame.ip.ip6_src, address, 16);
	memcpy(&frame.ip.ip6_dst, all_nodes, 16);
	frame.advert.nd_na_type = ND_NEIGHBOR_ADVERT;
	frame.advert.nd_na_flags_reserved = ND_NA_FLAG_OVERRIDE;
	memcpy(&frame.advert.nd_na_target, address, 16);
	frame.option.nd_opt_type = ND_OPT_TARGET_LINKADDR;
	frame.option.nd_opt_len = 1;
	memcpy(frame.mac, sender->mac, XBOND_MAC_SIZE);
	frame.advert.nd_na_cksum = checksum(&frame, length);
	send_frame(sender, &frame, sizeof(frame));
}

/* Of the addresses of one device. */
static void announce_device(struct bond *bond, const struct sender *sender)
{
	static const uint8_t none[4];
	struct address addresses[MAX_ADDRESSES];
	int count = address_list(&bond->daemon->nl, sender->ifindex, addresses, MAX_ADDRESSES);
	const uint8_t *ipv4 = none;

	for (int i = 0; i < count && i < MAX_ADDRESSES; i++) {
		if (addresses[i].family == AF_INET) {
			send_arp(sender, ETHERTYPE_ARP, ARPOP_REQUEST, addresses[i].bytes);
			ipv4 = addresses[i].bytes;
		} else {
			send_advertisement(sender, addresses[i].bytes);
		}
	}
	/* A bridge or VLANs above: at least the switches learn. */
	if (count <= 0)
		send_arp(sender, ETHERTYPE_REVARP, ARPOP_RREQUEST, none);
	announce_groups(sender->fd, sender->ifindex, sender->mac, ipv4);
}

/* Switches learn per VLAN. */
struct vlans {
	int lower;
	struct link_info link[MAX_VLANS];
	size_t count;
};

static void collect_vlan(const struct link_info *link, void *arg)
{
	struct vlans *vlans = arg;

	if (!link_is_vlan_on(link, vlans->lower) || vlans->count == MAX_VLANS)
		return;
	for (size_t i = 0; i < vlans->count; i++) /* a dump that was disturbed begins again */
		if (vlans->link[i].ifindex == link->ifindex)
			return;
	vlans->link[vlans->count++] = *link;
}

static void announce_vlans(struct bond *bond, int fd)
{
	struct vlans *vlans = calloc(1, sizeof(*vlans));

	if (!vlans)
		return;
	vlans->lower = (int)bond_pin(bond)->ifindex;
	link_visit(&bond->daemon->nl, -1, collect_vlan, vlans);
	for (size_t i = 0; i < vlans->count; i++) {
		const struct sender sender = { fd, vlans->link[i].ifindex, vlans->link[i].mac };

		announce_device(bond, &sender);
	}
	free(vlans);
}

void announce(struct bond *bond)
{
	struct sender sender = { .ifindex = (int)bond_pin(bond)->ifindex, .mac = bond_pin(bond)->mac };

	if (bond->away)
		return;
	sender.fd = packet_open();
	if (sender.fd < 0)
		return;
	announce_device(bond, &sender);
	announce_vlans(bond, sender.fd);
	close(sender.fd);
}
