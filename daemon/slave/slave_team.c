/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/slave/slave.h"

#include <net/if.h>

#include "bpf/slots.h"
#include "common/clock.h"
#include "daemon/base/crashpoint.h"
#include "daemon/base/event.h"
#include "daemon/bond/daemon.h"
#include "network/bonding.h"

#define KEEP_INTERVAL_NS (10000 * NS_PER_MS)

struct team_bond {
	uint64_t kept_ns; /* when it last told the team */
	uint64_t refused; /* slots whose port the team does not use as it should */
};

int slave_team_prepare(struct bond *bond, unsigned int slot, struct err *err)
{
	const struct xbond_slave *slave = bond_slave(bond, slot);

	if (!bond_is_team(bond_pin(bond)) || !(slave->before.flags & XBOND_SLAVE_WAS_UP))
		return 0;
	return link_set_flags(&bond->daemon->nl, (int)slave->ifindex, 0, IFF_UP, err);
}

static int slave_team_join(struct bond *bond, unsigned int slot, struct err *err)
{
	const struct xbond_bond *pin = bond_pin(bond);
	struct team_bond *team = part_of_bond(bond, &team_part);
	int ifindex = (int)bond_slave(bond, slot)->ifindex, r;
	struct nl *nl = &bond->daemon->nl;
	struct err why;

	if (!bond_is_team(pin))
		return 0;
	lro_hold(bond, slot, XBOND_SLAVE_LRO_OFF); /* the kernel turns it off, and never on again */
	r = link_set_master(nl, ifindex, (int)pin->ifindex, &why);
	crashpoint("team-joined");
	team->refused &= ~slots_bit(slot);
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
	struct team_bond *team = part_of_bond(bond, &team_part);
	const struct xbond_slave *slave = bond_slave(bond, slot);
	const struct xbond_bond *pin = bond_pin(bond);
	struct err err;
	int r = team_use_port((int)pin->ifindex, (int)slave->ifindex, &err);

	if (!r && pin->team_sends)
		r = team_map_port((int)pin->ifindex, slot, (int)slave->ifindex, &err);
	if (r && !slots_have(team->refused, slot)) /* told once */
		event_warning(pin->name, slave->name,
			      "cannot tell the team %s how to use %s: %s; take it out and add it "
			      "again",
			      pin->name, slave->name, err.text);
	team->refused &= ~slots_bit(slot);
	team->refused |= r ? slots_bit(slot) : 0;
}

/* To ask the team what it does would cost more than to tell it again. */
void slave_team_keep(struct bond *bond)
{
	struct team_bond *team = part_of_bond(bond, &team_part);
	uint64_t now_ns = clock_now_ns();

	if (!bond_is_team(bond_pin(bond)) ||
	    (team->kept_ns && now_ns - team->kept_ns < KEEP_INTERVAL_NS))
		return;
	team->kept_ns = now_ns;
	bond_for_each_member (bond, slot)
		if (slave_team_is_port(bond, slot))
			slave_team_keep_port(bond, slot);
}

static int slave_team_leave(struct bond *bond, unsigned int slot, const struct place *place,
			    struct err *err)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	const struct xbond_bond *pin = bond_pin(bond);
	struct link_info now;
	int r;

	if (place->away || !bond_is_team(pin))
		return 0;
	r = place_look(place, &now, err);
	if (r)
		return r;
	if (now.master == (int)pin->ifindex) {
		r = link_set_master(place->nl, place->ifindex, 0, err);
		crashpoint("team-left");
		return r ? r : 1;
	} else if (now.flags & IFF_UP) {
		slave->before.flags |= XBOND_SLAVE_WAS_UP; /* since then */
	}
	return 0;
}

static void team_settle(struct bond *bond, uint32_t news)
{
	slave_team_keep(bond);
}

struct part team_part = { .restores = XBOND_RESTORED_MASTER,
			  .enslave = slave_team_join,
			  .restore = slave_team_leave,
			  .bond_size = sizeof(struct team_bond),
			  .hears = NEWS_TIME,
			  .settle_bond = team_settle };
