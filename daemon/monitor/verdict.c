/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/monitor/monitor.h"

#include "bfd/bfd.h"
#include "common/clock.h"
#include "daemon/base/event.h"
#include "daemon/bfd_thread/bfd_thread.h"
#include "daemon/bond/daemon.h"
#include "daemon/bond/evaluate.h"

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
	bool said_no = bond_link_refusing(bond, slot) & bit;

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

struct asked_slave asked_slave(struct bond *bond, unsigned int slot)
{
	return (struct asked_slave){ .bond = bond_pin(bond)->port_ifindex,
				     .slot = slot,
				     .ifindex = bond_slave(bond, slot)->ifindex };
}

struct bond *asked_slave_bond(struct daemon *daemon, struct bond *before,
			      const struct asked_slave *asked)
{
	struct bond *bond = before ? before : daemon->bonds;

	while (bond && bond_pin(bond)->port_ifindex != asked->bond)
		bond = bond->next;
	return bond && bond_is_ready(bond) && bond_is_member(bond, asked->slot) &&
			       bond_slave(bond, asked->slot)->ifindex == asked->ifindex
		       ? bond
		       : NULL;
}

#define NEW_MEMBER_NS (1000 * NS_PER_MS)

/*
 * A message may be older than what is known. It may be from before the slave was enslaved, until
 * all messages of that time have been read, or from within a flap. Then the poller asks the driver.
 * It is not asked about a loss in normal operation, because the kernel may let the question wait
 * for the RTNL lock while traffic is being lost.
 */
static bool carrier_message_is_loss(struct bond *bond, unsigned int slot,
				    const struct link_info *link)
{
	bool is_new = bond->daemon->caught_up_ns < bond->members[slot].since_ns + NEW_MEMBER_NS;

	return !link->carrier && !is_new;
}

void carrier_message_take(struct bond *bond, unsigned int slot, const struct link_info *link)
{
	if (link->carrier == verdict_of(bond, slot, XBOND_MONITOR_CARRIER))
		return;
	if (!carrier_message_is_loss(bond, slot, link)) {
		poll_soon(bond);
		return;
	}
	verdict_set(bond, slot, XBOND_MONITOR_CARRIER, false);
	bond_evaluate(bond);
}

/*
 * Only losses, because packets are being lost; the poll finds returns. Messages may be from before
 * the device was enslaved.
 */
void carrier_message_take_loss(struct bond *bond, unsigned int slot, uint64_t now_ns)
{
	const struct member *member = &bond->members[slot];

	if (!bond_is_ready(bond) || !verdict_of(bond, slot, XBOND_MONITOR_CARRIER) ||
	    now_ns - member->since_ns < NEW_MEMBER_NS)
		return;
	verdict_set(bond, slot, XBOND_MONITOR_CARRIER, false);
	bond_evaluate(bond);
}

static void monitor_bfd_log(struct bond *bond, unsigned int slot, enum bfd_verdict verdict)
{
	const char *name = bond_pin(bond)->name, *slave = bond_slave(bond, slot)->name;
	struct bfd_session session;

	bfd_thread_session(bond_bfd_thread(bond), slot, &session);
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

	if (bond_bfd_thread(bond))
		verdict = bfd_thread_verdict(bond_bfd_thread(bond), slot);
	if (verdict == BFD_NO_VERDICT && !known)
		return false;
	if (verdict != BFD_NO_VERDICT && known && works == (verdict == BFD_WORKS))
		return false;
	if (bond_bfd_thread(bond))
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
	bond_bfd_configure(bond);
	monitor_bfd_take(bond);
}

void monitor_bfd_take_news(struct daemon *daemon)
{
	realtime_acknowledge(daemon->bfd_thread);
	for (struct bond *bond = daemon->bonds; bond; bond = bond->next)
		if (bond_is_ready(bond) && monitor_bfd_take(bond))
			bond_evaluate(bond);
}
