/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a bond's policy answers to a packet: the policy itself is run on it. */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <string.h>
#include <unistd.h>

#include "cli/explain/explain.h"
#include "common/pins.h"

#define TAG_SIZE 4

/* The kernel takes no tag beside the packet. Returns the size. */
static uint32_t policy_answer_make_packet(const struct captured *packet,
					  uint8_t ret_bytes[CAPTURED_HEAD + TAG_SIZE])
{
	const uint32_t macs = 2 * ETH_ALEN;
	uint16_t tag[2] = { htons(ETH_P_8021Q), htons((uint16_t)packet->vlan_tci) };

	if (packet->vlan_tci < 0) {
		memcpy(ret_bytes, packet->head, packet->size);
		return packet->size;
	}
	memcpy(ret_bytes, packet->head, macs);
	memcpy(ret_bytes + macs, tag, sizeof(tag));
	memcpy(ret_bytes + macs + sizeof(tag), packet->head + macs, packet->size - macs);
	return packet->size + TAG_SIZE;
}

/* The words of xbond_policy_try. */
static struct __sk_buff policy_answer_question(uint64_t hash, uint64_t mask, uint32_t length)
{
	return (struct __sk_buff){ .cb = { (uint32_t)hash, (uint32_t)(hash >> 32), (uint32_t)mask,
					   (uint32_t)(mask >> 32), length } };
}

static void policy_answer_read(uint64_t answer, uint64_t hash, struct policy_answer *ret_answer)
{
	*ret_answer = (struct policy_answer){ .kind = POLICY_DEFAULT, .slot = XBOND_NO_SLOT };
	if ((answer & XBOND_ANSWER_KIND) == XBOND_ANSWER_SLOT) {
		ret_answer->kind = POLICY_SLOT;
		if (answer >> 2 < XBOND_MAX_SLAVES)
			ret_answer->slot = (unsigned int)(answer >> 2);
	} else if ((answer & XBOND_ANSWER_KIND) == XBOND_ANSWER_HASH) {
		ret_answer->kind = POLICY_HASH;
		ret_answer->hash = (hash ^ answer) & ~(uint64_t)XBOND_ANSWER_KIND
					   ? answer & ~(uint64_t)XBOND_ANSWER_KIND
					   : hash;
	}
}

bool policy_answer(const struct pins *pins, const struct captured *packet, uint64_t hash,
		   uint64_t mask, struct policy_answer *ret_answer)
{
	struct __sk_buff context = policy_answer_question(hash, mask, packet->length), after = {};
	uint8_t bytes[CAPTURED_HEAD + TAG_SIZE];
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = bytes,
		    .data_size_in = policy_answer_make_packet(packet, bytes), .ctx_in = &context,
		    .ctx_size_in = sizeof(context), .ctx_out = &after,
		    .ctx_size_out = sizeof(after));
	int fd = pin_open(pins->dir, XBOND_PIN_PROG_POLICY_TRY), r;

	if (fd < 0)
		return false;
	r = bpf_prog_test_run_opts(fd, &run);
	close(fd);
	if (!r)
		policy_answer_read(after.cb[0] | (uint64_t)after.cb[1] << 32, hash, ret_answer);
	return !r;
}

/* Asked with two hashes that differ in every bit. */
bool policy_answer_unhashed(const struct pins *pins, const struct captured *packet, uint64_t mask,
			    struct policy_answer *ret_answer)
{
	const uint64_t hash = 0x5555555555555555;
	struct policy_answer other;

	return policy_answer(pins, packet, hash, mask, ret_answer) &&
	       policy_answer(pins, packet, ~hash, mask, &other) &&
	       ret_answer->kind != POLICY_DEFAULT && ret_answer->kind == other.kind &&
	       ret_answer->hash == other.hash && ret_answer->slot == other.slot;
}
