/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a packet is in a conversation. Knows neither sockets nor devices. */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/ip_icmp.h>
#include <netinet/tcp.h>
#include <string.h>

#include "cli/doctor/doctor.h"

#define VLAN_TAG 4

static uint16_t talk_u16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static uint32_t talk_u32(const uint8_t *at)
{
	return (uint32_t)talk_u16(at) << 16 | talk_u16(at + 2);
}

static void talk_set_addresses(struct talk_key *key, const uint8_t *source,
			       const uint8_t *destination, size_t size, bool is_sent)
{
	memcpy(key->local, is_sent ? source : destination, size);
	memcpy(key->remote, is_sent ? destination : source, size);
}

static void talk_set_ports(struct talk_key *key, const uint8_t *ports, bool is_sent)
{
	key->local_port = talk_u16(ports + (is_sent ? 0 : 2));
	key->remote_port = talk_u16(ports + (is_sent ? 2 : 0));
}

/* length: of header and data together. */
static bool talk_read_tcp(const uint8_t *tcp, size_t kept, uint32_t length, bool is_sent,
			  struct talk_part *part)
{
	uint8_t flags;

	if (kept < sizeof(struct tcphdr))
		return false;
	flags = tcp[13];
	talk_set_ports(&part->key, tcp, is_sent);
	part->seq = talk_u32(tcp + 4);
	part->ack = talk_u32(tcp + 8);
	part->has_ack = flags & TH_ACK;
	part->resets = flags & TH_RST;
	if (length > (tcp[12] >> 4) * UINT32_C(4))
		part->data = length - (tcp[12] >> 4) * UINT32_C(4);
	part->asks = !part->resets && (flags & (TH_SYN | TH_FIN) || part->data);
	return true;
}

static bool talk_read_echo(const uint8_t *icmp, size_t kept, uint8_t request, uint8_t reply,
			   struct talk_part *part)
{
	if (kept < 8 || (icmp[0] != request && icmp[0] != reply))
		return false;
	part->asks = icmp[0] == request;
	part->answers = icmp[0] == reply;
	part->key.number = talk_u32(icmp + 4);
	return true;
}

static bool talk_read_payload(const uint8_t *at, size_t kept, uint32_t length, bool is_sent,
			      struct talk_part *part)
{
	switch (part->key.protocol) {
	case IPPROTO_TCP: return talk_read_tcp(at, kept, length, is_sent, part);
	case IPPROTO_ICMP: return talk_read_echo(at, kept, ICMP_ECHO, ICMP_ECHOREPLY, part);
	case IPPROTO_ICMPV6:
		return talk_read_echo(at, kept, ICMP6_ECHO_REQUEST, ICMP6_ECHO_REPLY, part);
	case IPPROTO_UDP: break;
	default: return false;
	}
	if (kept < 4)
		return false;
	talk_set_ports(&part->key, at, is_sent);
	part->asks = part->answers = true;
	return true;
}

/* A total length of 0 is that of a packet that is segmented later, and too long for the field. */
static bool talk_read_ip4(const uint8_t *ip, size_t kept, uint32_t length, bool is_sent,
			  struct talk_part *part)
{
	size_t header = kept ? (ip[0] & 15) * 4u : 0;

	if (kept < sizeof(struct iphdr) || header < sizeof(struct iphdr) || header > kept ||
	    talk_u16(ip + 6) & IP_OFFMASK)
		return false;
	if (talk_u16(ip + 2))
		length = talk_u16(ip + 2);
	part->key.protocol = ip[9];
	talk_set_addresses(&part->key, ip + 12, ip + 16, 4, is_sent);
	return length >= header && talk_read_payload(ip + header, kept - header,
						     length - (uint32_t)header, is_sent, part);
}

static bool talk_read_ip6(const uint8_t *ip, size_t kept, uint32_t length, bool is_sent,
			  struct talk_part *part)
{
	const uint32_t header = sizeof(struct ip6_hdr);

	if (kept < header || length < header)
		return false;
	part->key.protocol = ip[6];
	talk_set_addresses(&part->key, ip + 8, ip + 24, 16, is_sent);
	return talk_read_payload(ip + header, kept - header,
				 talk_u16(ip + 4) ? talk_u16(ip + 4) : length - header, is_sent,
				 part);
}

/* A conversation with whoever has the address that is asked for. */
static bool talk_read_arp(const uint8_t *arp, size_t kept, bool is_sent, struct talk_part *part)
{
	uint16_t operation;

	if (kept < 28 || talk_u16(arp + 2) != ETH_P_IP)
		return false;
	operation = talk_u16(arp + 6);
	part->key.protocol = TALK_ARP;
	talk_set_addresses(&part->key, arp + 14, arp + 24, 4, is_sent);
	/* Nobody answers an announcement, or a probe for an address that is free. */
	part->asks = operation == 1 && talk_u32(arp + 14) && memcmp(arp + 14, arp + 24, 4) != 0;
	part->answers = operation == 2;
	return true;
}

static bool talk_read_type(uint16_t type, const uint8_t *at, size_t kept, uint32_t length,
			   bool is_sent, struct talk_part *part)
{
	switch (type) {
	case ETH_P_IP: return talk_read_ip4(at, kept, length, is_sent, part);
	case ETH_P_IPV6: return talk_read_ip6(at, kept, length, is_sent, part);
	case ETH_P_ARP: return talk_read_arp(at, kept, is_sent, part);
	default: return false;
	}
}

bool talk_read(const struct tap_packet *packet, bool is_sent, struct talk_part *ret_part)
{
	uint32_t header = ETH_HLEN;
	const uint8_t *at;
	uint16_t type;

	*ret_part = (struct talk_part){ 0 };
	if (packet->kept < ETH_HLEN || packet->length < packet->kept)
		return false;
	type = talk_u16(packet->bytes + 2 * ETH_ALEN);
	/* Where the NIC does not insert the tag, the kernel has. */
	if (type == ETH_P_8021Q && packet->kept >= ETH_HLEN + VLAN_TAG) {
		header += VLAN_TAG;
		type = talk_u16(packet->bytes + header - 2);
	}
	at = packet->bytes + header;
	return talk_read_type(type, at, packet->kept - header, packet->length - header, is_sent,
			      ret_part);
}
