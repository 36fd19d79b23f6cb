/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/bond/failover.h"

#include "common/clock.h"

void failover_began(struct bond *bond, unsigned int slot, uint64_t ns)
{
	bond->members[slot].failover.began_ns = ns;
}

static uint32_t failover_refusing(const struct member *member)
{
	return member->verdict.spoken & ~member->verdict.works;
}

/*
 * The last word of the monitors that now say no, unless one of them knew since when. 0 if nothing
 * has failed: a slave that was used although a monitor said no also leaves when a better one is
 * back.
 */
static uint64_t failover_since_ns(const struct member *member)
{
	uint32_t news = failover_refusing(member) & ~member->failover.refusing;
	uint64_t since_ns = 0;

	if (member->failover.began_ns)
		return member->failover.began_ns;
	for (unsigned int monitor = 0; monitor < XBOND_MONITORS; monitor++)
		if (news >> monitor & 1 && member->verdict.learnt_ns[monitor] > since_ns)
			since_ns = member->verdict.learnt_ns[monitor];
	return since_ns;
}

static void failover_count(struct bond *bond, unsigned int slot, uint64_t took_ns)
{
	struct xbond_failover *figures = bond->dataplane.pins.failover;
	uint64_t us = took_ns / 1000;
	unsigned int bucket = us ? 64 - (unsigned int)__builtin_clzll(us) : 0;

	bond->members[slot].failover.took_ns = took_ns;
	if (!figures)
		return;
	figures->last_ns = took_ns;
	figures->sum_ns += took_ns;
	figures->histogram[bucket < XBOND_FAILOVER_BUCKETS ? bucket : XBOND_FAILOVER_BUCKETS - 1]++;
	figures->count++;
}

/*
 * downdelay is no part of it: a link that is going down has left the table when its loss was known.
 */
void failover_published(struct bond *bond, const struct decision *decision)
{
	uint64_t now_ns = clock_now_ns();

	bond_for_each_member (bond, slot) {
		struct member *member = &bond->members[slot];
		uint64_t since_ns = failover_since_ns(member);

		member->failover.took_ns = 0;
		if (decision->before[slot] == XBOND_LINK_UP &&
		    bond_slave(bond, slot)->link != XBOND_LINK_UP && since_ns && since_ns < now_ns)
			failover_count(bond, slot, now_ns - since_ns);
		if (bond_slave(bond, slot)->link != XBOND_LINK_UP)
			member->failover.began_ns = 0;
		member->failover.refusing = failover_refusing(member);
	}
}
