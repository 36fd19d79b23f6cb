/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a slave's device itself has: state, IPv6, MTU, flags, the group of the slow protocols. */
#include <errno.h>
#include <net/if.h>
#include <string.h>

#include "bpf/slots.h"
#include "daemon/alb/alb.h"
#include "daemon/base/event.h"
#include "daemon/bond/daemon.h"
#include "daemon/monitor/monitor.h"
#include "daemon/slave/slave.h"
#include "network/ip.h"
#include "network/mac_lists.h"

static const struct xbond_slave_record *link_before(struct bond *bond, unsigned int slot)
{
	return &bond_slave(bond, slot)->before;
}

static bool link_look(struct bond *bond, unsigned int slot, struct link_info *ret_now)
{
	return !link_get(&bond->daemon->nl, -1, (int)bond_slave(bond, slot)->ifindex, ret_now);
}

static int link_restore_flags(const struct place *place, unsigned int flags, unsigned int mask,
			      struct err *err)
{
	struct link_info now;
	int r = place_look(place, &now, err);

	if (r || (now.flags & mask) == flags)
		return r;
	r = link_set_flags(place->nl, place->ifindex, flags, mask, err);
	return r ? r : 1;
}

/* A bondd that died between two MAC addresses, or a team, may have left it down. */
static int state_restore(struct bond *bond, unsigned int slot, const struct place *place,
			 struct err *err)
{
	if (place->away || !(link_before(bond, slot)->flags & XBOND_SLAVE_WAS_UP))
		return 0;
	return link_restore_flags(place, IFF_UP, IFF_UP, err);
}

struct part state_part = { .restores = XBOND_RESTORED_STATE,
			   .enslave = slave_team_prepare,
			   .restore = state_restore };

static int ipv6_enslave(struct bond *bond, unsigned int slot, struct err *err)
{
	const char *name = bond_slave(bond, slot)->name;
	int r = ipv6_set_disabled(name, 1);

	return r < 0 ? err_set(err, -r, "cannot turn IPv6 off on %s: %s", name, strerror(-r)) : 0;
}

/* In another namespace it has begun anew. */
static int ipv6_restore(struct bond *bond, unsigned int slot, const struct place *place,
			struct err *err)
{
	int r;

	if (place->away || link_before(bond, slot)->disable_ipv6 || !ipv6_disabled(place->name))
		return 0;
	r = ipv6_set_disabled(place->name, 0);
	if (r)
		return err_set(err, -r, "%s", strerror(-r));
	return ipv6_disabled(place->name) > 0; /* there may be no such switch any more */
}

/* Addresses that somebody has given to a member stay: it is in trouble, but they are not ours. */
static void ipv6_settle(struct bond *bond, unsigned int slot, uint32_t news)
{
	const char *name = bond_slave(bond, slot)->name;

	if (!ipv6_disabled(name) && !slave_has_addresses(bond, slot) && !ipv6_set_disabled(name, 1))
		event_notice(bond_pin(bond)->name, name, "IPv6 of %s was on; it is off again",
			     name);
}

struct part ipv6_part = { .restores = XBOND_RESTORED_IPV6,
			  .hears = NEWS_LOST,
			  .enslave = ipv6_enslave,
			  .restore = ipv6_restore,
			  .settle = ipv6_settle };

static int mtu_enslave(struct bond *bond, unsigned int slot, struct err *err)
{
	const struct xbond_slave *slave = bond_slave(bond, slot);
	uint32_t mtu = bond_pin(bond)->mtu;
	struct err why;
	int r = slave->before.mtu == mtu
			? 0
			: link_set_mtu(&bond->daemon->nl, (int)slave->ifindex, mtu, &why);

	return r ? err_set(err, -r,
			   "%s does not take the bond's MTU %u (%s); lower the bond's MTU first",
			   slave->name, mtu, why.text)
		 : 0;
}

static int mtu_restore(struct bond *bond, unsigned int slot, const struct place *place,
		       struct err *err)
{
	uint32_t mtu = link_before(bond, slot)->mtu;
	struct link_info now;
	int r = place_look(place, &now, err);

	if (r || now.mtu == mtu)
		return r;
	r = link_set_mtu(place->nl, place->ifindex, mtu, err);
	return r ? r : 1;
}

