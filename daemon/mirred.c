/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/mirred.h"

#include <errno.h>
#include <string.h>

#include "daemon/attach.h"
#include "daemon/crashpoint.h"
#include "daemon/daemon.h"
#include "daemon/log.h"
#include "daemon/slave.h"

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

	return !pin->rx_backlog && !memcmp(bond_slave(bond, slot)->mac, pin->mac, XBOND_MAC_SIZE);
}

static bool has_tcx(struct bond *bond)
{
	return bond_pin(bond)->hook == XBOND_HOOK_TCX;
}

static void remove_tcx(struct bond *bond, unsigned int slot)
{
	struct attach_point tcx = slave_attach_point(bond, slot, XBOND_HOOK_TCX);

	attach_remove(&bond->daemon->nl, &tcx, true);
}

/* The program on clsact comes before the one on TCX goes. */
static int add(struct bond *bond, unsigned int slot, struct err *err)
{
	struct attach_point clsact = slave_attach_point(bond, slot, XBOND_HOOK_CLSACT);
	struct xbond_slave *slave = bond_slave(bond, slot);
	bool is_first = has_tcx(bond) && !slave->mirred, had_clsact;
	int r;

	slave->mirred = 1; /* from here on there may be something to undo */
	crashpoint("mirred-recorded");
	r = attach_add(&clsact, bond->dataplane.rx_fd, &had_clsact, err);
	if (!r && is_first && had_clsact)
		slave->before.flags |= XBOND_SLAVE_HAD_CLSACT;
	if (!r)
		r = attach_add_mirred(&bond->daemon->nl, clsact.ifindex, bond->dataplane.rx_mirred_fd,
				      (int)bond_pin(bond)->ifindex, err);
	crashpoint("mirred-attached");
	if (!r && has_tcx(bond))
		remove_tcx(bond, slot);
	return r;
}

/* Back to the bond's hook. */
static int drop(struct bond *bond, unsigned int slot, struct err *err)
{
	struct attach_point clsact = slave_attach_point(bond, slot, XBOND_HOOK_CLSACT);
	struct xbond_slave *slave = bond_slave(bond, slot);
	int r = 0;

	attach_remove_mirred(clsact.ifindex);
	if (has_tcx(bond)) {
		struct attach_point tcx = slave_attach_point(bond, slot, XBOND_HOOK_TCX);

		remove_tcx(bond, slot);
		r = attach_add(&tcx, bond->dataplane.rx_fd, NULL, err);
		crashpoint("mirred-dropped");
		if (r)
			return r;
		attach_remove(&bond->daemon->nl, &clsact, slave->before.flags & XBOND_SLAVE_HAD_CLSACT);
		slave->before.flags &= ~(__u32)XBOND_SLAVE_HAD_CLSACT;
	}
	slave->mirred = 0;
	return 0;
}

void mirred_follow(struct bond *bond, unsigned int slot)
{
	const struct xbond_slave *slave = bond_slave(bond, slot);
	struct err err;

	if (is_wanted(bond, slot)) {
		if (bond->away || !add(bond, slot, &err))
			return;
		log_warning("%s: what %s receives goes by the backlog: %s", bond_pin(bond)->name, slave->name,
			    err.text);
	}
	if (slave->mirred && drop(bond, slot, &err))
		log_warning("%s: %s: %s", bond_pin(bond)->name, slave->name, err.text);
}

void mirred_follow_all(struct bond *bond)
{
	bond_for_each_member (bond, slot)
		mirred_follow(bond, slot);
}

void mirred_remove(struct bond *bond, unsigned int slot)
{
	if (!bond_slave(bond, slot)->mirred)
		return;
	attach_remove_mirred((int)bond_slave(bond, slot)->ifindex);
	if (has_tcx(bond))
		remove_tcx(bond, slot);
}
