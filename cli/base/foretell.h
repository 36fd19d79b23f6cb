/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the slave of a hash, now and if that slave failed, by the pinned tables. Called by explain
 * and simulate.
 */
#ifndef XBOND_CLI_BASE_FORETELL_H
#define XBOND_CLI_BASE_FORETELL_H

#include <stdbool.h>
#include <stdint.h>

#include "common/pins.h"

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