static bool mtu_hear(struct bond *bond, unsigned int slot, enum part_news news,
		     const struct link_info *link, bool gone)
{
	return !link || link->mtu != bond_pin(bond)->mtu;
}

/* Somebody has changed it. */
static void mtu_settle(struct bond *bond, unsigned int slot, uint32_t news)
{
	const struct xbond_bond *pin = bond_pin(bond);
	const char *name = bond_slave(bond, slot)->name;
	struct link_info now;
	struct err err;

	if (!link_look(bond, slot, &now) || now.mtu == pin->mtu)
		return;
	event_notice(pin->name, name, "MTU of %s is put back to %u", name, pin->mtu);
	quality_excuse(bond, slot);
	if (link_set_mtu(&bond->daemon->nl, now.ifindex, pin->mtu, &err))
		event_warning(pin->name, name, "cannot set the MTU of %s: %s", name, err.text);
}

struct part mtu_part = {
	.restores = XBOND_RESTORED_MTU,
	.hears = NEWS_SLAVE | NEWS_LOST,
	.enslave = mtu_enslave,
	.restore = mtu_restore,
	.hear = mtu_hear,
	.settle = mtu_settle,
};

/*
 * If somebody else put it there before, it stays. -EINVAL: the device has no lists. -ENODEV: its
 * driver has suspended it while it is down; allmulti has to do.
 */
static int slow_enslave(struct bond *bond, unsigned int slot, struct err *err)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	int r = multicast_is_static((int)slave->ifindex, multicast_slow_protocols);

	if (r > 0)
		return 0;
	if (!r) {
		slave->before.flags |= XBOND_SLAVE_JOINED_SLOW;
		r = multicast_add((int)slave->ifindex, multicast_slow_protocols);
		if (r)
			slave->before.flags &= ~XBOND_SLAVE_JOINED_SLOW;
	}
	if (!r || r == -EINVAL || r == -ENODEV)
		return 0;
	return err_set(err, -r, "%s cannot join the group of the slow protocols: %s", slave->name,
		       strerror(-r));
}

/* A device that moves loses its lists. */
static int slow_restore(struct bond *bond, unsigned int slot, const struct place *place,
			struct err *err)
{
	int r;

	if (place->away || !(link_before(bond, slot)->flags & XBOND_SLAVE_JOINED_SLOW))
		return 0;
	r = multicast_delete(place->ifindex, multicast_slow_protocols);
	return r && r != -ENOENT ? err_set(err, -r, "%s", strerror(-r)) : 0;
}

/*
 * A device that was in another namespace for a while has lost it. Where it is still, nothing
 * changes; asking first would mean to read the lists of all devices.
 */
static void slow_settle(struct bond *bond, unsigned int slot, uint32_t news)
{
	if (link_before(bond, slot)->flags & XBOND_SLAVE_JOINED_SLOW)
		multicast_add((int)bond_slave(bond, slot)->ifindex, multicast_slow_protocols);
}

/* By name, for filters that even with allmulti block link-local groups. */
struct part slow_part = { .restores = XBOND_RESTORED_SLOW,
			  .hears = NEWS_LOST,
			  .enslave = slow_enslave,
			  .restore = slow_restore,
			  .settle = slow_settle };

static unsigned int flags_needed(const struct bond *bond)
{
	return bond->device.promisc ? IFF_ALLMULTI | IFF_PROMISC : IFF_ALLMULTI;
}

/*
 * allmulti lets multicast groups that are joined on bond0 through the slave's filter, with or
 * without bondd.
 */
static int flags_enslave(struct bond *bond, unsigned int slot, struct err *err)
{
	unsigned int flags = flags_needed(bond);

	return link_set_flags(&bond->daemon->nl, (int)bond_slave(bond, slot)->ifindex, flags, flags,
			      err);
}

static int flags_restore(struct bond *bond, unsigned int slot, const struct place *place,
			 struct err *err)
{
	uint32_t had = link_before(bond, slot)->flags;
	unsigned int flags = had & XBOND_SLAVE_WAS_ALLMULTI ? IFF_ALLMULTI : 0;

	flags |= had & XBOND_SLAVE_WAS_PROMISC ? IFF_PROMISC : 0;
	return link_restore_flags(place, flags, IFF_ALLMULTI | IFF_PROMISC, err);
}

