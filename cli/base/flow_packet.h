/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a packet to its hash, and from a hash to a slot, as the programs do it. */
#ifndef XBOND_CLI_BASE_FLOW_PACKET_H
#define XBOND_CLI_BASE_FLOW_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "cli/base/captured.h"

/*
 * A flow given by its addresses, a packet of that flow, and the hash of that packet, or of a
 * captured one, by bpf/flow.h itself. Knows neither maps nor the words of the command line.
 */

enum flow_field {
	FLOW_SMAC,
	FLOW_DMAC,
	FLOW_VLAN,
	FLOW_SRC,
	FLOW_DST,
	FLOW_LABEL,
	FLOW_PROTO,
	FLOW_SPORT,
	FLOW_DPORT,
	FLOW_FIELDS,
};

struct flow_packet {
	uint8_t smac[XBOND_MAC_SIZE], dmac[XBOND_MAC_SIZE];
	uint8_t src[16], dst[16]; /* 4 bytes of IPv4 */
	bool ip6;
	uint8_t proto;	/* 0: a protocol without ports */
	uint32_t label; /* the flow label of IPv6 */
	uint16_t vlan;	/* 0: untagged */
	uint16_t sport, dport;
};

enum flow_balance {
	FLOW_BALANCED,
	FLOW_ACTIVE, /* no: it is for the active slave */
	FLOW_CUT,    /* the capture does not say */
};

struct flow_rule;

uint64_t flow_packet_hash(const struct flow_packet *flow, const struct flow_rule *rule);
/* A packet of the flow, with its tag in it. */
void flow_packet_make(const struct flow_packet *flow, struct captured *ret_captured);

/*
 * The hash of a captured packet. Returns false if it takes what the capture does not have: bytes
 * that were cut off, or the destination address.
 */
bool flow_packet_hash_captured(const struct captured *captured, const struct flow_rule *rule,
			       uint64_t *ret_hash);
/* Do balance-tlb and balance-alb balance it? */
enum flow_balance flow_packet_balance(const struct captured *captured);
/* Does it leave by every slave with broadcast_neighbor? */
bool flow_packet_is_neighbour_message(const struct captured *captured);

/* Would another value of this field change the hash? */
bool flow_packet_counts(const struct flow_packet *flow, const struct flow_rule *rule,
			enum flow_field field);

/* From a hash to a slot, by a table of buckets, as the programs do it. Knows no maps. */

/*
 * The rule of select_usable() in the BPF programs: slot, or another one by the hash. mask: the
 * slots that may transmit; XBOND_NO_SLOT if there are none.
 */
unsigned int flow_slot_usable(const uint8_t bucket[XBOND_BUCKETS], unsigned int slot, uint64_t hash,
			      uint64_t mask);
/* The same for a hash whose slot is that of its bucket. */
unsigned int flow_slot(const uint8_t bucket[XBOND_BUCKETS], uint64_t hash, uint64_t mask);

#endif
