/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a packet to its hash, and to its slave, now and if that slave failed. Called by explain and
 * simulate.
 */
#ifndef XBOND_CLI_BASE_FORETELL_H
#define XBOND_CLI_BASE_FORETELL_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "cli/base/captured.h"
#include "common/pins.h"

/*
 * flow_packet.c, as the programs do it: a flow given by its addresses, a packet of that
 * flow, and the hash of that packet, or of a captured one, by bpf/flow.h itself. Knows neither maps
 * nor the words of the command line.
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

/* foretell.c: by the pinned tables. */

/* Slots. Drained ones are among them. */
struct aftermath {
	uint64_t at_once; /* from the next packet on */
	uint64_t settled; /* when bondd has acted, and ports of 802.3ad that stood by take part */
	/*
	 * 802.3ad: other ports that are selected then. Whether their partners let them transmit,
	 * and how soon, cannot be known here.
	 */
	uint64_t unsure;
};

struct aftermath aftermath_of(const struct pins *pins, unsigned int failed);

struct forecast {
	unsigned int bucket;
	unsigned int slot;    /* XBOND_NO_SLOT: no slave may transmit */
	bool detour;	      /* the slave that owns the bucket may not transmit */
	unsigned int at_once; /* if slot failed: the slot of the detour, from the next packet on */
	/*
	 * And the slot after bondd has shared out the buckets, or has chosen the next active slave.
	 */
	unsigned int settled;
	/*
	 * Ports of 802.3ad on whose partners it depends; settled is XBOND_NO_SLOT then.
	 */
	uint64_t unsure;
};

/*
 * What part of the packets a slot gets if these are many and of all kinds, by the weights: 0 to 1.
 * In broadcast each slot that may transmit gets all.
 */
void foretell_shares(const struct pins *pins, double ret_share[XBOND_MAX_SLAVES]);
/* The slots that may transmit. Drained slots are among them only if there are no others. */
uint64_t foretell_mask(const struct pins *pins);
/* Of these, the slots that have carrier. */
uint64_t foretell_live(const struct pins *pins);
/* How it hashes. */
struct flow_rule foretell_rule(const struct pins *pins);
/* The slot of a hash now; XBOND_NO_SLOT if none may transmit. */
unsigned int foretell_slot(const struct pins *pins, uint64_t hash);
/* Of each bucket, with those that have moved by load. */
void foretell_owners(const struct pins *pins, uint8_t ret_bucket[XBOND_BUCKETS]);
/* Owners and homes as bondd has them before it shares out: all moves by load have ended. */
void foretell_settle(const struct pins *pins, uint8_t ret_bucket[XBOND_BUCKETS],
		     uint8_t ret_home[XBOND_BUCKETS]);
/* Do slaves have addresses of their own, and the active one all that is not balanced? */
bool foretell_is_tlb(const struct pins *pins);
/* The active slave, as far as it may transmit. */
unsigned int foretell_active_slot(const struct pins *pins);
struct forecast foretell(const struct pins *pins, uint64_t hash);
/* The same two where a policy has chosen the slot, and the hash decides if that may not transmit.
 */
unsigned int foretell_chosen_slot(const struct pins *pins, unsigned int slot, uint64_t hash);
struct forecast foretell_chosen(const struct pins *pins, unsigned int slot, uint64_t hash);
/*
 * With flowlet_gap: the slot of a flow that has sent within the gap, and of others that share its
 * place in the table. XBOND_NO_SLOT: it pauses.
 */
unsigned int foretell_flowlet(const struct pins *pins, uint64_t hash);
/* For what the active slave carries. */
struct forecast foretell_active(const struct pins *pins);

#endif
