/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/monitor/verdict.h"

#include "common/clock.h"

/* The record for `show` and for the next bondd. */
static void verdict_pin(struct bond *bond, unsigned int slot)
{
	struct xbond_verdict *pinned = bond->dataplane.pins.monitors;
	const struct link_verdict *verdict = &bond->members[slot].verdict;
	uint32_t changed;

	if (!pinned)
		return;
	pinned += slot;
	changed = (pinned->works ^ verdict->works) | (verdict->spoken & ~pinned->spoken);
	for (unsigned int monitor = 0; monitor < XBOND_MONITORS; monitor++)
		if (changed >> monitor & 1)
			pinned->since_ns[monitor] = verdict->learnt_ns[monitor];
	pinned->works = verdict->works;
	pinned->spoken = verdict->spoken;
}

bool verdict_set(struct bond *bond, unsigned int slot, enum xbond_monitor monitor, bool works)
{
	struct link_verdict *verdict = &bond->members[slot].verdict;
	struct link_verdict before = *verdict;
	uint32_t bit = 1u << monitor;

	verdict->spoken |= bit;
	verdict->works = works ? verdict->works | bit : verdict->works & ~bit;
	verdict->learnt_ns[monitor] = clock_now_ns();
	verdict_pin(bond, slot);
	return verdict->works != before.works || verdict->spoken != before.spoken;
}

bool verdict_forget(struct bond *bond, unsigned int slot, enum xbond_monitor monitor)
{
	struct link_verdict *verdict = &bond->members[slot].verdict;
	uint32_t bit = 1u << monitor;
	bool said_no = verdict->spoken & ~verdict->works & bit;

	verdict->spoken &= ~bit;
	verdict->works &= ~bit;
	verdict_pin(bond, slot);
	return said_no;
}

bool verdict_of(const struct bond *bond, unsigned int slot, enum xbond_monitor monitor)
{
	return bond->members[slot].verdict.works >> monitor & 1;
}

bool verdict_is_known(const struct bond *bond, unsigned int slot, enum xbond_monitor monitor)
{
	return bond->members[slot].verdict.spoken >> monitor & 1;
}

void verdict_begin(struct bond *bond, unsigned int slot)
{
	bond->members[slot].verdict = (struct link_verdict){ 0 };
	verdict_pin(bond, slot);
}

void verdict_adopt(struct bond *bond, unsigned int slot)
{
	const struct xbond_verdict *pinned = bond->dataplane.pins.monitors;
	struct link_verdict *verdict = &bond->members[slot].verdict;

	if (!pinned)
		return;
	verdict->spoken = pinned[slot].spoken & ((1u << XBOND_MONITORS) - 1);
	verdict->works = pinned[slot].works & verdict->spoken;
}
