/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which of a bond's conversations are answered. Knows neither sockets nor devices. */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/ip_icmp.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "bpf/flow_words.h"
#include "cli/doctor/doctor.h"
#include "common/memory.h"
#include "common/slots.h"

#define TALK_PATIENCE_NS UINT64_C(1000000000)

#define TALK_FLOWS (1 << 13) /* powers of two */
#define TALK_FRAMES (1 << 14)
#define TALK_TRIES 32 /* a place that is not found by then is not there: the table is full */
#define TALK_ARP 0xff /* as a protocol; IP reserves it */

/* All bytes count. From the bond's side, for both directions. */
struct talk_key {
	uint8_t local[16], remote[16];
	uint16_t local_port, remote_port;
	uint32_t number; /* of an echo; 0 for others */
	uint8_t protocol, pad[3];
};
_Static_assert(sizeof(struct talk_key) == 44, "no holes");

struct talk_flow {
	struct talk_key key;
	bool used, is_asked, is_answered, has_ack;
	uint32_t asked_seq, best_ack; /* TCP: of the first question; of what was received */
	uint32_t times;		      /* how often the first question was sent */
	uint64_t asked_ns;	      /* the first question */
	uint64_t slots, heard_by; /* the slaves that have sent questions, or received anything */
};

struct talk_frame {
	uint64_t mark; /* 0: unused */
	bool is_taken; /* some slave that receives has got it */
	uint8_t slot;  /* another one that has got it, and how often */
	uint32_t alone;
};

/* What a packet is in a conversation. */
struct talk_part {
	struct talk_key key;
	bool asks, answers, resets;
	uint32_t seq, ack;
	bool has_ack;
};

void talk_init(struct talk *talk, const uint8_t mac[XBOND_MAC_SIZE])
{
	*talk = (struct talk){ 0 };
	memcpy(talk->mac, mac, XBOND_MAC_SIZE);
	talk->flows = memory_need(calloc(TALK_FLOWS, sizeof(*talk->flows)));
	talk->frames = memory_need(calloc(TALK_FRAMES, sizeof(*talk->frames)));
	/* Whoever sends packets must not know which of them collide. */
	if (getrandom(&talk->seed, sizeof(talk->seed), GRND_NONBLOCK) < 0)
		talk->seed = 1;
}

void talk_done(struct talk *talk)
{
	free(talk->flows);
	free(talk->frames);
	talk->flows = NULL;
	talk->frames = NULL;
}

static uint64_t talk_hash(const struct talk *talk, const uint8_t *bytes, size_t size)
{
	uint64_t hash = talk->seed;
	uint32_t word;

	for (; size; bytes += sizeof(word)) {
		size_t part = size < sizeof(word) ? size : sizeof(word);

		word = 0;
		memcpy(&word, bytes, part);
		hash = flow_mix(hash, word);
		size -= part;
	}
	return flow_finish(hash);
}

/* NULL: there is no room. */
static struct talk_flow *talk_find(struct talk *talk, const struct talk_key *key)
{
	uint64_t home = talk_hash(talk, (const uint8_t *)key, sizeof(*key)) >> 32;

	for (unsigned int i = 0; i < TALK_TRIES; i++) {
		struct talk_flow *flow = &talk->flows[(home + i) & (TALK_FLOWS - 1)];

		if (!flow->used) {
			flow->used = true;
			flow->key = *key;
		}
		if (!memcmp(&flow->key, key, sizeof(*key)))
			return flow;
	}
	return NULL;
}

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
	part->asks = !part->resets &&
		     (flags & (TH_SYN | TH_FIN) || length > (tcp[12] >> 4) * UINT32_C(4));
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

static bool talk_read(const struct tap_packet *packet, bool is_sent, struct talk_part *ret_part)
{
	const uint8_t *at = packet->bytes + ETH_HLEN;
	size_t kept = packet->kept - ETH_HLEN;
	uint32_t length = packet->length - ETH_HLEN;

	*ret_part = (struct talk_part){ 0 };
	if (packet->kept < ETH_HLEN || packet->length < ETH_HLEN)
		return false;
	switch (talk_u16(packet->bytes + 2 * ETH_ALEN)) {
	case ETH_P_IP: return talk_read_ip4(at, kept, length, is_sent, ret_part);
	case ETH_P_IPV6: return talk_read_ip6(at, kept, length, is_sent, ret_part);
	case ETH_P_ARP: return talk_read_arp(at, kept, is_sent, ret_part);
	default: return false;
	}
}

