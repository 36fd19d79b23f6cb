/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Selection by a policy of the user, for the programs that a bond gets while it has one: they ask
 * it after the hash and before the buckets. The policy is a program of its own, reached by a tail
 * call. The call is in a function, so it returns here with the answer. A program that contains a
 * tail call pays for it in every packet. Therefore bonds without a policy have other programs.
 *
 * Include it after defining FLOW_CONTEXT and POLICY_PROGRAMS, the name of the map of programs of
 * that kind.
 */
#ifndef XBOND_BPF_POLICY_ASK_H
#define XBOND_BPF_POLICY_ASK_H

#include "bpf/choose.h"

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} POLICY_PROGRAMS SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct xbond_question);
} XBOND_POLICY_QUESTION SEC(".maps");

/* Global and opaque, because neither the verifier nor the compiler sees the policy's answer. */
__noinline __u64 policy_run(FLOW_CONTEXT *context)
{
	__u64 answer = XBOND_ANSWER_DEFAULT;

	bpf_tail_call(context, &POLICY_PROGRAMS, 0);
	asm volatile("" : "+r"(answer)); /* there is no policy (any more) */
	return answer;
}

static __always_inline __u64 policy_ask(FLOW_CONTEXT *context, __u64 hash, __u64 mask, __u32 length)
{
	struct xbond_question *question;
	__u32 key = 0;

	question = bpf_map_lookup_elem(&XBOND_POLICY_QUESTION, &key);
	if (!question)
		return XBOND_ANSWER_DEFAULT;
	question->hash = hash;
	question->usable = mask;
	question->length = length;
	return policy_run(context);
}

/* What a policy sends somewhere is load there, too, for the flows that choose by it. */
static __always_inline __u32 policy_sent(__u32 slot, __u32 length, __u32 flags)
{
	if (flags & XBOND_F_FLOWLETS && slot < XBOND_MAX_SLAVES)
		flowlet_count(slot, length);
	return slot;
}

/*
 * choose_slot() for programs that ask a policy. Answers that are none count as
 * XBOND_ANSWER_DEFAULT, and a slot that may not transmit has its detour by the hash. Pointers into
 * the packet are no longer valid afterwards.
 */
static __always_inline __u32 policy_choose_slot(FLOW_CONTEXT *context, __u64 mask, __u32 length,
						__u32 flags)
{
	__u64 hash, answer;
	__u32 kind, slot;

	if (table.selection != XBOND_SELECT_HASH)
		return choose_slot(context, hash_of, mask, length, flags);
	hash = hash_of(context);
	answer = policy_ask(context, hash, mask, length);
	kind = answer & XBOND_ANSWER_KIND;
	if (kind == XBOND_ANSWER_SLOT) {
		answer >>= 2;
		slot = select_usable(answer < XBOND_MAX_SLAVES ? answer : SELECT_NONE, hash, mask,
				     length);
		return policy_sent(slot, length, flags);
	}
	/* A hash that is answered unchanged keeps the bits that the answer has no room for. */
	if (kind == XBOND_ANSWER_HASH && (hash ^ answer) & ~(__u64)XBOND_ANSWER_KIND)
		hash = answer & ~(__u64)XBOND_ANSWER_KIND;
	return select_usable(choose_owner(hash, mask, length, flags), hash, mask, length);
}

#endif
