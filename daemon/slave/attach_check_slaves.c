/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/slave/attach_check_slaves.h"

#include "daemon/bond/attach_check.h"
#include "daemon/dataplane/attach.h"
#include "daemon/slave/backlog_skip.h"
#include "daemon/slave/slave_rx.h"
#include "daemon/slave/slave_team.h"

static int attach_check_put_back_slave(const struct attach_place *place, struct err *err)
{
	return slave_rx_attach(place->bond, place->slot, err);
}

void attach_check_slave(struct bond *bond, unsigned int slot)
{
	struct attach_place place = {
		.bond = bond,
		.slot = slot,
		.point = slave_rx_point(bond, slot, slave_rx_hook(bond, slot)),
		.program_fd = bond->dataplane.rx_fd,
		.put_back = attach_check_put_back_slave,
		.device = bond_slave(bond, slot)->name,
	};

	/*
	 * Earlier builds had it in front of the filters of others. rx_place.c removes that one.
	 */
	if (bond->adopting && place.point.hook == XBOND_HOOK_CLSACT)
		place.expected = attach_has_rx_filter(place.point.ifindex, ATTACH_FILTER_PRIORITY);
	attach_check_place(&place);
	if (backlog_skip_is_missing(bond, slot))
		backlog_skip_follow(bond, slot);
}

void attach_check_all(struct bond *bond)
{
	bond_for_each_member (bond, slot)
		attach_check_slave(bond, slot);
	slave_team_keep(bond);
	attach_check_pair(bond, false);
}
