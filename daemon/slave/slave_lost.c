/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/slave/slave_lost.h"

#include <errno.h>

#include "daemon/base/event.h"
#include "daemon/bond/awaited.h"
#include "daemon/bond/daemon.h"
#include "daemon/bond/evaluate.h"
#include "daemon/slave/slave.h"
#include "daemon/slave/vlan_filter.h"

void slave_lost(struct bond *bond, unsigned int slot, const struct link_info *gone)
{
	bool moved = gone && gone->new_nsid >= 0;

	bond_slave(bond, slot)->state = XBOND_SLOT_RELEASING;
	bond_evaluate(bond);
	event_config("del-slave", bond_pin(bond)->name, bond_slave(bond, slot)->name, "slave %s %s",
		     bond_slave(bond, slot)->name,
		     moved ? "was moved to another namespace" : "has gone");
	if (moved)
		slave_restore_moved_away(bond, slot, gone);
	else if (!gone) /* it is not known whether it was moved */
		vlan_filter_close(bond, slot);
	awaited_slave_lost(bond, slot);
	slave_forget(bond, slot);
}

void slave_lost_look(struct bond *bond)
{
	struct link_info link;

	bond_for_each_member (bond, slot) {
		int r = link_get(&bond->daemon->nl, -1, (int)bond_slave(bond, slot)->ifindex,
				 &link);

		if (r == -ENODEV)
			slave_lost(bond, slot, NULL);
		else if (!r)
			slave_follow_link(bond, slot, &link);
	}
}
