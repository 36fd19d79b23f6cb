/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes the packets of a bond's conversations. */
#include <linux/if_ether.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "bpf/flow_words.h"
#include "bpf/slots.h"
#include "cli/doctor/doctor_talk.h"
#include "common/mac.h"
#include "common/memory.h"

#define TALK_SEGMENT 1448 /* bytes of data in a TCP segment of usual size */
#define TALK_TRIES 32	  /* a place that is not found by then is not there: the table is full */

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

/* An answer that was read before its question took no time worth counting. */
static void talk_begin_wait(struct talk_flow *flow, const struct talk_part *part, uint64_t time_ns)
{
	struct talk_wait *wait = &flow->wait;
	bool is_known = talk_is_tcp(flow)
				? flow->has_ack && talk_is_later(flow->best_ack, part->seq)
				: flow->is_asked || flow->is_answered;

	if (wait->since_ns && !talk_is_later(part->seq, wait->seq)) {
		wait->since_ns = 0;
	} else if (!wait->since_ns && !is_known) {
		wait->since_ns = time_ns;
		wait->seq = part->seq;
	}
}

static void talk_end_wait(struct talk_flow *flow, const struct talk_part *part, uint64_t time_ns)
{
	struct talk_wait *wait = &flow->wait;
	bool is_end = talk_is_tcp(flow) ? flow->has_ack && talk_is_later(flow->best_ack, wait->seq)
					: part->answers;

	if (!wait->since_ns || !is_end)
		return;
	wait->answers++;
	wait->sum_ns += time_ns > wait->since_ns ? time_ns - wait->since_ns : 0;
	wait->since_ns = 0;
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
	talk_begin_wait(flow, &part, packet->time_ns);
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
	talk_end_wait(flow, &part, packet->time_ns);
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

	if (!mac_is_same(packet->bytes + ETH_ALEN, talk->mac) || !talk_read(packet, false, &part))
		return;
	talk->from_self[slot] += mac_is_same(packet->bytes, talk->mac);
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
	if (mac_is_same(packet->bytes, talk->mac))
		talk_note_frame(talk, slot, receives, packet);
}