static bool talk_is_for_many(const struct tap_packet *packet)
{
	return packet->bytes[0] & 1;
}

static bool talk_is_later(uint32_t seq, uint32_t than)
{
	return (int32_t)(seq - than) > 0;
}

void talk_take_sent(struct talk *talk, unsigned int slot, const struct tap_packet *packet)
{
	struct talk_part part;
	struct talk_flow *flow;

	if (!talk_read(packet, true, &part) || !part.asks ||
	    (talk_is_for_many(packet) && part.key.protocol != TALK_ARP))
		return;
	flow = talk_find(talk, &part.key);
	if (!flow)
		return;
	flow->slots |= slots_bit(slot);
	if (!flow->is_asked)
		flow->asked_ns = packet->time_ns;
	/* What was sent before this began may be sent again. */
	if (!flow->is_asked || talk_is_later(flow->asked_seq, part.seq)) {
		flow->asked_seq = part.seq;
		flow->times = 0;
	}
	flow->is_asked = true;
	flow->times += part.seq == flow->asked_seq;
}

static void talk_hear(struct talk *talk, unsigned int slot, const struct tap_packet *packet)
{
	struct talk_part part;
	struct talk_flow *flow;

	if (!talk_read(packet, false, &part) ||
	    (talk_is_for_many(packet) && part.key.protocol != TALK_ARP))
		return;
	flow = talk_find(talk, &part.key);
	if (!flow)
		return;
	flow->heard_by |= slots_bit(slot);
	flow->is_answered |= part.answers || part.resets;
	if (part.has_ack && (!flow->has_ack || talk_is_later(part.ack, flow->best_ack)))
		flow->best_ack = part.ack;
	flow->has_ack |= part.has_ack;
}

/*
 * What makes it the same frame on two links. Of TCP all of a flow is one: receive offloads merge
 * segments differently on each link.
 */
static uint64_t talk_mark(const struct talk *talk, const struct tap_packet *packet)
{
	struct talk_part part;
	uint64_t mark;

	if (talk_read(packet, false, &part) && part.key.protocol == IPPROTO_TCP)
		mark = talk_hash(talk, (const uint8_t *)&part.key, sizeof(part.key));
	else
		mark = talk_hash(talk, packet->bytes, packet->kept);
	return mark ? mark : 1;
}

static void talk_note_frame(struct talk *talk, unsigned int slot, bool receives,
			    const struct tap_packet *packet)
{
	uint64_t mark = talk_mark(talk, packet);

	for (unsigned int i = 0; i < TALK_TRIES; i++) {
		struct talk_frame *frame = &talk->frames[(mark + i) & (TALK_FRAMES - 1)];

		if (frame->mark && frame->mark != mark)
			continue;
		frame->mark = mark;
		frame->is_taken |= receives;
		if (!receives) {
			frame->slot = (uint8_t)slot;
			frame->alone++;
		}
		return;
	}
}

void talk_take_received(struct talk *talk, unsigned int slot, bool receives,
			const struct tap_packet *packet)
{
	if (packet->kept < ETH_HLEN)
		return;
	if (receives)
		talk_hear(talk, slot, packet);
	if (!memcmp(packet->bytes, talk->mac, XBOND_MAC_SIZE))
		talk_note_frame(talk, slot, receives, packet);
}

static bool talk_is_tcp(const struct talk_flow *flow)
{
	return flow->key.protocol == IPPROTO_TCP;
}

static bool talk_is_answered(const struct talk_flow *flow)
{
	return flow->is_asked &&
	       (flow->is_answered || (talk_is_tcp(flow) && flow->has_ack &&
				      talk_is_later(flow->best_ack, flow->asked_seq)));
}

static bool talk_is_unanswered(const struct talk_flow *flow, uint64_t until_ns)
{
	if (!flow->is_asked || talk_is_answered(flow))
		return false;
	return talk_is_tcp(flow) ? flow->times > 1 : flow->asked_ns + TALK_PATIENCE_NS < until_ns;
}

