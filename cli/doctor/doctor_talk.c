/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which of a bond's conversations are answered. Knows neither sockets nor devices. */
#include <linux/if_ether.h>
#include <netinet/in.h>
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
#define TALK_LONG 1000	  /* bytes of a frame that a smaller MTU may stop */
#define TALK_LONG_TIMES 3 /* sent so often, and lost each time */
#define TALK_SEGMENT 1448 /* bytes of data in a TCP segment of usual size */
#define TALK_TRIES 32	  /* a place that is not found by then is not there: the table is full */

/* TCP data in one direction. */
struct talk_way {
	bool has_begun;
	uint32_t end; /* of what was sent so far */
	struct talk_segments segments;
};

struct talk_flow {
	struct talk_key key;
	bool used, is_asked, is_answered, has_ack;
	uint32_t asked_seq, best_ack; /* TCP: of the first question; of what was received */
	uint32_t times;		      /* how often the first question was sent */
	uint64_t asked_ns;	      /* the first question */
	uint32_t asked_length;	      /* of its frame */
	uint64_t slots, heard_by; /* the slaves that have sent questions, or received anything */
	struct talk_way sent, got;
	/* TCP: the longest segment, how often it was sent, and the shortest of its frames. */
	uint32_t long_seq, long_data, long_times, long_length;
};

struct talk_frame {
	uint64_t mark; /* 0: unused */
	bool is_taken; /* some slave that receives has got it */
	uint8_t slot;  /* another one that has got it, and how often */
	uint32_t alone;
};

