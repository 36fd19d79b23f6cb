/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What each slave has carried of a bond's conversations. */
#include <string.h>

#include "bpf/slots.h"
#include "cli/doctor/doctor_talk.h"

#define TALK_PATIENCE_NS UINT64_C(1000000000)
#define TALK_LONG 1000		       /* bytes of a frame that a smaller MTU may stop */
#define TALK_LONG_TIMES 3	       /* sent so often, and lost each time */
#define TALK_LATE_NS UINT64_C(2000000) /* later than this, and than so many times the others' */
#define TALK_LATE_TIMES 4
#define TALK_LATE_OTHERS 3 /* fewer prove nothing */

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

/* It is known which answer is to which question, and which slave has sent it. */
static bool talk_is_timed(const struct talk_flow *flow)
{
	return flow->wait.answers && slots_count(flow->slots) == 1 &&
	       (talk_is_tcp(flow) || flow->times == 1);
}

static uint64_t talk_delay_ns(const struct talk_flow *flow)
{
	return flow->wait.sum_ns / flow->wait.answers;
}

static uint64_t talk_slots(const struct talk_flow *flow, enum talk_way_of_time way)
{
	return way == TALK_SENT ? flow->slots : flow->heard_by;
}

/* Compares with the same service over other slaves. */
static bool talk_is_late(const struct talk *talk, const struct talk_flow *flow,
			 enum talk_way_of_time way, uint64_t *ret_quick_ns)
{
	uint64_t delay_ns = talk_delay_ns(flow), quick_ns = 0;
	uint32_t others = 0, quick = 0;

	for (size_t i = 0; i < TALK_FLOWS && delay_ns > TALK_LATE_NS; i++) {
		const struct talk_flow *other = &talk->flows[i];

		if (!talk_is_timed(other) || talk_slots(other, way) == talk_slots(flow, way) ||
		    !talk_is_same_service(flow, other))
			continue;
		others++;
		if (talk_delay_ns(other) * TALK_LATE_TIMES + TALK_LATE_NS > delay_ns)
			continue;
		quick++;
		quick_ns += talk_delay_ns(other);
	}
	*ret_quick_ns = quick ? quick_ns / quick : 0;
	return others >= TALK_LATE_OTHERS && quick * 2 > others;
}

static void talk_sum_times(const struct talk *talk, const struct talk_flow *flow,
			   struct talk_sums sums[XBOND_MAX_SLAVES])
{
	for (int way = 0; way < TALK_WAYS; way++) {
		uint64_t slots = talk_slots(flow, way), quick_ns;
		struct talk_times *times;

		if (!talk_is_timed(flow) || slots_count(slots) != 1)
			continue;
		times = &sums[__builtin_ctzll(slots)].times[way];
		times->all++;
		if (!talk_is_late(talk, flow, way, &quick_ns))
			continue;
		times->late++;
		times->late_ns += talk_delay_ns(flow);
		times->quick_ns += quick_ns;
	}
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

		if (!memcmp(twin->ip, "\0\0\0", 4))
			break;
		if (talk_has_sent_as(talk, twin->ip))
			sums[twin->slot].comes_back = true;
		else
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
			talk_sum_times(talk, &talk->flows[i], ret_sums);
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
