/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
/*
 * What a bond's programs and a policy of the user say to each other. A part of abi.h, and installed
 * by itself for xbond/policy.bpf.h, so policies that were compiled once go on working: a change
 * of a size or a meaning here raises XBOND_POLICY_VERSION, too, and the step in
 * daemon/dataplane/migrate.c has to end the policies that bonds have.
 */
#ifndef XBOND_ABI_POLICY_H
#define XBOND_ABI_POLICY_H

#include <linux/types.h>

#define XBOND_POLICY_VERSION 1
/* The map of the question. Its name has the version, so a policy of another one is recognized. */
#define XBOND_POLICY_QUESTION XBOND_POLICY_NAME(XBOND_POLICY_VERSION)
#define XBOND_POLICY_NAME(version) XBOND_POLICY_NAME_(version)
#define XBOND_POLICY_NAME_(version) xbond_policy_##version

/* Writer: the program that asks, one copy per CPU. */
struct xbond_question {
	__u64 hash;   /* of the packet, by the bond's xmit_hash_policy */
	__u64 usable; /* bits of the slots that may transmit now; never 0 */
	__u32 length; /* of the whole packet, in bytes; large if it will be segmented */
	__u32 pad0;
};
_Static_assert(sizeof(struct xbond_question) == 24, "policy ABI");

/*
 * Answers. The lowest two bits say what the others are. The rest of a slot's answer is its number,
 * that of a hash is the hash. XBOND_ANSWER_DEFAULT: as if there were no policy.
 */
#define XBOND_ANSWER_DEFAULT 0
#define XBOND_ANSWER_HASH 1
#define XBOND_ANSWER_SLOT 2
#define XBOND_ANSWER_KIND 3

#endif
