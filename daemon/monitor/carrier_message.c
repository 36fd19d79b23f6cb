/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/monitor/carrier_message.h"

#include "common/clock.h"
#include "daemon/bond/daemon.h"
#include "daemon/bond/evaluate.h"
#include "daemon/monitor/poll.h"
#include "daemon/monitor/verdict.h"

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
