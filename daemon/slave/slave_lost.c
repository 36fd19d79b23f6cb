/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/slave/slave_lost.h"

#include <errno.h>
#include <string.h>

#include "common/mac.h"
#include "daemon/base/event.h"
#include "daemon/bond/awaited.h"
#include "daemon/bond/daemon.h"
#include "daemon/bond/evaluate.h"
#include "daemon/slave/mac_swap.h"
#include "daemon/slave/slave.h"
#include "daemon/slave/slave_team.h"

static void slave_lost_tell(struct bond *bond, unsigned int slot, bool moved)
{
	const char *slave = bond_slave(bond, slot)->name;

	event_tell(
		&(const struct event){ .kind = EVENT_DEVICE,
				       .priority = LOG_NOTICE,
				       .bond = bond_pin(bond)->name,
				       .slave = slave,
				       .field = { event_text("state", moved ? "moved" : "gone") } },
		"slave %s %s", slave, moved ? "was moved to another namespace" : "has gone");
}

void slave_lost_tell_mac(struct bond *bond, unsigned int slot)
{
	const struct xbond_slave *slave = bond_slave(bond, slot);
	char now[MAC_FORMAT_SIZE], own[MAC_FORMAT_SIZE];

	if (mac_is_zero(slave->mac) || !memcmp(slave->mac, slave->before.mac, XBOND_MAC_SIZE))
		return;
	event_notice(bond_pin(bond)->name, slave->name,
		     "if %s was moved to another namespace, it has MAC address %s there; its own "
		     "was %s",
		     slave->name, mac_format(slave->mac, now), mac_format(slave->before.mac, own));
}

void slave_lost(struct bond *bond, unsigned int slot, const struct link_info *gone)
{
	bool moved = gone && gone->new_nsid >= 0;

	bond_slave(bond, slot)->state = XBOND_SLOT_RELEASING;
	bond_evaluate(bond);
	slave_lost_tell(bond, slot, moved);
	if (moved) {
		mac_swap_move_away(bond, slot);
		slave_restore_moved_away(bond, slot, gone);
	} else if (!gone) { /* it is not known whether it was moved */
		slave_lost_tell_mac(bond, slot);
	}
	awaited_slave_lost(bond, slot);
	slave_forget(bond, slot);
}

bool slave_has_left(struct bond *bond, unsigned int slot, const struct link_info *link)
{
	const struct xbond_bond *pin = bond_pin(bond);
	struct link_info now;

	/* The message may be old, so the present state counts. */
	if (!bond_is_team(pin) || link->master == (int)pin->ifindex ||
	    link_get(&bond->daemon->nl, -1, link->ifindex, &now))
		return false;
	if (now.master == (int)pin->ifindex) {
		slave_team_keep_port(bond, slot);
		return false;
	}
	event_config("del-slave", pin->name, bond_slave(bond, slot)->name,
		     "somebody has taken %s out of %s; it is released",
		     bond_slave(bond, slot)->name, pin->name);
	slave_release(bond, UINT64_C(1) << slot);
	return true;
}

static void slave_lost_look_at(struct bond *bond, unsigned int slot)
{
	bool *is_unseen = &bond->members[slot].is_unseen;
	struct link_info link;
	int r = *is_unseen ? slave_find_device(bond, slot, &link)
			   : link_get(&bond->daemon->nl, -1, (int)bond_slave(bond, slot)->ifindex,
				      &link);

	if (r)
		bond->due.read = true;
	if (r == -ENODEV)
		slave_lost(bond, slot, NULL);
	if (r || slave_has_left(bond, slot, &link))
		return;
	if (*is_unseen)
		slave_adopt(bond, slot, &link);
	*is_unseen = false;
	slave_follow_link(bond, slot, &link);
}

void slave_lost_look(struct bond *bond)
{
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (bond_is_member(bond, slot))
			slave_lost_look_at(bond, slot);
		else if (bond_slave(bond, slot)->state != XBOND_SLOT_FREE)
			slave_undo(bond, slot);
}