struct flags_bond {
	uint64_t stand_in; /* slots that are promiscuous because they stand in for others */
};

/* balance-alb: the active slave is promiscuous while it hears what is for others. */
static uint64_t flags_stand_in(struct bond *bond)
{
	uint64_t slots = 0;

	bond_for_each_member (bond, slot)
		if (learning_stands_in(bond, slot))
			slots |= slots_bit(slot);
	return slots;
}

static bool flags_hear(struct bond *bond, unsigned int slot, enum part_news news,
		       const struct link_info *link, bool gone)
{
	const struct flags_bond *flags = part_of_bond(bond, &flags_part);

	if (news == NEWS_TICK)
		return flags_stand_in(bond) != flags->stand_in;
	return !link || flags_needed(bond) & ~link->flags;
}

/* As bond0 needs it. */
static void flags_set_promisc(struct bond *bond, unsigned int slot)
{
	const struct xbond_slave *slave = bond_slave(bond, slot);
	bool promisc = bond->device.promisc || learning_stands_in(bond, slot) ||
		       slave->before.flags & XBOND_SLAVE_WAS_PROMISC;
	struct err err;

	if (link_set_flags(&bond->daemon->nl, (int)slave->ifindex, promisc ? IFF_PROMISC : 0,
			   IFF_PROMISC, &err))
		event_warning(bond_pin(bond)->name, slave->name, "cannot set %s promiscuous: %s",
			      slave->name, err.text);
}

static void flags_settle_promisc(struct bond *bond, uint32_t news)
{
	struct flags_bond *flags = part_of_bond(bond, &flags_part);
	uint64_t slots = flags_stand_in(bond), changed = slots ^ flags->stand_in;

	flags->stand_in = slots;
	bond_for_each_member (bond, slot)
		if (slots_have(changed, slot) || news & (NEWS_PROMISC | NEWS_LOST))
			flags_set_promisc(bond, slot);
}

/* Somebody has changed them. What is news of bond0 itself is not put back, but set after this. */
static void flags_put_back(struct bond *bond, unsigned int slot, uint32_t news)
{
	bool bond_is_next = news & (NEWS_PROMISC | NEWS_LOST);
	const char *name = bond_slave(bond, slot)->name;
	unsigned int missing;
	struct link_info now;
	struct err err;

	if (!link_look(bond, slot, &now))
		return;
	missing = (bond_is_next ? IFF_ALLMULTI : flags_needed(bond)) & ~now.flags;
	if (!missing)
		return;
	event_notice(bond_pin(bond)->name, name, "%s of %s is put back",
		     missing & IFF_ALLMULTI ? "allmulticast" : "promisc", name);
	if (link_set_flags(&bond->daemon->nl, now.ifindex, missing, missing, &err))
		event_warning(bond_pin(bond)->name, name, "cannot set the flags of %s: %s", name,
			      err.text);
}

struct part flags_part = {
	.restores = XBOND_RESTORED_FLAGS,
	.bond_size = sizeof(struct flags_bond),
	.hears = NEWS_SLAVE | NEWS_PROMISC | NEWS_TICK | NEWS_LOST,
	.enslave = flags_enslave,
	.restore = flags_restore,
	.hear = flags_hear,
	.settle = flags_put_back,
	.settle_bond = flags_settle_promisc,
};

static int up_enslave(struct bond *bond, unsigned int slot, struct err *err)
{
	if (link_before(bond, slot)->flags & XBOND_SLAVE_WAS_UP || bond_is_team(bond_pin(bond)))
		return 0;
	return link_set_flags(&bond->daemon->nl, (int)bond_slave(bond, slot)->ifindex, IFF_UP,
			      IFF_UP, err);
}

/*
 * It goes down before its MAC is restored: some drivers refuse that while up, and nothing leaves
 * with the wrong one.
 */
static int up_restore(struct bond *bond, unsigned int slot, const struct place *place,
		      struct err *err)
{
	if (place->away || link_before(bond, slot)->flags & XBOND_SLAVE_WAS_UP)
		return 0;
	return link_restore_flags(place, 0, IFF_UP, err);
}

struct part up_part = { .restores = XBOND_RESTORED_DOWN,
			.enslave = up_enslave,
			.restore = up_restore };
