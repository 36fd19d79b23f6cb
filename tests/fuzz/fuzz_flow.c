/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A packet of any content, cut anywhere: bpf/flow.h and what it includes, as the programs and
 * `bondctl explain` have them. Two rules are checked beside the reads: the short way for plain
 * packets finds the hash of the long one, and what lies behind the headers does not change a hash.
 */
#include "bpf/flow.h"
#include "tests/fuzz/input.h"

#define MOST 600 /* more than FLOW_HEADERS */

static __u32 flow_payload_here(void *context, __u32 at)
{
	return flow_payload(context, at);
}

static __u64 flow_untagged_here(void *context)
{
	return flow_untagged(context);
}

static __u32 flow_inner_here(void *context, __u32 payload)
{
	return flow_encap_inner(context, payload);
}

static int flow_hash_of(struct packet *packet, const struct flow_rule *rule, __u64 *ret_hash)
{
	const struct flow_hook hook = { .context = packet,
					.untagged_of = flow_untagged_here,
					.payload_of = flow_payload_here,
					.inner_of = flow_inner_here };

	return flow_hash(packet, rule, &hook, ret_hash);
}

static void flow_check_longer(const struct packet *packet, const struct flow_rule *rule, __u64 hash)
{
	size_t size = (size_t)((__u8 *)packet->end - (__u8 *)packet->data);
	struct packet longer = *packet;
	__u64 other;

	longer.data = malloc(size + 64);
	if (!longer.data)
		abort();
	memcpy(longer.data, packet->data, size);
	memset((__u8 *)longer.data + size, 0xff, 64);
	longer.end = (__u8 *)longer.data + size + 64;
	input_check(!flow_hash_of(&longer, rule, &other), "a longer packet is not cut");
	input_check(other == hash, "what follows the headers does not count");
	free(longer.data);
}

static void flow_check(struct packet *packet, const struct flow_rule *rule)
{
	__u64 hash, plain;
	int cut = flow_hash_of(packet, rule, &hash);

	if (!flow_hash_plain(packet, rule, &plain))
		input_check(plain == hash, "the short way finds the same hash");
	input_check(!cut || (__u8 *)packet->end - (__u8 *)packet->data < FLOW_HEADERS,
		    "FLOW_HEADERS bytes are enough");
	if (!cut)
		flow_check_longer(packet, rule, hash);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	__u8 flags = input_u8(&input);
	struct flow_rule rule = { .seed = input_u8(&input),
				  .symmetric = flags & 1,
				  .flow_label = flags >> 1 & 1 };
	struct packet packet = { .vlan_tci = flags & 4 ? input_u16(&input) : -1 };
	size_t length;

	packet.data = input_copy(&input, MOST, &length);
	packet.end = (__u8 *)packet.data + length;
	for (rule.policy = 0; rule.policy <= XBOND_POLICY_VLAN_SRCMAC; rule.policy++)
		flow_check(&packet, &rule);
	rule.policy = XBOND_POLICY_FLOW;
	flow_check(&packet, &rule);
	free(packet.data);
	return 0;
}
