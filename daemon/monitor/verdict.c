/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/monitor/verdict.h"

#include "common/clock.h"

bool verdict_set(struct bond *bond, unsigned int slot, enum link_monitor monitor, bool works)
{
	struct link_verdict *verdict = &bond->members[slot].verdict;
	bool before = bond_link_works(bond, slot);
	uint32_t bit = 1u << monitor;

	verdict->spoken |= bit;
	verdict->works = works ? verdict->works | bit : verdict->works & ~bit;
	verdict->learnt_ns[monitor] = clock_now_ns();
	return bond_link_works(bond, slot) != before;
}

bool verdict_of(const struct bond *bond, unsigned int slot, enum link_monitor monitor)
{
	return bond->members[slot].verdict.works >> monitor & 1;
}
