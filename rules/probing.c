/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/probing.h"

#define PROBING_FILTER XBOND_ARP_VALIDATE_FILTER /* a bit of the other values */

static uint64_t probing_latest(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static bool probing_sends(enum probing_role role)
{
	return role == PROBING_ACTIVE || role == PROBING_CANDIDATE;
}

static bool probing_is_validated(const struct probing_rule *rule, enum probing_role role)
{
	return rule->validate &
	       (probing_sends(role) ? XBOND_ARP_VALIDATE_ACTIVE : XBOND_ARP_VALIDATE_BACKUP);
}

static uint64_t probing_of_targets(const struct probing_rule *rule, const __u64 *heard_ns)
{
	uint64_t latest = 0, earliest = UINT64_MAX;

	for (unsigned int i = 0; i < XBOND_PROBE_TARGETS; i++) {
		if (!(rule->targets >> i & 1))
			continue;
		latest = probing_latest(latest, heard_ns[i]);
		if (heard_ns[i] < earliest)
			earliest = heard_ns[i];
	}
	return rule->all_targets && rule->targets ? earliest : latest;
}

uint64_t probing_last_ns(const struct probing_rule *rule, enum probing_role role,
			 const struct probing_heard *heard, bool is_answered)
{
	const struct xbond_probe_times *times = heard->times;

	if (!probing_is_validated(rule, role))
		return rule->validate & PROBING_FILTER
			       ? times->neighbour_ns
			       : probing_latest(probing_latest(heard->any_ns, times->uncounted_ns),
						times->neighbour_ns);
	if (role != PROBING_BACKUP) /* switches that learn late may lead an answer to any slave */
		return probing_of_targets(rule, times->from_ns);
	return is_answered ? probing_of_targets(rule, times->to_ns) : 0;
}

/* As long as the first two probes and their answers may take. */
static bool probing_has_grace(const struct probing_rule *rule, const struct probing_state *state,
			      uint64_t now_ns)
{
	return now_ns <= state->since_ns + rule->interval_ns * 5 / 2;
}

enum probing_verdict probing_step(const struct probing_rule *rule, enum probing_role role,
				  struct probing_state *state, uint64_t last_ns, uint64_t begun_ns,
				  uint64_t now_ns)
{
	uint32_t limit = rule->missed_max + (role == PROBING_BACKUP);

	if (last_ns && last_ns + rule->interval_ns / 2 >= begun_ns) {
		state->missed = 0;
		return PROBING_UP;
	}
	if (state->missed < UINT32_MAX)
		state->missed++;
	/* While an active slave is looked for, each slave shall have its turn first. */
	if (state->missed < limit || role == PROBING_CANDIDATE || role == PROBING_OTHER ||
	    probing_has_grace(rule, state, now_ns))
		return PROBING_UNCHANGED;
	return PROBING_DOWN;
}
