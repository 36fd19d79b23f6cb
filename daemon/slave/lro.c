/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/slave/lro.h"

#include "daemon/base/event.h"
#include "daemon/bond/daemon.h"
#include "network/driver.h"
#include "network/link.h"

enum { LRO_UNKNOWN, LRO_NONE, LRO_THERE };

struct search {
	int ifindex; /* bond0 */
	bool found;
};

static void lro_look_for_master(const struct link_info *link, void *arg)
{
	struct search *search = arg;

	if (link->ifindex == search->ifindex || link_is_on(link, search->ifindex))
		search->found |= link->master != 0;
}

static bool lro_is_port(struct bond *bond)
{
	struct search search = { .ifindex = (int)bond_pin(bond)->ifindex };

	if (link_visit(&bond->daemon->nl, bond_pin(bond)->netnsid, lro_look_for_master, &search))
		return bond->lro.is_port; /* nobody knows */
	return search.found;
}

static bool lro_has_lro(struct bond *bond, unsigned int slot)
{
	struct member *member = &bond->members[slot];
	struct feature lro;

	if (member->lro.feature == LRO_UNKNOWN) {
		bool there = !feature_get(&bond->daemon->ethtool, bond_slave(bond, slot)->name,
					  FEATURE_LRO, &lro) &&
			     !lro.fixed;

		member->lro.feature = there ? LRO_THERE : LRO_NONE;
	}
	return member->lro.feature == LRO_THERE;
}

static bool lro_is_on(struct bond *bond, unsigned int slot)
{
	struct feature lro;

	return lro_has_lro(bond, slot) &&
	       !feature_get(&bond->daemon->ethtool, bond_slave(bond, slot)->name, FEATURE_LRO,
			    &lro) &&
	       lro.active;
}

void lro_hold(struct bond *bond, unsigned int slot, uint32_t reason)
{
	uint32_t *flags = &bond_slave(bond, slot)->before.flags;

	if (!(*flags & reason) && (*flags & LRO_REASONS || lro_is_on(bond, slot)))
		*flags |= reason;
}

static void lro_end(struct bond *bond, unsigned int slot, const char *name, uint32_t reasons)
{
	uint32_t *flags = &bond_slave(bond, slot)->before.flags;

	if (!(*flags & reasons))
		return;
	if (!(*flags & LRO_REASONS & ~reasons) &&
	    feature_set(&bond->daemon->ethtool, name, FEATURE_LRO, true) < 0)
		event_warning(bond_pin(bond)->name, NULL, "cannot restore " FEATURE_LRO " of %s",
			      name);
	*flags &= ~reasons;
}

void lro_let_go(struct bond *bond, unsigned int slot, uint32_t reason)
{
	lro_end(bond, slot, bond_slave(bond, slot)->name, reason);
}

void lro_restore(struct bond *bond, unsigned int slot, const char *name)
{
	lro_end(bond, slot, name, LRO_REASONS);
}

static void lro_turn_off(struct bond *bond, unsigned int slot)
{
	struct xbond_slave *slave = bond_slave(bond, slot);

	lro_hold(bond, slot, XBOND_SLAVE_LRO_OFF);
	if (!lro_is_on(bond, slot))
		return;
	event_notice(bond_pin(bond)->name, slave->name,
		     FEATURE_LRO " of %s is off while %s, or a device on it, is a port of another",
		     slave->name, bond_pin(bond)->name);
	if (feature_set(&bond->daemon->ethtool, slave->name, FEATURE_LRO, false) < 0)
		event_warning(bond_pin(bond)->name, slave->name,
			      "cannot turn " FEATURE_LRO " of %s off", slave->name);
}

void lro_follow_upper(struct bond *bond, const struct link_info *link, bool gone)
{
	bool is_port_now = link->master && !gone;

	if (link_is_on(link, (int)bond_pin(bond)->ifindex) && is_port_now != bond->lro.is_port)
		lro_follow(bond);
}

void lro_follow(struct bond *bond)
{
	uint64_t slots = 0;

	if (bond_is_team(bond_pin(bond)))
		return;
	bond_for_each_member (bond, slot)
		if (lro_has_lro(bond, slot))
			slots |= UINT64_C(1) << slot;
	if (!slots)
		return;
	bond->lro.is_port = lro_is_port(bond);
	bond_for_each_member (bond, slot) {
		if (!(slots >> slot & 1))
			continue;
		if (bond->lro.is_port)
			lro_turn_off(bond, slot);
		else
			lro_let_go(bond, slot, XBOND_SLAVE_LRO_OFF);
	}
}
