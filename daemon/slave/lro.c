/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/slave/slave.h"

#include "bpf/slots.h"
#include "daemon/base/event.h"
#include "daemon/bond/daemon.h"
#include "network/driver.h"
#include "network/link.h"

enum { LRO_UNKNOWN, LRO_NONE, LRO_THERE };

struct lro_bond {
	bool is_port; /* bond0, or a device on it, has a master, as last seen */
};

struct lro_member {
	unsigned char feature; /* whether the device has it */
	bool told;	       /* that it cannot be restored */
};

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
	const struct lro_bond *lro = part_of_bond(bond, &lro_part);
	struct search search = { .ifindex = (int)bond_pin(bond)->ifindex };

	if (link_visit(&bond->daemon->nl, bond_pin(bond)->netnsid, lro_look_for_master, &search))
		return lro->is_port; /* nobody knows */
	return search.found;
}

static bool lro_has_lro(struct bond *bond, unsigned int slot)
{
	struct lro_member *member = part_of_member(bond, &lro_part, slot);
	struct feature lro;

	if (member->feature == LRO_UNKNOWN) {
		bool there = !feature_get(&bond->daemon->ethtool, bond_slave(bond, slot)->name,
					  FEATURE_LRO, &lro) &&
			     !lro.fixed;

		member->feature = there ? LRO_THERE : LRO_NONE;
	}
	return member->feature == LRO_THERE;
}

static bool lro_is_on(struct bond *bond, unsigned int slot)
{
	return lro_has_lro(bond, slot) &&
	       feature_is_on(&bond->daemon->ethtool, bond_slave(bond, slot)->name, FEATURE_LRO);
}

void lro_hold(struct bond *bond, unsigned int slot, uint32_t reason)
{
	uint32_t *flags = &bond_slave(bond, slot)->before.flags;

	if (!(*flags & reason) && (*flags & LRO_REASONS || lro_is_on(bond, slot)))
		*flags |= reason;
}

void lro_let_go(struct bond *bond, unsigned int slot, uint32_t reason)
{
	uint32_t *flags = &bond_slave(bond, slot)->before.flags;
	struct lro_member *member = part_of_member(bond, &lro_part, slot);
	const char *name = bond_slave(bond, slot)->name;

	if (!(*flags & reason))
		return;
	if (!(*flags & LRO_REASONS & ~reason) &&
	    feature_set(&bond->daemon->ethtool, name, FEATURE_LRO, true) < 0) {
		if (!member->told)
			event_warning(bond_pin(bond)->name, name,
				      "cannot restore " FEATURE_LRO " of %s", name);
		member->told = true;
		return; /* it is tried again, at the latest when the slave is released */
	}
	*flags &= ~reason;
}

static int lro_restore(struct bond *bond, unsigned int slot, const struct place *place,
		       struct err *err)
{
	if (!(bond_slave(bond, slot)->before.flags & LRO_REASONS))
		return 0;
	return part_restore_feature(place, FEATURE_LRO, err);
}

/* Any device may have the slave's name now. */
static void lro_forget(struct bond *bond, unsigned int slot)
{
	bond_slave(bond, slot)->before.flags &= ~(uint32_t)LRO_REASONS;
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

static uint64_t lro_slots(struct bond *bond)
{
	uint64_t slots = 0;

	bond_for_each_member (bond, slot)
		if (lro_has_lro(bond, slot))
			slots |= slots_bit(slot);
	return slots;
}

/* Costs nothing if no slave has the feature. */
static void lro_settle(struct bond *bond, uint32_t news)
{
	struct lro_bond *lro = part_of_bond(bond, &lro_part);
	uint64_t slots = bond_is_team(bond_pin(bond)) ? 0 : lro_slots(bond);

	if (!slots)
		return;
	lro->is_port = lro_is_port(bond);
	slots_for_each (slots, member) {
		if (lro->is_port)
			lro_turn_off(bond, member);
		else
			lro_let_go(bond, member, XBOND_SLAVE_LRO_OFF);
	}
}

struct part lro_part = {
	.restores = XBOND_RESTORED_LRO,
	.bond_size = sizeof(struct lro_bond),
	.member_size = sizeof(struct lro_member),
	.hears = NEWS_BOND | NEWS_ON_BOND | NEWS_TIME | NEWS_LOST,
	.restore = lro_restore,
	.forget = lro_forget,
	.settle_bond = lro_settle,
};
