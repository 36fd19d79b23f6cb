/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/monitor/look.h"

#include "common/slots.h"
#include "daemon/bond/evaluate.h"
#include "daemon/bond/failover.h"
#include "daemon/monitor/verdict.h"

static bool look_set(struct bond *bond, unsigned int slot, bool up, uint64_t since_ns)
{
	if (!verdict_is_known(bond, slot, XBOND_MONITOR_CARRIER) ||
	    verdict_of(bond, slot, XBOND_MONITOR_CARRIER) == up)
		return false; /* it is being enslaved, or this is not news */
	if (!up)
		failover_began(bond, slot, since_ns);
	return verdict_set(bond, slot, XBOND_MONITOR_CARRIER, up);
}

/*
 * A slot that is neither up nor lost keeps its verdict: the kernel has not acted on a change yet. A
 * slot whose loss is known has left the table, so its next loss is news.
 */
bool look_take(struct bond *bond, uint64_t since_ns)
{
	uint64_t up, lost;
	bool changed = false;

	if (!dataplane_look(&bond->dataplane, &up, &lost))
		return false;
	bond_for_each_member (bond, slot)
		if (slots_have(up | lost, slot))
			changed |= look_set(bond, slot, slots_have(up, slot), since_ns);
	if (changed)
		bond_evaluate(bond);
	bond->look.unsure = !dataplane_listen_for(&bond->dataplane, up | lost);
	return true;
}
