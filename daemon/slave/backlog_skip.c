/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/slave/backlog_skip.h"

#include <string.h>

#include "daemon/base/crashpoint.h"
#include "daemon/base/event.h"
#include "daemon/bond/daemon.h"
#include "daemon/dataplane/attach.h"
#include "daemon/slave/rx_place.h"
#include "daemon/slave/slave_parts.h"
#include "daemon/slave/slave_rx.h"

/*
 * The action does not determine again for whom a packet is, so the slave must have bond0's address.
 */
static bool backlog_skip_is_wanted(struct bond *bond, unsigned int slot)
{
	const struct xbond_bond *pin = bond_pin(bond);

	return !pin->rx_backlog && !rx_place_forbids_backlog_skip(bond, slot) &&
	       !memcmp(bond_slave(bond, slot)->mac, pin->mac, XBOND_MAC_SIZE);
}

static int backlog_skip_add(struct bond *bond, unsigned int slot, struct err *err)
{
	int r = rx_place_to_clsact(bond, slot, err);

	if (!r)
		r = attach_add_mirred(&bond->daemon->nl, (int)bond_slave(bond, slot)->ifindex,
				      bond->dataplane.rx_mirred_fd, (int)bond_pin(bond)->ifindex,
				      err);
	crashpoint("mirred-attached");
	bond->members[slot].backlog_skip.is_there |= !r;
	return r;
}

void backlog_skip_follow(struct bond *bond, unsigned int slot)
{
	const struct xbond_slave *slave = bond_slave(bond, slot);
	struct err err;

	if (!backlog_skip_is_wanted(bond, slot))
		slave_rx_drop_backlog_skip(bond, slot);
	else if (!bond->device.away && backlog_skip_add(bond, slot, &err))
		event_warning(bond_pin(bond)->name, slave->name,
			      "what %s receives goes through the backlog: %s", slave->name,
			      err.text);
}

bool backlog_skip_is_missing(struct bond *bond, unsigned int slot)
{
	return bond->members[slot].backlog_skip.is_there &&
	       !attach_has_mirred((int)bond_slave(bond, slot)->ifindex);
}

void backlog_skip_follow_all(struct bond *bond)
{
	bond_for_each_member (bond, slot)
		backlog_skip_follow(bond, slot);
}

static int backlog_enslave(struct bond *bond, unsigned int slot, struct err *err)
{
	(void)err;
	backlog_skip_follow(bond, slot);
	return 0;
}

static int backlog_restore(struct bond *bond, unsigned int slot, const struct place *place,
			   struct err *err)
{
	int r = place->away ? 0 : slave_rx_drop_backlog_skip(bond, slot);

	return r ? err_set(err, -r, "%s", strerror(-r)) : 0;
}

struct part backlog_part = { .restores = XBOND_RESTORED_BACKLOG,
			     .enslave = backlog_enslave,
			     .restore = backlog_restore };
