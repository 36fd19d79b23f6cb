/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of explain share: the words of a call, and what becomes of a packet. */
#ifndef XBOND_CLI_EXPLAIN_EXPLAIN_H
#define XBOND_CLI_EXPLAIN_EXPLAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/flow_words.h"
#include "cli/base/captured.h"
#include "cli/base/cli.h"
#include "cli/base/foretell.h"
#include "common/pins.h"

/* The words of a call, parsed into a flow. */

/* Of enum flow_field. */
extern const char *const explain_words[FLOW_FIELDS];

struct explain_call {
	const char *bond;
	const char *text[FLOW_FIELDS]; /* as given by the user; NULL: not given */
	struct flow_packet flow;
};

/* Prints what is wrong with the first bad one. */
enum cli_exit explain_take_words(const struct verb *verb, int argc, char **argv,
				 struct explain_call *ret_call);

/* Prints the answer, of which it takes the reference: as text, or with -j as it is. */
enum cli_exit explain_print(const struct cli *cli, json_t *json);

/*
 * What a bond's policy answers to a packet: the policy itself is run on it (BPF_PROG_RUN), so its
 * maps count as they are now.
 */

enum policy_answer_kind {
	POLICY_DEFAULT, /* as if there were none */
	POLICY_HASH,
	POLICY_SLOT,
};

struct policy_answer {
	enum policy_answer_kind kind;
	uint64_t hash;	   /* of POLICY_HASH */
	unsigned int slot; /* of POLICY_SLOT; may be none of the bond's */
};

/*
 * hash: by xmit_hash_policy; mask: the slots that may transmit. Returns false if the policy cannot
 * be run.
 */
bool policy_answer(const struct pins *pins, const struct captured *packet, uint64_t hash,
		   uint64_t mask, struct policy_answer *ret_answer);
/* The same where the hash is not known: true only if the answer is not made from it. */
bool policy_answer_unhashed(const struct pins *pins, const struct captured *packet, uint64_t mask,
			    struct policy_answer *ret_answer);

enum prediction_kind {
	PREDICT_SLAVE,
	PREDICT_EVERY,	    /* every slave sends it */
	PREDICT_TURN,	    /* the slave whose turn it is */
	PREDICT_PAUSES,	    /* flowlet_gap: the load decides when the flow pauses */
	PREDICT_NEW_CLIENT, /* balance-alb: a neighbour that has no slave yet */
	PREDICT_SOCKET,	    /* policy flow: the kernel's own hash decides */
	PREDICT_CUT,	    /* what decides is not in the capture */
	PREDICT_NO_DEST,
	PREDICT_NO_SLAVE, /* none may transmit */
	PREDICT_RECEIVED,
	PREDICT_OF_SLAVE,    /* the slave's own, such as an LACPDU */
	PREDICT_NO_ETHERNET, /* said by the caller */
	PREDICT_KINDS,
};

/* Why there is no single slave; NULL for PREDICT_SLAVE. */
extern const char *const prediction_why[PREDICT_KINDS];

struct prediction {
	enum prediction_kind kind;
	unsigned int slot; /* XBOND_NO_SLOT unless PREDICT_SLAVE */
	int bucket;	   /* -1: no hash decided */
};

struct flow_rule;

struct prediction predict(const struct pins *pins, const struct flow_rule *rule,
			  const struct captured *captured);

/* explain --pcap: the slave of each packet of a capture, and what each slave gets of it. */

enum cli_exit explain_pcap(const struct cli *cli, const struct pins *pins,
			   const struct flow_rule *rule, const char *bond, const char *file,
			   bool summary);

#endif