static bool talk_is_owed(const struct talk_flow *flow)
{
	return flow->is_asked && !talk_is_answered(flow) && flow->key.protocol != IPPROTO_UDP;
}

static bool talk_is_same_peer(const struct talk_flow *left, const struct talk_flow *right)
{
	return !memcmp(left->key.remote, right->key.remote, sizeof(left->key.remote));
}

/* The lower port of a flow is usually that of the service, at whichever end. */
static uint16_t talk_service(const struct talk_flow *flow)
{
	return flow->key.local_port < flow->key.remote_port ? flow->key.local_port
							    : flow->key.remote_port;
}

static bool talk_is_same_service(const struct talk_flow *left, const struct talk_flow *right)
{
	return left->key.protocol == right->key.protocol && talk_is_same_peer(left, right) &&
	       talk_service(left) == talk_service(right);
}

/* Counts one that is not answered, by what the other conversations tell of its peer. */
static void talk_sum_unanswered(const struct talk *talk, const struct talk_flow *flow,
				unsigned int slot, uint32_t weight, struct talk_sums *sums)
{
	bool is_proven = false, is_expected = false, is_heard = false, is_first = true;

	for (size_t i = 0; i < TALK_FLOWS; i++) {
		const struct talk_flow *other = &talk->flows[i];

		if (!other->used || !talk_is_same_peer(flow, other))
			continue;
		is_heard |= !!other->heard_by;
		is_first &= other >= flow || !talk_is_owed(other) || other->slots != flow->slots;
		if (!talk_is_answered(other) || !talk_is_same_service(flow, other))
			continue;
		is_expected = true;
		is_proven |= !slots_have(other->slots, slot);
	}
	if (!is_expected && !talk_is_owed(flow)) /* one-way UDP */
		return;
	sums->asked += weight;
	sums->unanswered += weight;
	sums->proven += is_proven ? weight : 0;
	sums->expected += is_expected ? weight : 0;
	if (!talk_is_owed(flow))
		return;
	sums->owed += weight;
	sums->heard += is_heard ? weight : 0;
	sums->peers += is_first;
}

/* Each ARP request counts: there is one conversation for all of them. */
static uint32_t talk_weight(const struct talk_flow *flow)
{
	return flow->key.protocol == TALK_ARP ? flow->times : 1;
}

static void talk_sum_heard(const struct talk_flow *flow, struct talk_sums sums[XBOND_MAX_SLAVES])
{
	for (uint64_t left = flow->key.protocol != TALK_ARP ? flow->heard_by : 0; left;
	     left &= left - 1)
		sums[__builtin_ctzll(left)].hears++;
}

static void talk_sum_flow(const struct talk *talk, const struct talk_flow *flow, uint64_t until_ns,
			  struct talk_sums sums[XBOND_MAX_SLAVES])
{
	bool is_answered = talk_is_answered(flow),
	     is_unanswered = talk_is_unanswered(flow, until_ns);
	uint32_t weight = talk_weight(flow);
	unsigned int slot;

	if (slots_count(flow->slots) != 1 || (!is_answered && !is_unanswered))
		return;
	slot = (unsigned int)__builtin_ctzll(flow->slots);
	if (is_unanswered) {
		talk_sum_unanswered(talk, flow, slot, weight, &sums[slot]);
		return;
	}
	sums[slot].asked += weight;
	sums[slot].answered += weight;
}

void talk_sum(const struct talk *talk, uint64_t until_ns,
	      struct talk_sums ret_sums[XBOND_MAX_SLAVES])
{
	memset(ret_sums, 0, XBOND_MAX_SLAVES * sizeof(*ret_sums));
	for (size_t i = 0; i < TALK_FLOWS; i++)
		if (talk->flows[i].used) {
			talk_sum_heard(&talk->flows[i], ret_sums);
			talk_sum_flow(talk, &talk->flows[i], until_ns, ret_sums);
		}
	for (size_t i = 0; i < TALK_FRAMES; i++)
		if (talk->frames[i].mark && !talk->frames[i].is_taken)
			ret_sums[talk->frames[i].slot].alone += talk->frames[i].alone;
}
