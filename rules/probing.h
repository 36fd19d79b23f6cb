/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the ARP monitor concludes from what a slave has heard. The rules are those of kernel
 * bonding. Pure; the caller gives the times. bpf/probe.h writes down what was heard.
 */
#ifndef XBOND_RULES_PROBING_H
#define XBOND_RULES_PROBING_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"

enum probing_role {
	/* The active slave, or every slave of a mode that has none. It sends probes. */
	PROBING_ACTIVE,
	PROBING_BACKUP, /* of a bond that has an active slave */
	/* There is no active slave. The slaves take turns in sending, and this one's turn it is. */
	PROBING_CANDIDATE,
	PROBING_OTHER, /* the same, and it is another's turn */
};

struct probing_rule {
	uint32_t validate; /* enum xbond_arp_validate */
	bool all_targets;
	uint32_t missed_max;
	uint64_t interval_ns;
	uint32_t targets; /* one bit for each target that is probed, as in struct xbond_probes */
};

struct probing_heard {
	uint64_t any_ns; /* any frame */
	const struct xbond_probe_times *times;
};

/*
 * When the slave last heard something that counts; 0: never. is_answered: the active slave has
 * heard something since it became the active one. Until then its probes, which a backup hears,
 * prove nothing.
 */
uint64_t probing_last_ns(const struct probing_rule *rule, enum probing_role role,
			 const struct probing_heard *heard, bool is_answered);

struct probing_state {
	/* The slave is new, or has become the active one or the candidate. */
	uint64_t since_ns;
	uint32_t missed; /* intervals in a row in which nothing came */
};

enum probing_verdict { PROBING_UP, PROBING_DOWN, PROBING_UNCHANGED };

/*
 * The end of an interval, which began at begun_ns. It counts as one, however long it was: no probe
 * was sent meanwhile.
 */
enum probing_verdict probing_step(const struct probing_rule *rule, enum probing_role role,
				  struct probing_state *state, uint64_t last_ns, uint64_t begun_ns,
				  uint64_t now_ns);

#endif
