/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/explain/predict.h"

#include <string.h>

#include "bpf/flow_words.h"
#include "cli/base/flow_packet.h"
#include "cli/base/foretell.h"
#include "cli/explain/policy_answer.h"
#include "cli/explain/predict_client.h"
#include "common/slots.h"
#include "view/view_bond.h"

const char *const prediction_why[PREDICT_KINDS] = {
	[PREDICT_EVERY] = "every slave sends it",
	[PREDICT_TURN] = "the slaves take turns, whatever is in a packet",
	[PREDICT_PAUSES] =
		"flowlet_gap: after each pause a flow takes the slave that has sent the least",
	[PREDICT_NEW_CLIENT] = "balance-alb: the neighbour gets the slave that is next in turn",
	[PREDICT_SOCKET] = "policy flow: the kernel's own hash decides, which no capture has",
	[PREDICT_CUT] = "truncated before the fields that decide; capture more of each packet",
	[PREDICT_NO_DEST] =
		"a cooked capture lacks the destination MAC address, which decides here",
	[PREDICT_NO_SLAVE] = "no slave may transmit now: dropped",
	[PREDICT_RECEIVED] = "received, not sent",
	[PREDICT_OF_SLAVE] = "of a slave itself, not of the bond",
	[PREDICT_NO_ETHERNET] = "not a packet of an Ethernet device",
};

/* Slow protocols, of which LACP is one. */
static bool predict_is_of_slave(const struct captured *captured)
{
	static const uint8_t slow[] = { 0x01, 0x80, 0xc2, 0x00, 0x00, 0x02 };

	return captured->vlan_tci < 0 && !memcmp(captured->head, slow, sizeof(slow)) &&
	       captured->head[12] == 0x88 && captured->head[13] == 0x09;
}

/* A bond sends nothing to its own address. */
static bool predict_is_received(const struct pins *pins, const struct captured *captured)
{
	return captured->received ||
	       (!captured->no_dest && !memcmp(captured->head, pins->bond->mac, XBOND_MAC_SIZE));
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
	else if (predict_is_received(pins, captured))
		prediction.kind = PREDICT_RECEIVED;
	else if (!foretell_mask(pins))
		prediction.kind = PREDICT_NO_SLAVE;
	else
		prediction = predict_sent(pins, rule, captured);
	return prediction;
}
