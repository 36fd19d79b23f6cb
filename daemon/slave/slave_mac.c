/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The MAC address of a slave: which it shall have by mac_policy and the bond's address, how it gets
 * it, and gets its own back; and two slaves that exchange theirs (mac_swap_).
 */
#include <errno.h>
#include <net/if.h>
#include <string.h>

#include "common/mac.h"
#include "daemon/alb/alb.h"
#include "daemon/base/crashpoint.h"
#include "daemon/base/event.h"
#include "daemon/bond/daemon.h"
#include "daemon/bond/evaluate.h"
#include "daemon/bond/part.h"
#include "daemon/monitor/monitor.h"
#include "daemon/slave/slave.h"

static bool mac_swap_is_on(struct bond *bond)
{
	return bond_fail_over_mac(bond_pin(bond)) == XBOND_FAIL_OVER_MAC_FOLLOW;
}

static bool slave_mac_is_same(const uint8_t *a, const uint8_t *b)
{
	return !memcmp(a, b, XBOND_MAC_SIZE);
}

/* Slots that are being filled and emptied count, too: their devices have addresses. */
static int mac_swap_holder(struct bond *bond, const uint8_t *mac, unsigned int not_slot)
{
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (slot != not_slot && bond_slave(bond, slot)->state != XBOND_SLOT_FREE &&
		    slave_mac_is_same(bond_slave(bond, slot)->mac, mac))
			return (int)slot;
	return -1;
}

static bool mac_swap_is_taken(struct bond *bond, const uint8_t *mac, unsigned int by_not)
{
	return slave_mac_is_same(bond_pin(bond)->mac, mac) ||
	       mac_swap_holder(bond, mac, by_not) >= 0;
}

/* An address for a slave that must not have the bond's: its own, if nobody has it. */
static void mac_swap_give_spare(struct bond *bond, unsigned int slot)
{
	struct xbond_slave *slave = bond_slave(bond, slot);

	if (mac_swap_is_taken(bond, slave->before.mac, slot))
		mac_random(slave->mac);
	else
		memcpy(slave->mac, slave->before.mac, XBOND_MAC_SIZE);
}

/* If nobody knows what the slave has now, that may be the bond's address: it is tried again. */
static void mac_swap_change(struct bond *bond, unsigned int slot)
{
	uint8_t *mac = bond_slave(bond, slot)->mac, wanted[XBOND_MAC_SIZE];
	struct err err;

	memcpy(wanted, mac, XBOND_MAC_SIZE);
	if (!slave_mac_set(bond, slot, &err))
		return;
	event_error(bond_pin(bond)->name, NULL, "%s", err.text);
	if (slave_mac_is_same(mac, wanted))
		memcpy(mac, bond_pin(bond)->mac, XBOND_MAC_SIZE);
}

/* Two slaves have one address after a change of mode, or after a bondd that died in between. */
static void mac_swap_part(struct bond *bond, unsigned int active)
{
	bond_for_each_member (bond, slot)
		if (slot != active && mac_swap_is_taken(bond, bond_slave(bond, slot)->mac, slot)) {
			mac_swap_give_spare(bond, slot);
			mac_swap_change(bond, slot);
		}
}

/* The slave that has given the bond's address away comes first in the maps, last in the devices. */
static void mac_swap_do(struct bond *bond, unsigned int active, int holder)
{
	struct xbond_slave *new = bond_slave(bond, active);
	uint8_t before[XBOND_MAC_SIZE];
	struct err err;

	memcpy(before, new->mac, XBOND_MAC_SIZE);
	if (holder >= 0)
		memcpy(bond_slave(bond, (unsigned int)holder)->mac, before, XBOND_MAC_SIZE);
	crashpoint("mac-swap-begun");
	memcpy(new->mac, bond_pin(bond)->mac, XBOND_MAC_SIZE);
	crashpoint("mac-swap-recorded");
	if (slave_mac_set(bond, active, &err)) {
		event_error(bond_pin(bond)->name, NULL, "%s; it receives nothing for the bond",
			    err.text);
		if (holder >= 0)
			memcpy(bond_slave(bond, (unsigned int)holder)->mac, bond_pin(bond)->mac,
			       XBOND_MAC_SIZE);
		memcpy(new->mac, before, XBOND_MAC_SIZE);
		return;
	}
	crashpoint("mac-swap-half");
	if (holder >= 0)
		mac_swap_change(bond, (unsigned int)holder);
}