void talk_init(struct talk *talk, const uint8_t mac[XBOND_MAC_SIZE], uint32_t mtu)
{
	*talk = (struct talk){ .frame_max = mtu + ETH_HLEN };
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

static bool talk_is_for_many(const struct tap_packet *packet)
{
	return packet->bytes[0] & 1;
}

static bool talk_is_later(uint32_t seq, uint32_t than)
{
	return (int32_t)(seq - than) > 0;
}

/* Offloads merge segments of usual size into one. */
static void talk_count_data(struct talk_way *way, const struct talk_part *part)
{
	uint32_t end = part->seq + part->data, segments = 1 + part->data / TALK_SEGMENT;

	if (!part->data)
		return;
	way->segments.all += segments;
	if (way->has_begun && talk_is_later(way->end, part->seq))
		way->segments.again += segments;
	if (!way->has_begun || talk_is_later(end, way->end))
		way->end = end;
	way->has_begun = true;
}

static uint32_t talk_length(const struct talk *talk, const struct tap_packet *packet)
{
	return packet->length < talk->frame_max ? packet->length : talk->frame_max;
}

static void talk_note_long(const struct talk *talk, struct talk_flow *flow,
			   const struct talk_part *part, const struct tap_packet *packet)
{
	uint32_t length = talk_length(talk, packet);

	if (part->data && flow->long_times && part->seq == flow->long_seq) {
		flow->long_times++;
		if (length < flow->long_length)
			flow->long_length = length;
	} else if (part->data > flow->long_data) {
		flow->long_seq = part->seq;
		flow->long_data = part->data;
		flow->long_times = 1;
		flow->long_length = length;
	}
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
	talk_count_data(&flow->sent, &part);
	talk_note_long(talk, flow, &part, packet);
	/* What was sent before this began may be sent again. */
	if (!flow->is_asked || talk_is_later(flow->asked_seq, part.seq)) {
		flow->asked_seq = part.seq;
		flow->asked_length = talk_length(talk, packet);
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
	talk_count_data(&flow->got, &part);
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

static bool talk_is_lacpdu(const struct tap_packet *packet)
{
	return packet->kept > ETH_HLEN && packet->bytes[12] == ETH_P_SLOW >> 8 &&
	       packet->bytes[13] == (ETH_P_SLOW & 0xff) && packet->bytes[ETH_HLEN] == 1;
}

/*
 * From the bond's MAC address. A switch may flood what the bond has sent; but the bond sends
 * nothing to itself, and an ARP request with an address of its own only.
 */
static void talk_note_twin(struct talk *talk, unsigned int slot, const struct tap_packet *packet)
{
	struct talk_part part;

	if (memcmp(packet->bytes + ETH_ALEN, talk->mac, XBOND_MAC_SIZE) != 0 ||
	    !talk_read(packet, false, &part))
		return;
	talk->from_self[slot] += !memcmp(packet->bytes, talk->mac, XBOND_MAC_SIZE);
	if (part.key.protocol != TALK_ARP || !part.asks)
		return;
	for (int i = 0; i < TALK_TWINS; i++) {
		struct talk_twin *twin = &talk->twin[i];

		if (!memcmp(twin->ip, part.key.remote, sizeof(twin->ip)))
			return;
		if (memcmp(twin->ip, "\0\0\0", sizeof(twin->ip)) != 0)
			continue;
		memcpy(twin->ip, part.key.remote, sizeof(twin->ip));
		twin->slot = slot;
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
	talk_note_twin(talk, slot, packet);
	talk->lacpdus[slot] += talk_is_lacpdu(packet);
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

static void talk_sum_lost(uint32_t length, uint32_t weight, struct talk_sums *sums)
{
	*(length < TALK_LONG ? &sums->short_lost : &sums->long_lost) += weight;
	if (!sums->shortest_lost || length < sums->shortest_lost)
		sums->shortest_lost = length;
}

/* A long segment of TCP that is never acknowledged, though other things are. */
static void talk_sum_long(const struct talk_flow *flow, struct talk_sums *sums)
{
	bool is_lost = flow->has_ack && !talk_is_later(flow->best_ack, flow->long_seq);

	if (!flow->long_times || flow->long_seq == flow->asked_seq)
		return;
	if (!is_lost && flow->has_ack && flow->long_length > sums->longest_answered)
		sums->longest_answered = flow->long_length;
	if (is_lost && flow->long_times >= TALK_LONG_TIMES)
		talk_sum_lost(flow->long_length, 1, sums);
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
	if (is_expected)
		talk_sum_lost(flow->asked_length, weight, sums);
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
	if (is_answered && flow->asked_length > sums[slot].longest_answered)
		sums[slot].longest_answered = flow->asked_length;
	if (is_unanswered) {
		talk_sum_unanswered(talk, flow, slot, weight, &sums[slot]);
		return;
	}
	sums[slot].asked += weight;
	sums[slot].answered += weight;
}

static void talk_add_segments(struct talk_segments *sum, const struct talk_way *way)
{
	sum->all += way->segments.all;
	sum->again += way->segments.again;
}

/*
 * Only of flows that one slave carries in both directions: the order of what several carry is not
 * known, and what is sent again may be so because the answer was lost.
 */
static void talk_sum_tcp(const struct talk_flow *flow, struct talk_sums sums[XBOND_MAX_SLAVES])
{
	struct talk_sums *sum;

	if (slots_count(flow->slots) != 1)
		return;
	sum = &sums[__builtin_ctzll(flow->slots)];
	talk_sum_long(flow, sum);
	if (flow->heard_by != flow->slots)
		return;
	talk_add_segments(&sum->sent, &flow->sent);
	talk_add_segments(&sum->got, &flow->got);
}

/* Does the bond send ARP with this address as the sender's, for a macvlan on it, for instance? */
static bool talk_has_sent_as(const struct talk *talk, const uint8_t ip[4])
{
	for (size_t i = 0; i < TALK_FLOWS; i++)
		if (talk->flows[i].slots && talk->flows[i].key.protocol == TALK_ARP &&
		    !memcmp(talk->flows[i].key.local, ip, 4))
			return true;
	return false;
}

static void talk_sum_twins(const struct talk *talk, struct talk_sums sums[XBOND_MAX_SLAVES])
{
	for (int i = 0; i < TALK_TWINS; i++) {
		const struct talk_twin *twin = &talk->twin[i];

		if (memcmp(twin->ip, "\0\0\0", 4) != 0 && !talk_has_sent_as(talk, twin->ip))
			memcpy(sums[twin->slot].twin_ip, twin->ip, sizeof(twin->ip));
	}
}

void talk_sum(const struct talk *talk, uint64_t until_ns,
	      struct talk_sums ret_sums[XBOND_MAX_SLAVES])
{
	memset(ret_sums, 0, XBOND_MAX_SLAVES * sizeof(*ret_sums));
	for (size_t i = 0; i < TALK_FLOWS; i++)
		if (talk->flows[i].used) {
			talk_sum_heard(&talk->flows[i], ret_sums);
			if (talk_is_tcp(&talk->flows[i]))
				talk_sum_tcp(&talk->flows[i], ret_sums);
			talk_sum_flow(talk, &talk->flows[i], until_ns, ret_sums);
		}
	for (size_t i = 0; i < TALK_FRAMES; i++)
		if (talk->frames[i].mark && !talk->frames[i].is_taken)
			ret_sums[talk->frames[i].slot].alone += talk->frames[i].alone;
	talk_sum_twins(talk, ret_sums);
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		ret_sums[slot].from_self = talk->from_self[slot];
		ret_sums[slot].lacpdus = talk->lacpdus[slot];
	}
}
