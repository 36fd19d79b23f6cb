/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a bond's policy answers to a packet: the policy itself is run on it (BPF_PROG_RUN), so its
 * maps count as they are now.
 */
#ifndef XBOND_CLI_EXPLAIN_POLICY_ANSWER_H
#define XBOND_CLI_EXPLAIN_POLICY_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/base/captured.h"
#include "common/pins.h"

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

#endif