/* Before the first decision of a bondd nothing is published. */
void mac_swap_tell(struct bond *bond)
{
	if (!bond->evaluation.published)
		return;
	publish_alb(bond);
	learning_now(bond);
	parts_hear(bond, PART_BOND, NEWS_TICK, NULL, false);
	client_rounds_settle(bond);
}

bool mac_swap_is_half(struct bond *bond)
{
	const struct xbond_bond *pin = bond_pin(bond);

	if (!mac_swap_is_on(bond))
		return false;
	bond_for_each_member (bond, slot)
		if (slot != pin->active_slot &&
		    mac_swap_is_taken(bond, bond_slave(bond, slot)->mac, slot))
			return true;
	return false;
}

void mac_swap_settle(struct bond *bond)
{
	unsigned int active = bond_pin(bond)->active_slot;
	const uint8_t *mac = bond_pin(bond)->mac;

	if (!mac_swap_is_on(bond) || active >= XBOND_MAX_SLAVES || !bond_is_member(bond, active))
		return;
	if (!slave_mac_is_same(bond_slave(bond, active)->mac, mac))
		mac_swap_do(bond, active, mac_swap_holder(bond, mac, active));
	if (slave_mac_is_same(bond_slave(bond, active)->mac, mac))
		mac_swap_part(bond, active);
}

/* A new slave must not have an address that another has. */
static void mac_swap_enter(struct bond *bond, unsigned int slot)
{
	struct xbond_slave *slave = bond_slave(bond, slot);

	if (!mac_swap_is_on(bond))
		return;
	if (mac_swap_holder(bond, slave->mac, slot) >= 0 ||
	    (bond_slave_count(bond) > 1 && slave_mac_is_same(slave->mac, bond_pin(bond)->mac)))
		mac_random(slave->mac);
}

static int mac_swap_refuse(struct bond *bond, unsigned int slot, const struct err *why, int r,
			   struct err *err)
{
	const char *name = bond_slave(bond, slot)->name;

	if (mode_has(bond_pin(bond)->mode, MODE_OWN_MACS))
		return err_set(err, -r,
			       "%s cannot change its MAC address while it is up (%s), which mode "
			       "%s needs",
			       name, why->text, mode_name(bond_pin(bond)->mode));
	return err_set(err, -r,
		       "%s cannot change its MAC address while it is up (%s), which "
		       "fail_over_mac follow needs; use fail_over_mac active",
		       name, why->text);
}

int mac_swap_try(struct bond *bond, unsigned int slot, struct err *err)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	uint8_t other[XBOND_MAC_SIZE];
	struct err why;
	int r;

	if (!mac_swap_is_on(bond))
		return 0;
	mac_random(other);
	r = link_set_mac(&bond->daemon->nl, (int)slave->ifindex, other, &why);
	if (r)
		return mac_swap_refuse(bond, slot, &why, r, err);
	crashpoint("mac-swap-tried");
	return slave_mac_set(bond, slot, err);
}

/*
 * The slave gets its own address back: another one that has it gives it away, and all are told. But
 * a slave that could not be added takes nothing away.
 */
static void mac_swap_leave(struct bond *bond, unsigned int slot)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	int other = mac_swap_is_on(bond) ? mac_swap_holder(bond, slave->before.mac, slot) : -1;

	if (other < 0 || slave->state == XBOND_SLOT_ENSLAVING ||
	    slave_mac_is_same(slave->before.mac, bond_pin(bond)->mac))
		return;
	if (mac_is_zero(slave->mac) || slave_mac_is_same(slave->mac, bond_pin(bond)->mac))
		mac_swap_give_spare(bond, (unsigned int)other);
	else
		memcpy(bond_slave(bond, (unsigned int)other)->mac, slave->mac, XBOND_MAC_SIZE);
	crashpoint("mac-swap-leaving");
	mac_swap_change(bond, (unsigned int)other);
	crashpoint("mac-swap-left");
	mac_swap_tell(bond);
}

