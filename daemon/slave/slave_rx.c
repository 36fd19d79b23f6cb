/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/slave/slave_rx.h"

#include <stdio.h>

static bool slave_rx_goes_first(struct bond *bond, unsigned int slot)
{
	return bond_slave(bond, slot)->trouble & XBOND_TROUBLE_ENDING;
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

int slave_rx_attach(struct bond *bond, unsigned int slot, struct err *err)
{
	struct attach_point point = slave_rx_now(bond, slot);
	bool had_clsact;
	int r = attach_add(&point, bond->dataplane.rx_fd, &had_clsact, err);

	if (!r && !had_clsact) /* if it ever did, that was removed */
		bond_slave(bond, slot)->before.flags &= ~(__u32)XBOND_SLAVE_HAD_CLSACT;
	return r;
}

void slave_rx_drop_backlog_skip(struct bond *bond, unsigned int slot)
{
	/* Then it cannot be there: nobody is asked. */
	if (slave_rx_hook(bond, slot) != XBOND_HOOK_CLSACT)
		return;
	attach_remove_mirred((int)bond_slave(bond, slot)->ifindex);
	bond->members[slot].skips_backlog = false;
}
