/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/announce/announce_groups.h"

#include <net/ethernet.h>
#include <netinet/icmp6.h>
#include <netinet/igmp.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <string.h>

#include "bpf/abi.h"
#include "network/checksum.h"
#include "network/packet.h"

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
	struct igmp_report frame = { .eth.ether_type = htons(ETHERTYPE_IP) };

	memcpy(frame.eth.ether_dhost, mac, XBOND_MAC_SIZE);
	memcpy(frame.eth.ether_shost, sender->mac, XBOND_MAC_SIZE);
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
	struct mld_report frame = { .eth.ether_type = htons(ETHERTYPE_IPV6) };
	uint32_t sum = sizeof(frame.mld) + IPPROTO_ICMPV6;

	memcpy(frame.eth.ether_dhost, mac, XBOND_MAC_SIZE);
	memcpy(frame.eth.ether_shost, sender->mac, XBOND_MAC_SIZE);
	frame.ip.ip6_flow = htonl(6u << 28);
	frame.ip.ip6_plen = htons(sizeof(hop_by_hop) + sizeof(frame.mld));
	frame.ip.ip6_nxt = IPPROTO_HOPOPTS;
	frame.ip.ip6_hlim = 1;
	memcpy(&frame.ip.ip6_src, source, 16);
	memcpy(&frame.ip.ip6_dst, group, 16);
	memcpy(frame.hop_by_hop, hop_by_hop, sizeof(hop_by_hop));
	frame.mld.mld_type = MLD_LISTENER_REPORT;
	memcpy(&frame.mld.mld_addr, group, 16);
	sum = checksum_add(sum, &frame.ip.ip6_src, 32);
	frame.mld.mld_cksum = checksum_end(checksum_add(sum, &frame.mld, sizeof(frame.mld)));
	packet_send(sender->fd, sender->ifindex, &frame, sizeof(frame));
}