/* What it has now may stay in use where it is, so that nobody here may get it. */
void mac_swap_move_away(struct bond *bond, unsigned int slot)
{
	if (!mac_swap_is_on(bond))
		return;
	memset(bond_slave(bond, slot)->mac, 0, XBOND_MAC_SIZE);
	mac_swap_settle(bond);
	mac_swap_leave(bond, slot);
}

void mac_swap_rename(struct bond *bond, const uint8_t *old, struct mac_swap *ret_before)
{
	const uint8_t *mac = bond_pin(bond)->mac;
	int holder = mac_swap_is_on(bond) ? mac_swap_holder(bond, old, XBOND_NO_SLOT) : -1;
	int other = holder >= 0 ? mac_swap_holder(bond, mac, (unsigned int)holder) : -1;

	bond_for_each_member (bond, slot)
		memcpy(ret_before->mac[slot], bond_slave(bond, slot)->mac, XBOND_MAC_SIZE);
	if (holder < 0)
		return;
	memcpy(bond_slave(bond, (unsigned int)holder)->mac, mac, XBOND_MAC_SIZE);
	if (other >= 0)
		memcpy(bond_slave(bond, (unsigned int)other)->mac, old, XBOND_MAC_SIZE);
}

void mac_swap_put_back(struct bond *bond, const struct mac_swap *before)
{
	if (!mac_swap_is_on(bond))
		return;
	bond_for_each_member (bond, slot)
		memcpy(bond_slave(bond, slot)->mac, before->mac[slot], XBOND_MAC_SIZE);
}

static void slave_mac_drop_filter(struct bond *bond, struct xbond_slave *slave)
{
	if (mac_is_zero(slave->filter_mac))
		return;
	link_del_unicast(&bond->daemon->nl, (int)slave->ifindex, slave->filter_mac, NULL);
	memset(slave->filter_mac, 0, XBOND_MAC_SIZE);
}

static bool slave_mac_is_virtual_function(struct bond *bond, const struct xbond_slave *slave)
{
	return ethtool_is_virtual_function(&bond->daemon->ethtool, slave->name);
}

/* The driver takes the address, but the host ignores it unless it trusts the function. */
static void slave_mac_warn_of_host(struct bond *bond, const struct xbond_slave *slave)
{
	if (slave_mac_is_virtual_function(bond, slave))
		event_warning(bond_pin(bond)->name, slave->name,
			      "%s is a virtual function: it receives for the bond's MAC address "
			      "only if its host lets it ('ip link set PF vf N trust on' there)",
			      slave->name);
}

/*
 * The record comes before the change: deleting an address that is not there yet does no harm. An
 * address that somebody else put there must not be deleted. After any other failure it may be
 * there, because the kernel's answer may be what was lost.
 */
static int slave_mac_add_filter(struct bond *bond, struct xbond_slave *slave, struct err *err)
{
	const uint8_t *mac = bond_pin(bond)->mac;
	struct err why;
	int r;

	if (slave_mac_is_same(slave->filter_mac, mac))
		return 0;
	slave_mac_drop_filter(bond, slave);
	if (slave_mac_is_same(slave->mac, mac))
		return 0;
	memcpy(slave->filter_mac, mac, XBOND_MAC_SIZE);
	r = link_add_unicast(&bond->daemon->nl, (int)slave->ifindex, mac, &why);
	if (!r)
		slave_mac_warn_of_host(bond, slave);
	else if (r == -EEXIST)
		memset(slave->filter_mac, 0, XBOND_MAC_SIZE);
	else
		slave_mac_drop_filter(bond, slave);
	if (!r || r == -EEXIST)
		return 0;
	return err_set(err, -r, "%s cannot receive for the bond's MAC address besides its own (%s)",
		       slave->name, why.text);
}

