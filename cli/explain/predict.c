/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What becomes of a packet if the bond sends it, by the pinned maps as they are now. */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "bpf/flow_headers.h"
#include "bpf/flow_words.h"
#include "bpf/slots.h"
#include "cli/base/captured.h"
#include "cli/base/foretell.h"
#include "cli/explain/explain.h"
#include "common/pins.h"
#include "common/readings.h"
#include "view/view_bond.h"

/*
 * balance-alb: the slave of an ARP or neighbour message that tells a neighbour which slave's
 * address it is to send to (bpf/clients_message.h), by the pinned map of clients.
 */

#define CLIENTS_CONTEXT const struct captured

static inline long clients_load(CLIENTS_CONTEXT *captured, __u32 at, void *to, __u32 size)
{
	if (at > captured->size || size > captured->size - at)
		return -1;
	memcpy(to, captured->head + at, size);
	return 0;
}

/* A capture does not say which protocol a tag beside the packet had. */
static inline __be16 clients_tag(CLIENTS_CONTEXT *captured, __u16 *ret_vid)
{
	if (captured->vlan_tci < 0)
		return 0;
	*ret_vid = captured->vlan_tci & VLAN_VID_MASK;
	return htons(ETH_P_8021Q);
}

#include "bpf/clients_message.h"

static unsigned int predict_client_slot(const struct pins *pins, uint64_t told)
{
	uint64_t live = foretell_live(pins);

	if (told == pins->alb->bond_mac)
		return foretell_active_slot(pins);
	slots_for_each (live, slot)
		if (pins->alb->mac[slot] == told)
			return slot;
	return XBOND_NO_SLOT;
}

/*
 * Is it such a message? ret_slot: of the client; XBOND_NO_SLOT: it is a new one, or gets another
 * slave, so the next in turn.
 */
static bool predict_client(const struct pins *pins, const struct captured *captured,
			   unsigned int *ret_slot)
{
	struct clients_message message = { 0 };
	struct xbond_client client;

	*ret_slot = XBOND_NO_SLOT;
	if (clients_read(captured, &message) || message.mac != pins->alb->bond_mac ||
	    message.reach != CLIENTS_ONE || clients_is_none(message.key.own) ||
	    clients_is_none(message.key.peer) || clients_is_same(message.key.own, message.key.peer))
		return false;
	if (client_table_find(pins->clients_fd, &message.key, &client))
		*ret_slot = predict_client_slot(pins, client.told);
	else if (client_table_excludes(pins->clients_fd, &message.key) ||
		 client_table_size(pins->clients_fd) >= XBOND_MAX_CLIENTS)
		return false; /* it gets no slave of its own */
	return true;
}

/* What a bond's policy answers to a packet. */

/* The kernel takes no tag beside the packet. Returns the size. */
static uint32_t policy_answer_make_packet(const struct captured *packet,
					  uint8_t ret_bytes[CAPTURED_HEAD + CAPTURED_TAG])
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
	return packet->size + CAPTURED_TAG;
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
	uint8_t bytes[CAPTURED_HEAD + CAPTURED_TAG];
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

/* All other packets. */

const char *const prediction_why[PREDICT_KINDS] = {
	[PREDICT_EVERY] = "every slave sends it",
	[PREDICT_TURN] = "packets take the slaves in turn, whatever their flow",
	[PREDICT_PAUSES] =
		"flowlet_gap: after each pause a flow takes the slave that has sent the least",
	[PREDICT_NEW_CLIENT] = "balance-alb: the neighbour gets the slave that is next in turn",
	[PREDICT_SOCKET] = "policy flow: the kernel's own hash decides, which is not in a "
			   "capture",
	[PREDICT_CUT] = "truncated before the fields that decide; capture more of each packet",
	[PREDICT_NO_DEST] = CAPTURED_WHY_NO_DEST,
	[PREDICT_NO_SLAVE] = "no slave may transmit now: dropped",
	[PREDICT_RECEIVED] = CAPTURED_WHY_RECEIVED,
	[PREDICT_OF_SLAVE] = "sent by a slave itself, not by the bond",
	[PREDICT_NO_ETHERNET] = CAPTURED_WHY_NO_ETHERNET,
};

/* Slow protocols, of which LACP is one. */
static bool predict_is_of_slave(const struct captured *captured)
{
	static const uint8_t slow[] = { 0x01, 0x80, 0xc2, 0x00, 0x00, 0x02 };

	return captured->vlan_tci < 0 && !memcmp(captured->head, slow, sizeof(slow)) &&
	       captured->head[12] == 0x88 && captured->head[13] == 0x09;
}

static struct prediction predict_by_bucket(const struct pins *pins, uint64_t hash)
{
	if (pins->table->flags & XBOND_F_FLOWLETS)
		return (struct prediction){ PREDICT_PAUSES, XBOND_NO_SLOT, -1 };
	return (struct prediction){ PREDICT_SLAVE, foretell_slot(pins, hash),
				    (int)FLOW_BUCKET(hash) };
}

