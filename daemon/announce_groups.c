/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/announce_groups.h"

#include <net/ethernet.h>
#include <netinet/icmp6.h>
#include <netinet/igmp.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <string.h>

#include "bpf/abi.h"
#include "daemon/net/checksum.h"
#include "daemon/net/multicast.h"
#include "daemon/net/packet.h"

struct reporter {
	int fd;
	int ifindex;
	const uint8_t *mac;
	const uint8_t *ipv4;
};

struct igmp_report {
	struct ether_header eth;
	struct iphdr ip;
	uint8_t router_alert[4];
	struct igmp igmp;
} __attribute__((packed));

/* The source is unspecified, which snooping switches take (RFC 3590). */
struct mld_report {
	struct ether_header eth;
	struct ip6_hdr ip;
	uint8_t hop_by_hop[8];
	struct mld_hdr mld;
} __attribute__((packed));

static void report_ipv4(const struct reporter *reporter, const uint8_t group[4])
{
	static const uint8_t router_alert[4] = { 0x94, 4, 0, 0 };
	const uint8_t mac[XBOND_MAC_SIZE] = { 0x01, 0x00, 0x5e, group[1] & 0x7f, group[2], group[3] };
	struct igmp_report frame = { .eth.ether_type = htons(ETHERTYPE_IP) };

	memcpy(frame.eth.ether_dhost, mac, XBOND_MAC_SIZE);
	memcpy(frame.eth.ether_shost, reporter->mac, XBOND_MAC_SIZE);
	frame.ip.version = 4;
	frame.ip.ihl = (sizeof(frame.ip) + sizeof(router_alert)) / 4;
	frame.ip.tos = IPTOS_CLASS_CS6;
	frame.ip.tot_len = htons(sizeof(frame) - sizeof(frame.eth));
	frame.ip.ttl = 1;
	frame.ip.protocol = IPPROTO_IGMP;
	memcpy(&frame.ip.saddr, reporter->ipv4, 4);
	memcpy(&frame.ip.daddr, group, 4);
	memcpy(frame.router_alert, router_alert, sizeof(router_alert));
	frame.ip.check = checksum_end(checksum_add(0, &frame.ip, sizeof(frame.ip) + sizeof(router_alert)));
	frame.igmp.igmp_type = IGMP_V2_MEMBERSHIP_REPORT;
	memcpy(&frame.igmp.igmp_group, group, 4);
	frame.igmp.igmp_cksum = checksum_end(checksum_add(0, &frame.igmp, sizeof(frame.igmp)));
	packet_send(reporter->fd, reporter->ifindex, &frame, sizeof(frame));
}

static void report_ipv6(const struct reporter *reporter, const uint8_t group[16])
{
	static const uint8_t hop_by_hop[8] = { IPPROTO_ICMPV6, 0, 5, 2, 0, 0, 1, 0 }; /* router alert: MLD */
	const uint8_t mac[XBOND_MAC_SIZE] = { 0x33, 0x33, group[12], group[13], group[14], group[15] };
	struct mld_report frame = { .eth.ether_type = htons(ETHERTYPE_IPV6) };
	uint32_t sum = sizeof(frame.mld) + IPPROTO_ICMPV6;

	memcpy(frame.eth.ether_dhost, mac, XBOND_MAC_SIZE);
	memcpy(frame.eth.ether_shost, reporter->mac, XBOND_MAC_SIZE);
	frame.ip.ip6_flow = htonl(6u << 28);
	frame.ip.ip6_plen = htons(sizeof(hop_by_hop) + sizeof(frame.mld));
	frame.ip.ip6_nxt = IPPROTO_HOPOPTS;
	frame.ip.ip6_hlim = 1;
	memcpy(&frame.ip.ip6_dst, group, 16);
	memcpy(frame.hop_by_hop, hop_by_hop, sizeof(hop_by_hop));
	frame.mld.mld_type = MLD_LISTENER_REPORT;
	memcpy(&frame.mld.mld_addr, group, 16);
	sum = checksum_add(sum, &frame.ip.ip6_dst, 16);
	frame.mld.mld_cksum = checksum_end(checksum_add(sum, &frame.mld, sizeof(frame.mld)));
	packet_send(reporter->fd, reporter->ifindex, &frame, sizeof(frame));
}

/* Not the link's own (224.0.0.0/24), which are never snooped; for those of one source (232/8) IGMPv2 has no report. */
static void take_ipv4(const uint8_t *group, void *arg)
{
	if (group[0] != 232 && (group[0] != 224 || group[1] || group[2]))
		report_ipv4(arg, group);
}

/* Not of this host's own scope, nor all nodes, which is never reported (RFC 2710, 5), nor of one source (ff3x::/32). */
static void take_ipv6(const uint8_t *group, void *arg)
{
	static const uint8_t all_nodes[16] = { 0xff, 0x02, [15] = 1 };

	if ((group[1] & 0xf) > 1 && group[1] >> 4 != 3 && memcmp(group, all_nodes, sizeof(all_nodes)))
		report_ipv6(arg, group);
}

void announce_groups(int fd, int ifindex, const uint8_t *mac, const uint8_t ipv4[4])
{
	struct reporter reporter = { fd, ifindex, mac, ipv4 };

	multicast_list_ipv4(ifindex, take_ipv4, &reporter);
	multicast_list_ipv6(ifindex, take_ipv6, &reporter);
}