static int slave_mac_bring_up(struct bond *bond, unsigned int slot, struct err *err)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	int r = 0;

	if (slave->before.flags & XBOND_SLAVE_MAC_CHANGES)
		r = link_set_flags(&bond->daemon->nl, (int)slave->ifindex, IFF_UP, IFF_UP, err);
	if (!r)
		slave->before.flags &= ~(__u32)XBOND_SLAVE_MAC_CHANGES;
	return r;
}

void slave_mac_finish(struct bond *bond, unsigned int slot)
{
	const char *name = bond_slave(bond, slot)->name;
	struct err err;

	if (slave_mac_bring_up(bond, slot, &err))
		event_error(bond_pin(bond)->name, name, "cannot bring %s up again: %s", name,
			    err.text);
}

/* A slave that may go down for this is marked until it is up again. */
static int slave_mac_change(struct bond *bond, struct xbond_slave *slave,
			    const struct link_info *link, const uint8_t *mac, struct err *err)
{
	unsigned int slot = (unsigned int)(slave - bond_slave(bond, 0));
	int r;

	if (!(link->flags & IFF_UP))
		return link_force_mac(&bond->daemon->nl, link, mac, err);
	/* At each failover; mac_swap_try() has seen that this works. */
	if (bond_fail_over_mac(bond_pin(bond)) == XBOND_FAIL_OVER_MAC_FOLLOW)
		return link_set_mac(&bond->daemon->nl, link->ifindex, mac, err);
	slave->before.flags |= XBOND_SLAVE_MAC_CHANGES;
	quality_excuse(bond, slot);
	r = link_force_mac(&bond->daemon->nl, link, mac, err);
	crashpoint("mac-changed");
	slave_mac_finish(bond, slot);
	return r;
}

static int slave_mac_refuse(struct bond *bond, const struct xbond_slave *slave,
			    const struct link_info *link, int r, const char *why, struct err *err)
{
	char own[MAC_FORMAT_SIZE];

	if (!slave_mac_is_virtual_function(bond, slave))
		return err_set(err, -r,
			       "%s does not take the bond's MAC address (%s); `mac_policy filter` "
			       "keeps its own%s",
			       slave->name, why,
			       bond_pin(bond)->team_sends ? ", if the bond is created with it"
							  : "");
	return err_set(
		err, -r,
		"%s, a virtual function, does not take the bond's MAC address (%s); give the bond "
		"its address %s, or let its host trust it ('ip link set PF vf N trust on')",
		slave->name, why, mac_format(link->mac, own));
}

static int slave_mac_put(struct bond *bond, struct xbond_slave *slave, const uint8_t *mac,
			 struct err *err)
{
	struct link_info link;
	struct err why;
	int r;

	r = link_get(&bond->daemon->nl, -1, (int)slave->ifindex, &link);
	if (r)
		return err_set(err, -r, "the MAC address of %s cannot be read: %s", slave->name,
			       strerror(-r));
	if (!slave_mac_is_same(link.mac, mac)) {
		r = slave_mac_change(bond, slave, &link, mac, &why);
		if (r) {
			/* The programs must not take it for one that has the other address. */
			memcpy(slave->mac, link.mac, XBOND_MAC_SIZE);
			return slave_mac_refuse(bond, slave, &link, r, why.text, err);
		}
	}
	memcpy(slave->mac, mac, XBOND_MAC_SIZE);
	return 0;
}

/* Which address the slave shall have. */
static const uint8_t *slave_mac_wanted(const struct xbond_bond *pin,
				       const struct xbond_slave *slave)
{
	enum xbond_fail_over_mac policy = bond_fail_over_mac(pin);

	if (policy == XBOND_FAIL_OVER_MAC_FOLLOW)
		return slave->mac;
	return policy == XBOND_FAIL_OVER_MAC_ACTIVE || pin->mac_policy == XBOND_MAC_FILTER
		       ? slave->before.mac
		       : pin->mac;
}

