/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/slave/slave_rx.h"

#include <stdio.h>

#include "daemon/bond/daemon.h"
#include "network/filters.h"

/* With a team nobody behind it misses a frame, and nobody before it may end a frame's way. */
static bool slave_rx_goes_first(struct bond *bond, unsigned int slot)
{
	return bond_is_team(bond_pin(bond)) ||
	       bond_slave(bond, slot)->trouble & XBOND_TROUBLE_ENDING;
}

struct attach_point slave_rx_point(struct bond *bond, unsigned int slot, enum xbond_hook hook)
{
	struct attach_point point = {
		.hook = hook,
		.ifindex = (int)bond_slave(bond, slot)->ifindex,
	};

	if (hook == XBOND_HOOK_CLSACT)
		point.priority = slave_rx_goes_first(bond, slot) ? ATTACH_FIRST_PRIORITY
								 : ATTACH_LAST_PRIORITY;
	snprintf(point.pin, sizeof(point.pin), "%s/" XBOND_PIN_LINK_RX "%u",
		 bond->dataplane.pins.dir, slot);
	return point;
}

enum xbond_hook slave_rx_hook(struct bond *bond, unsigned int slot)
{
	return bond_slave(bond, slot)->clsact ? XBOND_HOOK_CLSACT : bond_pin(bond)->hook;
}

struct attach_point slave_rx_now(struct bond *bond, unsigned int slot)
{
	return slave_rx_point(bond, slot, slave_rx_hook(bond, slot));
}

/*
 * Earlier builds recorded it after they had made the qdisc. If their member has one by now, their
 * record is taken as it is.
 */
void slave_rx_record_clsact(struct bond *bond, unsigned int slot)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	/* If nobody knows, it is left alone later: it may be somebody's. */
	bool there = filters_has_clsact(&bond->daemon->nl, (int)slave->ifindex) != 0;
	bool may_be_ours = slave->state != XBOND_SLOT_ENSLAVING &&
			   slave_rx_hook(bond, slot) == XBOND_HOOK_CLSACT;
	__u32 flags = slave->before.flags;

	if (!there) /* if it ever had one, it has been removed */
		flags &= ~(__u32)XBOND_SLAVE_HAD_CLSACT;
	else if (!(flags & XBOND_SLAVE_CLSACT_KNOWN) && !may_be_ours)
		flags |= XBOND_SLAVE_HAD_CLSACT;
	slave->before.flags = flags | XBOND_SLAVE_CLSACT_KNOWN;
}

int slave_rx_attach(struct bond *bond, unsigned int slot, struct err *err)
{
	struct attach_point point = slave_rx_now(bond, slot);

	if (point.hook == XBOND_HOOK_CLSACT)
		slave_rx_record_clsact(bond, slot);
	return attach_add(&point, bond->dataplane.rx_fd, err);
}

int slave_rx_drop_backlog_skip(struct bond *bond, unsigned int slot)
{
	int r;

	/* It cannot be there then, so the kernel is not asked. */
	if (slave_rx_hook(bond, slot) != XBOND_HOOK_CLSACT)
		return 0;
	r = attach_remove_mirred((int)bond_slave(bond, slot)->ifindex);
	bond->members[slot].backlog_skip.is_there = false;
	return r;
}