/* By the bond's policy, if there is one, or by the hash. */
static struct prediction predict_slave(const struct pins *pins, const struct captured *captured,
				       uint64_t hash)
{
	struct policy_answer answer;

	if (!view_policy_decides(pins) ||
	    !policy_answer(pins, captured, hash, foretell_mask(pins), &answer))
		return predict_by_bucket(pins, hash);
	if (answer.kind == POLICY_SLOT)
		return (struct prediction){ PREDICT_SLAVE,
					    foretell_chosen_slot(pins, answer.slot, hash), -1 };
	return predict_by_bucket(pins, answer.kind == POLICY_HASH ? answer.hash : hash);
}

/* The hash is not in the packet, but the bond's policy may decide without it. */
static struct prediction predict_socket(const struct pins *pins, const struct captured *captured)
{
	const struct prediction unknown = { PREDICT_SOCKET, XBOND_NO_SLOT, -1 };
	struct policy_answer answer;

	if (captured->cut || !view_policy_decides(pins) ||
	    !policy_answer_unhashed(pins, captured, foretell_mask(pins), &answer))
		return unknown;
	if (answer.kind == POLICY_HASH)
		return predict_by_bucket(pins, answer.hash);
	return slots_have(foretell_live(pins), answer.slot)
		       ? (struct prediction){ PREDICT_SLAVE, answer.slot, -1 }
		       : unknown;
}

static struct prediction predict_by_hash(const struct pins *pins, const struct flow_rule *rule,
					 const struct captured *captured)
{
	struct prediction prediction = { .slot = XBOND_NO_SLOT, .bucket = -1 };
	uint64_t hash;

	if (pins->table->flags & XBOND_F_FLOWLETS && !view_policy_decides(pins))
		prediction.kind = PREDICT_PAUSES;
	else if (rule->policy == XBOND_POLICY_FLOW)
		prediction = predict_socket(pins, captured);
	else if (!flow_packet_hash_captured(captured, rule, &hash))
		prediction.kind = captured->no_dest ? PREDICT_NO_DEST : PREDICT_CUT;
	else
		prediction = predict_slave(pins, captured, hash);
	return prediction;
}

/* What is not balanced leaves by the active slave, except messages to clients of other slaves. */
static struct prediction predict_unbalanced(const struct pins *pins,
					    const struct captured *captured)
{
	unsigned int slot;

	if (!(pins->table->flags & XBOND_F_ALB) || captured->no_dest ||
	    !predict_client(pins, captured, &slot))
		return (struct prediction){ PREDICT_SLAVE, foretell_active_slot(pins), -1 };
	return (struct prediction){ slot < XBOND_MAX_SLAVES ? PREDICT_SLAVE : PREDICT_NEW_CLIENT,
				    slot, -1 };
}

static struct prediction predict_tlb(const struct pins *pins, const struct flow_rule *rule,
				     const struct captured *captured)
{
	struct prediction prediction = { .slot = XBOND_NO_SLOT, .bucket = -1 };
	enum flow_balance balance = flow_packet_balance(captured);

	if (balance == FLOW_CUT)
		prediction.kind = PREDICT_CUT;
	else if (balance == FLOW_ACTIVE)
		prediction = predict_unbalanced(pins, captured);
	else if (captured->no_dest) /* is it for one host, or for many? */
		prediction.kind = PREDICT_NO_DEST;
	else
		prediction = predict_by_hash(pins, rule, captured);
	return prediction;
}

static struct prediction predict_sent(const struct pins *pins, const struct flow_rule *rule,
				      const struct captured *captured)
{
	struct prediction prediction = { .slot = XBOND_NO_SLOT, .bucket = -1 };

	if (pins->table->flags & XBOND_F_BROADCAST_NEIGHBOR &&
	    flow_packet_is_neighbour_message(captured)) {
		prediction.kind = PREDICT_EVERY;
		return prediction;
	}
	if (foretell_is_tlb(pins))
		return predict_tlb(pins, rule, captured);
	switch ((enum xbond_selection)pins->table->selection) {
	case XBOND_SELECT_HASH: return predict_by_hash(pins, rule, captured);
	case XBOND_SELECT_ACTIVE: prediction.slot = foretell_active_slot(pins); break;
	case XBOND_SELECT_TURNS: prediction.kind = PREDICT_TURN; break;
	case XBOND_SELECT_ALL: prediction.kind = PREDICT_EVERY; break;
	}
	return prediction;
}

struct prediction predict(const struct pins *pins, const struct flow_rule *rule,
			  const struct captured *captured)
{
	struct prediction prediction = { .slot = XBOND_NO_SLOT, .bucket = -1 };

	if (predict_is_of_slave(captured))
		prediction.kind = PREDICT_OF_SLAVE;
	else if (captured_is_received(captured, pins->bond->mac))
		prediction.kind = PREDICT_RECEIVED;
	else if (!foretell_mask(pins))
		prediction.kind = PREDICT_NO_SLAVE;
	else
		prediction = predict_sent(pins, rule, captured);
	return prediction;
}
