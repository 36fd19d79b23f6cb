/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * simulate: what each slave gets of some packets, and what moves if a slave fails, by the hash of
 * bpf/flow.h and the bucket tables of rules/buckets.h.
 */
#ifndef XBOND_CLI_SIMULATE_H
#define XBOND_CLI_SIMULATE_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "bpf/flow_words.h"
#include "common/err.h"

struct simulate_sum {
	uint64_t flows, packets, bytes;
};

struct simulate_table {
	uint8_t bucket[XBOND_BUCKETS], home[XBOND_BUCKETS];
};

/* What becomes of all packets once a slave has failed, and its buckets are shared out. */
struct simulate_failure {
	uint64_t at_once; /* slots that may transmit before that */
	uint64_t mask;	  /* slots that may transmit then; none: nothing is foretold */
	uint64_t unsure;  /* those of mask that need the consent of their partners */
	uint32_t weight[XBOND_MAX_SLAVES], member_weight[XBOND_MAX_SLAVES];
	struct simulate_table table;
	struct simulate_sum gets[XBOND_MAX_SLAVES]; /* each slot, in all */
	struct simulate_sum moved;		    /* what has another slave than before */
	struct simulate_sum moved_again; /* of that: had a third slave until bondd had shared out */
};

/* Packets of a capture that no hash decides about. */
enum simulate_other {
	SIMULATE_RECEIVED,
	SIMULATE_CUT,
	SIMULATE_NO_DEST,
	SIMULATE_NO_ETHERNET,
	SIMULATE_ACTIVE,
	SIMULATE_OTHERS,
};

struct simulate {
	const char *bond; /* NULL: none */
	const char *file; /* NULL: generated flows */
	uint64_t flows;	  /* of those */
	struct flow_rule rule;
	uint64_t mask;
	bool is_weighed;			  /* the weights are not those of a bond */
	uint32_t weight[XBOND_MAX_SLAVES];	  /* of the slots in mask */
	uint32_t member_weight[XBOND_MAX_SLAVES]; /* also of slaves that may not transmit now */
	char name[XBOND_MAX_SLAVES][XBOND_NAME_SIZE];
	uint8_t mac[XBOND_MAC_SIZE]; /* of the bond */
	bool is_tlb; /* balance-tlb or balance-alb: not all that is sent is balanced */
	struct simulate_table table;
	struct simulate_table settled; /* the same when no bucket is about to move by load */
	struct simulate_sum sum[XBOND_MAX_SLAVES], total;
	struct simulate_failure failure[XBOND_MAX_SLAVES];
	uint64_t other[SIMULATE_OTHERS];
	bool flows_lack; /* there were more flows than can be told from each other */
};

/* The slaves, weights, rule and buckets of a bond, and who replaces which of its slaves. */
int simulate_take_bond(struct simulate *simulate, const char *bpf_dir, struct err *err);
/*
 * Fills the tables. With other weights than those of a bond, the buckets of `table` stay where they
 * are as far as the weights allow.
 */
void simulate_share_out(struct simulate *simulate);

void simulate_generate(struct simulate *simulate);
/* Returns 0, or an error if the file cannot be read to its end. */
int simulate_read(struct simulate *simulate, struct err *err);

#endif
