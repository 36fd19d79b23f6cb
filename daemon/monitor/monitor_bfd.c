/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/monitor/monitor_bfd.h"

#include "bfd/bfd.h"
#include "daemon/base/event.h"
#include "daemon/bfd_thread/bfd_thread.h"
#include "daemon/bond/bond_bfd.h"
#include "daemon/bond/evaluate.h"
#include "daemon/monitor/verdict.h"

static void monitor_bfd_log(struct bond *bond, unsigned int slot, enum bfd_verdict verdict)
{
	const char *name = bond_pin(bond)->name, *slave = bond_slave(bond, slot)->name;
	struct bfd_session session;

	bfd_thread_session(bond->bfd.thread, slot, &session);
	if (verdict == BFD_WORKS)
		event_notice(name, slave, "%s: BFD session up", slave);
	else if (verdict == BFD_FAILS)
		event_notice(name, slave, "%s: BFD session %s (%s)", slave,
			     bfd_state_name(session.state), bfd_diag_name(session.diag));
	else
		event_notice(name, slave, "%s: the far end has turned its BFD session off", slave);
}

/* Returns true if the bond must be evaluated. */
static bool monitor_bfd_take_slot(struct bond *bond, unsigned int slot)
{
	enum bfd_verdict verdict = BFD_NO_VERDICT;
	bool known = verdict_is_known(bond, slot, XBOND_MONITOR_BFD);
	bool works = verdict_of(bond, slot, XBOND_MONITOR_BFD);

	if (bond->bfd.thread)
		verdict = bfd_thread_verdict(bond->bfd.thread, slot);
	if (verdict == BFD_NO_VERDICT && !known)
		return false;
	if (verdict != BFD_NO_VERDICT && known && works == (verdict == BFD_WORKS))
		return false;
	if (bond->bfd.thread)
		monitor_bfd_log(bond, slot, verdict);
	if (verdict == BFD_NO_VERDICT)
		return verdict_forget(bond, slot, XBOND_MONITOR_BFD);
	return verdict_set(bond, slot, XBOND_MONITOR_BFD, verdict == BFD_WORKS);
}

static bool monitor_bfd_take(struct bond *bond)
{
	bool changed = false;

	bond_for_each_member (bond, slot)
		changed |= monitor_bfd_take_slot(bond, slot);
	return changed;
}

void monitor_bfd_adopt(struct bond *bond)
{
	bond_bfd_follow(bond);
	monitor_bfd_take(bond);
}

void monitor_bfd_take_news(struct daemon *daemon)
{
	bfd_thread_acknowledge(daemon->bfd_thread);
	for (struct bond *bond = daemon->bonds; bond; bond = bond->next)
		if (bond_is_ready(bond) && monitor_bfd_take(bond))
			bond_evaluate(bond);
}
