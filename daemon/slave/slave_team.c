/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/slave/slave_team.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>

#include "common/clock.h"
#include "common/slots.h"
#include "daemon/base/crashpoint.h"
#include "daemon/base/event.h"
#include "daemon/base/main_loop.h"
#include "daemon/bond/daemon.h"
#include "daemon/slave/lro.h"
#include "network/bonding.h"

#define KEEP_INTERVAL_NS (10000 * NS_PER_MS)

int slave_team_prepare(struct bond *bond, unsigned int slot, struct err *err)
{
	const struct xbond_slave *slave = bond_slave(bond, slot);

	if (!bond_is_team(bond_pin(bond)) || !(slave->before.flags & XBOND_SLAVE_WAS_UP))
		return 0;
	return link_set_flags(&bond->daemon->nl, (int)slave->ifindex, 0, IFF_UP, err);
}

int slave_team_join(struct bond *bond, unsigned int slot, struct err *err)
{
	const struct xbond_bond *pin = bond_pin(bond);
	int ifindex = (int)bond_slave(bond, slot)->ifindex, r;
	struct nl *nl = &bond->daemon->nl;
	struct err why;

	if (!bond_is_team(pin))
		return 0;
	lro_hold(bond, slot, XBOND_SLAVE_LRO_OFF); /* the kernel turns it off, and never on again */
	r = link_set_master(nl, ifindex, (int)pin->ifindex, &why);
	crashpoint("team-joined");
	bond->team.refused &= ~slots_bit(slot);
	if (!r && pin->team_sends)
		r = team_map_port((int)pin->ifindex, slot, ifindex, &why);
	if (!r)
		r = link_set_flags(nl, ifindex, IFF_UP, IFF_UP, &why);
	return r ? err_set(err, -r, "%s does not become a port of the team %s: %s",
			   bond_slave(bond, slot)->name, pin->name, why.text)
		 : 0;
}

static bool slave_team_is_port(struct bond *bond, unsigned int slot)
{
	const struct xbond_bond *pin = bond_pin(bond);
	struct link_info now;
	int r = link_get(&bond->daemon->nl, -1, (int)bond_slave(bond, slot)->ifindex, &now);

	return !r && now.master == (int)pin->ifindex;
}

void slave_team_keep_port(struct bond *bond, unsigned int slot)
{
	const struct xbond_slave *slave = bond_slave(bond, slot);
	const struct xbond_bond *pin = bond_pin(bond);
	struct err err;
	int r = team_use_port((int)pin->ifindex, (int)slave->ifindex, &err);

	if (!r && pin->team_sends)
		r = team_map_port((int)pin->ifindex, slot, (int)slave->ifindex, &err);
	if (r && !slots_have(bond->team.refused, slot)) /* told once */
		event_warning(pin->name, slave->name,
			      "cannot tell the team %s how to use %s: %s; take it out and add it "
			      "again",
			      pin->name, slave->name, err.text);
	bond->team.refused &= ~slots_bit(slot);
	bond->team.refused |= r ? slots_bit(slot) : 0;
}

/* To ask the team what it does would cost more than to tell it again. */
void slave_team_keep(struct bond *bond)
{
	uint64_t now_ns = clock_now_ns();

	if (!bond_is_team(bond_pin(bond)) ||
	    (bond->team.kept_ns && now_ns - bond->team.kept_ns < KEEP_INTERVAL_NS))
		return;
	bond->team.kept_ns = now_ns;
	bond_for_each_member (bond, slot)
		if (slave_team_is_port(bond, slot)) {
			slave_team_keep_port(bond, slot);
			if (!bond->adopting) /* then it is not ready to be evaluated */
				idle_turn();
		}
}

void slave_team_leave(struct bond *bond, unsigned int slot)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	const struct xbond_bond *pin = bond_pin(bond);
	struct nl *nl = &bond->daemon->nl;
	struct link_info now;
	struct err err;
	int r = bond_is_team(pin) ? link_get(nl, -1, (int)slave->ifindex, &now) : -ENODEV;

	if (r && r != -ENODEV)
		event_warning(pin->name, slave->name, "cannot take %s out of the team: %s",
			      slave->name, strerror(-r));
	if (r)
		return;
	if (now.master == (int)pin->ifindex) {
		if (link_set_master(nl, (int)slave->ifindex, 0, &err))
			event_warning(pin->name, slave->name, "cannot take %s out of the team: %s",
				      slave->name, err.text);
		crashpoint("team-left");
	} else if (now.flags & IFF_UP) {
		slave->before.flags |= XBOND_SLAVE_WAS_UP; /* since then */
	}
}
