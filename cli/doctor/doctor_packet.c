/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a packet is in a conversation, and the filter for packets that may be in one. Knows neither
 * sockets nor devices.
 */
#include <linux/if_ether.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/ip_icmp.h>
#include <netinet/tcp.h>
#include <string.h>

#include "cli/doctor/doctor.h"

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
	if (type == ETH_P_8021Q && packet->kept >= ETH_HLEN + CAPTURED_TAG) {
		header += CAPTURED_TAG;
		type = talk_u16(packet->bytes + header - 2);
	}
	at = packet->bytes + header;
	return talk_read_type(type, at, packet->kept - header, packet->length - header, is_sent,
			      ret_part);
}

#define LOAD(size, offset)                                \
	{                                                 \
		BPF_LD | (size) | BPF_ABS, 0, 0, (offset) \
	}
#define DO(code, operand)               \
	{                               \
		(code), 0, 0, (operand) \
	}
#define JUMP(test, value, yes, no)                             \
	{                                                      \
		BPF_JMP | (test) | BPF_K, (yes), (no), (value) \
	}

#define FILTER_HALF 41 /* instructions for frames without and with a tag in them */

#define IP(field) (ethernet + (field))

/* ethernet: the bytes before IP. Frames of other types go to `otherwise`. */
static void talk_filter_frames(uint32_t ethernet, uint32_t one_of, struct sock_filter otherwise,
			       struct sock_filter ret_code[FILTER_HALF])
{
	const struct sock_filter filter[] = {
		/* 0 */ LOAD(BPF_H, ethernet - 2),
		/* 1 */ JUMP(BPF_JEQ, ETH_P_ARP, 36, 0),  /* to 38 */
		/* 2 */ JUMP(BPF_JEQ, ETH_P_IP, 10, 0),	  /* to 13: IPv4 */
		/* 3 */ JUMP(BPF_JEQ, ETH_P_IPV6, 0, 36), /* to 40 */
		/* IPv6. M[0]: the last words of the addresses; X: the length; A: the protocol */
		/* 4 */ LOAD(BPF_W, IP(20)),
		/* 5 */ DO(BPF_ST, 0),
		/* 6 */ LOAD(BPF_W, IP(36)),
		/* 7 */ DO(BPF_LDX | BPF_MEM, 0),
		/* 8 */ DO(BPF_ALU | BPF_XOR | BPF_X, 0),
		/* 9 */ DO(BPF_ST, 0),
		/* 10 */ LOAD(BPF_B, IP(6)),
		/* 11 */ DO(BPF_LDX | BPF_IMM, sizeof(struct ip6_hdr)),
		/* 12 */ DO(BPF_JMP | BPF_JA, 10), /* to 23 */
		/* 13 */ LOAD(BPF_H, IP(6)),
		/* 14 */ JUMP(BPF_JSET, 0x1fff, 24, 0), /* to 39 */
		/* 15 */ LOAD(BPF_W, IP(12)),
		/* 16 */ DO(BPF_ST, 0),
		/* 17 */ LOAD(BPF_W, IP(16)),
		/* 18 */ DO(BPF_LDX | BPF_MEM, 0),
		/* 19 */ DO(BPF_ALU | BPF_XOR | BPF_X, 0),
		/* 20 */ DO(BPF_ST, 0),
		/* 21 */ DO(BPF_LDX | BPF_B | BPF_MSH, IP(0)),
		/* 22 */ LOAD(BPF_B, IP(9)),
		/* A: the ports, or 0 */
		/* 23 */ JUMP(BPF_JEQ, IPPROTO_TCP, 1, 0), /* to 25 */
		/* 24 */ JUMP(BPF_JEQ, IPPROTO_UDP, 0, 6), /* to 31 */
		/* 25 */ DO(BPF_LD | BPF_H | BPF_IND, IP(0)),
		/* 26 */ DO(BPF_ST, 1),
		/* 27 */ DO(BPF_LD | BPF_H | BPF_IND, IP(2)),
		/* 28 */ DO(BPF_LDX | BPF_MEM, 1),
		/* 29 */ DO(BPF_ALU | BPF_XOR | BPF_X, 0),
		/* 30 */ DO(BPF_JMP | BPF_JA, 1), /* to 32 */
		/* 31 */ DO(BPF_LD | BPF_IMM, 0),
		/* 32 */ DO(BPF_LDX | BPF_MEM, 0),
		/* 33 */ DO(BPF_ALU | BPF_XOR | BPF_X, 0),
		/* 34 */ DO(BPF_ALU | BPF_MUL | BPF_K, 0x9e3779b1),
		/* 35 */ DO(BPF_ALU | BPF_RSH | BPF_K, 12),
		/* 36 */ DO(BPF_ALU | BPF_MOD | BPF_K, one_of),
		/* 37 */ JUMP(BPF_JEQ, 0, 0, 1), /* to 39 */
		/* 38 */ DO(BPF_RET | BPF_K, TALK_SNAPLEN),
		/* 39 */ DO(BPF_RET | BPF_K, 0),
		/* 40 */ otherwise,
	};

	_Static_assert(sizeof(filter) / sizeof(filter[0]) == FILTER_HALF, "its size");
	memcpy(ret_code, filter, sizeof(filter));
}

void talk_filter(uint32_t one_of, struct sock_filter ret_code[TALK_FILTER])
{
	const struct sock_filter tagged = JUMP(BPF_JEQ, ETH_P_8021Q, 3, 0),
				 slow = JUMP(BPF_JEQ, ETH_P_SLOW, 0, 1),
				 taken = DO(BPF_RET | BPF_K, TALK_SNAPLEN),
				 refused = DO(BPF_RET | BPF_K, 0);

	_Static_assert(TALK_FILTER == 2 * FILTER_HALF + 3, "its size");
	talk_filter_frames(ETH_HLEN, one_of, tagged, ret_code);
	ret_code[FILTER_HALF] = slow;
	ret_code[FILTER_HALF + 1] = taken;
	ret_code[FILTER_HALF + 2] = refused;
	talk_filter_frames(ETH_HLEN + 4, one_of, refused, ret_code + FILTER_HALF + 3);
}
