/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/base/tuple.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "bpf/flow.h"
#include "common/mac.h"

static void tuple_take_ports(const struct packet *packet, uint32_t payload, struct tuple *tuple)
{
	const uint8_t *ports = (const uint8_t *)packet->data + (payload & FLOW_AT_OFFSET);

	if (!payload || payload & FLOW_AT_SHORT)
		return;
	tuple->proto = FLOW_PAYLOAD_PROTOCOL(payload);
	if (!flow_has_ports(tuple->proto) || ports + 4 > (const uint8_t *)packet->end)
		return;
	tuple->has_ports = 1;
	tuple->sport = (uint16_t)(ports[0] << 8 | ports[1]);
	tuple->dport = (uint16_t)(ports[2] << 8 | ports[3]);
}

static void tuple_take_ip4(const struct packet *packet, uint32_t offset, struct tuple *tuple)
{
	struct iphdr ip;

	if ((uint8_t *)packet->data + offset + sizeof(ip) > (uint8_t *)packet->end)
		return;
	memcpy(&ip, (uint8_t *)packet->data + offset, sizeof(ip));
	tuple->ip = 4;
	tuple->proto = ip.protocol;
	memcpy(tuple->src, &ip.saddr, sizeof(ip.saddr));
	memcpy(tuple->dst, &ip.daddr, sizeof(ip.daddr));
	tuple_take_ports(packet, flow_payload(packet, FLOW_AT_IP4 | offset), tuple);
}

static void tuple_take_ip6(const struct packet *packet, uint32_t offset, struct tuple *tuple)
{
	struct ipv6hdr ip;

	if ((uint8_t *)packet->data + offset + sizeof(ip) > (uint8_t *)packet->end)
		return;
	memcpy(&ip, (uint8_t *)packet->data + offset, sizeof(ip));
	tuple->ip = 6;
	tuple->proto = ip.nexthdr;
	memcpy(tuple->src, &ip.saddr, sizeof(ip.saddr));
	memcpy(tuple->dst, &ip.daddr, sizeof(ip.daddr));
	tuple_take_ports(packet, flow_payload(packet, FLOW_AT_IP6 | offset), tuple);
}

void tuple_of(const struct captured *captured, struct tuple *ret_tuple)
{
	struct packet packet = { .data = (void *)captured->head,
				 .end = (void *)(captured->head + captured->size),
				 .vlan_tci = captured->vlan_tci };
	const struct ethhdr *eth = packet.data;
	__u32 offset = sizeof(*eth);
	__be16 type = eth->h_proto;
	__u16 vlan;

	memset(ret_tuple, 0, sizeof(*ret_tuple));
	flow_untag(&packet, &offset, &type, &vlan);
	ret_tuple->vlan = vlan;
	ret_tuple->type = ntohs(type);
	if (ret_tuple->type == ETH_P_IP)
		tuple_take_ip4(&packet, offset, ret_tuple);
	else if (ret_tuple->type == ETH_P_IPV6)
		tuple_take_ip6(&packet, offset, ret_tuple);
	if (ret_tuple->ip)
		return;
	memcpy(ret_tuple->src, eth->h_source, ETH_ALEN);
	memcpy(ret_tuple->dst, eth->h_dest, ETH_ALEN);
}

static const char *tuple_address(const struct tuple *tuple, const uint8_t *address,
				 char text[INET6_ADDRSTRLEN])
{
	if (!tuple->ip)
		return mac_format(address, text);
	return inet_ntop(tuple->ip == 4 ? AF_INET : AF_INET6, address, text, INET6_ADDRSTRLEN);
}

/* For IP its protocol, else the packet type. */
static const char *tuple_proto(const struct tuple *tuple, char text[16])
{
	static const struct {
		uint8_t proto;
		const char *name;
	} names[] = {
		{ IPPROTO_TCP, "tcp" },	     { IPPROTO_UDP, "udp" },   { IPPROTO_ICMP, "icmp" },
		{ IPPROTO_ICMPV6, "icmp6" }, { IPPROTO_SCTP, "sctp" }, { IPPROTO_GRE, "gre" },
		{ IPPROTO_ESP, "esp" },	     { IPPROTO_IGMP, "igmp" },
	};

	if (!tuple->ip && tuple->type == ETH_P_ARP)
		return "arp";
	if (!tuple->ip && tuple->type == ETH_P_SLOW)
		return "slow";
	for (size_t i = 0; tuple->ip && i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].proto == tuple->proto)
			return names[i].name;
	snprintf(text, 16, tuple->ip ? "proto %u" : "type 0x%04x",
		 tuple->ip ? tuple->proto : tuple->type);
	return text;
}

const char *tuple_format(const struct tuple *tuple, char ret_text[TUPLE_TEXT])
{
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN], sport[8] = "", dport[8] = "";
	char proto[16], vlan[16] = "";

	if (tuple->has_ports) {
		snprintf(sport, sizeof(sport), ".%u", tuple->sport);
		snprintf(dport, sizeof(dport), ".%u", tuple->dport);
	}
	if (tuple->vlan)
		snprintf(vlan, sizeof(vlan), " vlan %u", tuple->vlan);
	snprintf(ret_text, TUPLE_TEXT, "%s%s > %s%s %s%s", tuple_address(tuple, tuple->src, src),
		 sport, tuple_address(tuple, tuple->dst, dst), dport, tuple_proto(tuple, proto),
		 vlan);
	return ret_text;
}

static json_t *tuple_number(bool there, unsigned int number)
{
	return there ? json_integer(number) : json_null();
}

json_t *tuple_json(const struct tuple *tuple)
{
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN], proto[16];

	return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "src",
			 tuple_address(tuple, tuple->src, src), "dst",
			 tuple_address(tuple, tuple->dst, dst), "proto", tuple_proto(tuple, proto),
			 "sport", tuple_number(tuple->has_ports, tuple->sport), "dport",
			 tuple_number(tuple->has_ports, tuple->dport), "vlan",
			 tuple_number(tuple->vlan, tuple->vlan));
}