int slave_mac_set(struct bond *bond, unsigned int slot, struct err *err)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	uint8_t wanted[XBOND_MAC_SIZE];
	int r;

	memcpy(wanted, slave_mac_wanted(bond_pin(bond), slave), XBOND_MAC_SIZE);
	r = slave_mac_put(bond, slave, wanted, err);
	if (!r && bond_filters_mac(bond_pin(bond)))
		return slave_mac_add_filter(bond, slave, err);
	if (!r)
		slave_mac_drop_filter(bond, slave);
	return r;
}

static int slave_mac_enslave(struct bond *bond, unsigned int slot, struct err *err)
{
	mac_swap_enter(bond, slot);
	return slave_mac_set(bond, slot, err);
}

/* Somebody may have removed it. */
static int slave_mac_restore_filter(struct bond *bond, unsigned int slot, const struct place *place,
				    struct err *err)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	int r = mac_is_zero(slave->filter_mac)
			? 0
			: link_del_unicast(place->nl, place->ifindex, slave->filter_mac, err);

	if (r && r != -ENOENT)
		return r;
	memset(slave->filter_mac, 0, XBOND_MAC_SIZE);
	return 0;
}

static int slave_mac_restore(struct bond *bond, unsigned int slot, const struct place *place,
			     struct err *err)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	struct link_info now;
	int r = place->away ? 0 : slave_mac_restore_filter(bond, slot, place, err);

	if (r)
		return r;
	if (!place->away)
		mac_swap_leave(bond, slot);
	r = link_get(place->nl, -1, place->ifindex, &now);
	if (r)
		return err_set(err, -r, "%s", strerror(-r));
	if (slave_mac_is_same(now.mac, slave->before.mac)) {
		memcpy(slave->mac, slave->before.mac, XBOND_MAC_SIZE);
		return 0;
	}
	r = link_force_mac(place->nl, &now, slave->before.mac, err);
	return r ? r : 1;
}

static bool slave_mac_some_are_down(struct bond *bond)
{
	bond_for_each_member (bond, slot)
		if (bond_slave(bond, slot)->before.flags & XBOND_SLAVE_MAC_CHANGES)
			return true;
	return false;
}

/* What the message says may be old, so the present state counts. */
static bool slave_mac_hear(struct bond *bond, unsigned int slot, enum part_news news,
			   const struct link_info *link, bool gone)
{
	(void)gone;
	if (news == NEWS_TIME)
		return slave_mac_some_are_down(bond);
	return !link ||
	       (link->has_mac && !slave_mac_is_same(link->mac, bond_slave(bond, slot)->mac));
}

/* Somebody has changed it, or it was not possible to bring the slave up again. */
static bool slave_mac_settle(struct bond *bond, unsigned int slot, uint32_t news)
{
	struct link_info now;
	struct xbond_slave *slave;
	struct err err;

	if (slot == PART_BOND)
		return false;
	slave = bond_slave(bond, slot);
	if (news & NEWS_TIME)
		slave_mac_bring_up(bond, slot, NULL);
	if (link_get(&bond->daemon->nl, -1, (int)slave->ifindex, &now) || !now.has_mac ||
	    slave_mac_is_same(now.mac, slave->mac))
		return false;
	event_notice(bond_pin(bond)->name, slave->name, "MAC address of %s is put back",
		     slave->name);
	if (slave_mac_set(bond, slot, &err))
		event_warning(bond_pin(bond)->name, NULL, "%s", err.text);
	return false;
}

struct part mac_part = { .restores = XBOND_RESTORED_MAC,
			 .enslave = slave_mac_enslave,
			 .restore = slave_mac_restore,
			 .hears = NEWS_SLAVE | NEWS_TIME | NEWS_LOST,
			 .hear = slave_mac_hear,
			 .settle = slave_mac_settle };
struct part mac_try_part = { .enslave = mac_swap_try };
