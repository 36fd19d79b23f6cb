/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/mirred.h"

#include <errno.h>
#include <string.h>

#include "daemon/attach.h"
#include "daemon/crashpoint.h"
#include "daemon/daemon.h"
#include "daemon/log.h"
#include "daemon/slave.h"
#include "daemon/slave_hooks.h"

int mirred_check(const struct xbond_bond *pin, struct err *err)
{
	if (pin->rx_backlog || pin->mac_policy == XBOND_MAC_SET)
		return 0;
	return err_set(err, EOPNOTSUPP,
		       "rx_backlog: off needs slaves with the bond's address: mac_policy set");
}

/* The action does not judge anew whom a packet is for: the slave's address must be bond0's. */
static bool is_wanted(struct bond *bond, unsigned int slot)
{
	const struct xbond_bond *pin = bond_pin(bond);

	return !pin->rx_backlog && !slave_hooks_forbid_mirred(bond, slot) &&
	       !memcmp(bond_slave(bond, slot)->mac, pin->mac, XBOND_MAC_SIZE);
}

static int add(struct bond *bond, unsigned int slot, struct err *err)
{
	int r = slave_hooks_to_clsact(bond, slot, err);

	if (!r)
		r = attach_add_mirred(&bond->daemon->nl, (int)bond_slave(bond, slot)->ifindex,
				      bond->dataplane.rx_mirred_fd, (int)bond_pin(bond)->ifindex,
				      err);
	crashpoint("mirred-attached");
	bond->members[slot].mirred |= !r;
	return r;
}

void mirred_follow(struct bond *bond, unsigned int slot)
{
	const struct xbond_slave *slave = bond_slave(bond, slot);
	struct err err;

	if (!is_wanted(bond, slot))
		mirred_remove(bond, slot);
	else if (!bond->away && add(bond, slot, &err))
		log_warning("%s: what %s receives goes by the backlog: %s", bond_pin(bond)->name,
			    slave->name, err.text);
}

bool mirred_is_missing(struct bond *bond, unsigned int slot)
{
	return bond->members[slot].mirred &&
	       !attach_has_mirred((int)bond_slave(bond, slot)->ifindex);
}

void mirred_follow_all(struct bond *bond)
{
	bond_for_each_member (bond, slot)
		mirred_follow(bond, slot);
}

void mirred_remove(struct bond *bond, unsigned int slot)
{
	/* Then it cannot be there: nobody is asked. */
	if (slave_hook(bond, slot) != XBOND_HOOK_CLSACT)
		return;
	attach_remove_mirred((int)bond_slave(bond, slot)->ifindex);
	bond->members[slot].mirred = false;
}
