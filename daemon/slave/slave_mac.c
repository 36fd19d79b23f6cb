/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The MAC address of a slave: which it shall have by mac_policy and the bond's address, how it gets
 * it, and gets its own back.
 */
#include <errno.h>
#include <net/if.h>
#include <string.h>

#include "common/clock.h"
#include "common/mac.h"
#include "daemon/base/crashpoint.h"
#include "daemon/base/event.h"
#include "daemon/bond/daemon.h"
#include "daemon/bond/evaluate.h"
#include "daemon/bond/part.h"
#include "daemon/monitor/monitor.h"
#include "daemon/slave/slave.h"

/* Of a member. */
struct slave_mac {
	struct retry retry;   /* it has refused its address */
	bool stays_up_at_end; /* it has refused its own one also while it was down */
};

static struct slave_mac *slave_mac_of(struct bond *bond, unsigned int slot)
{
	return part_of_member(bond, &mac_part, slot);
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
static int slave_mac_add_filter(struct bond *bond, struct xbond_slave *slave, const uint8_t *mac,
				struct err *err)
{
	struct err why;
	int r;

	if (mac_is_same(slave->filter_mac, mac))
		return 0;
	slave_mac_drop_filter(bond, slave);
	if (mac_is_same(slave->mac, mac))
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
	/*
	 * It would lose its carrier, at each failover (mac_swap_try() has seen that it need not go
	 * down), or each time that it is asked again.
	 */
	if (mac_swap_is_on(bond) || slave_mac_of(bond, slot)->retry.pause_ns)
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
	if (!mac_is_same(link.mac, mac)) {
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

/* Which address the slave shall have, if the bond has `mac`. */
static const uint8_t *slave_mac_wanted(const struct xbond_bond *pin,
				       const struct xbond_slave *slave, const uint8_t *mac)
{
	enum xbond_fail_over_mac policy = bond_fail_over_mac(pin);

	if (policy == XBOND_FAIL_OVER_MAC_FOLLOW)
		return slave->mac;
	return policy == XBOND_FAIL_OVER_MAC_ACTIVE || pin->mac_policy == XBOND_MAC_FILTER
		       ? slave->before.mac
		       : mac;
}

/*
 * Do slaves that have another address have the bond's on their unicast lists? With addresses of
 * their own, too: a slave that takes over receives before its address has changed.
 */
static bool slave_mac_is_filtered(const struct xbond_bond *pin)
{
	return pin->mac_policy == XBOND_MAC_FILTER || mode_has(pin->mode, MODE_OWN_MACS);
}

/* fail_over_mac_part tries again what slaves that exchange their addresses have refused. */
static int slave_mac_try(struct bond *bond, unsigned int slot, const uint8_t *mac, struct err *err)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	struct retry *retry = &slave_mac_of(bond, slot)->retry;
	uint8_t wanted[XBOND_MAC_SIZE];
	int r;

	memcpy(wanted, slave_mac_wanted(bond_pin(bond), slave, mac), XBOND_MAC_SIZE);
	r = slave_mac_put(bond, slave, wanted, err);
	if (!r && slave_mac_is_filtered(bond_pin(bond)))
		r = slave_mac_add_filter(bond, slave, mac, err);
	else if (!r)
		slave_mac_drop_filter(bond, slave);
	if (r && !mac_swap_is_on(bond))
		retry_later(retry);
	else
		*retry = (struct retry){ 0 };
	return r;
}

int slave_mac_offer(struct bond *bond, unsigned int slot, const uint8_t *mac, struct err *err)
{
	slave_mac_of(bond, slot)->retry = (struct retry){ 0 };
	return slave_mac_try(bond, slot, mac, err);
}

int slave_mac_set(struct bond *bond, unsigned int slot, struct err *err)
{
	return slave_mac_offer(bond, slot, bond_pin(bond)->mac, err);
}

static int slave_mac_enslave(struct bond *bond, unsigned int slot, struct err *err)
{
	int r;

	mac_swap_enter(bond, slot);
	r = slave_mac_set(bond, slot, err);
	return r ? r : slave_mac_bring_up(bond, slot, err);
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

/* It goes down for this once. Each further try asks again, and somebody may use it by then. */
static int slave_mac_give_back(struct bond *bond, unsigned int slot, const struct place *place,
			       const struct link_info *now, struct err *err)
{
	const uint8_t *mac = bond_slave(bond, slot)->before.mac;
	bool *stays_up = &slave_mac_of(bond, slot)->stays_up_at_end;
	int r = link_set_mac(place->nl, place->ifindex, mac, err);

	if (r != -EBUSY || !(now->flags & IFF_UP) || *stays_up)
		return r;
	r = link_force_mac(place->nl, now, mac, err);
	*stays_up = r;
	return r;
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
	r = place_look(place, &now, err);
	if (r)
		return r;
	if (mac_is_same(now.mac, slave->before.mac)) {
		memcpy(slave->mac, slave->before.mac, XBOND_MAC_SIZE);
		return 0;
	}
	r = slave_mac_give_back(bond, slot, place, &now, err);
	return r ? r : 1;
}

static bool slave_mac_retry_is_due(struct bond *bond, unsigned int slot)
{
	const struct retry *retry = &slave_mac_of(bond, slot)->retry;

	return retry->pause_ns && clock_now_ns() >= retry->next_ns;
}

static bool slave_mac_some_are_due(struct bond *bond)
{
	bond_for_each_member (bond, slot)
		if (bond_slave(bond, slot)->before.flags & XBOND_SLAVE_MAC_CHANGES ||
		    slave_mac_retry_is_due(bond, slot))
			return true;
	return false;
}

/* What the message says may be old, so the present state counts. */
static bool slave_mac_hear(struct bond *bond, unsigned int slot, enum part_news news,
			   const struct link_info *link, bool gone)
{
	if (news == NEWS_TIME)
		return slave_mac_some_are_due(bond);
	return !link || (link->has_mac && !mac_is_same(link->mac, bond_slave(bond, slot)->mac));
}

/* That it was refused was told then. */
static void slave_mac_set_again(struct bond *bond, unsigned int slot)
{
	const char *name = bond_slave(bond, slot)->name;

	if (slave_mac_try(bond, slot, bond_pin(bond)->mac, NULL))
		return;
	event_notice(bond_pin(bond)->name, name, "%s has taken its MAC address now", name);
	bond_evaluate(bond); /* LACP and BFD send it */
}

/* Somebody has changed it, or the slave refused it or did not come up again. */
static void slave_mac_settle(struct bond *bond, unsigned int slot, uint32_t news)
{
	const struct xbond_slave *slave = bond_slave(bond, slot);
	struct link_info now;
	struct err err;

	if (news & NEWS_TIME)
		slave_mac_bring_up(bond, slot, NULL);
	if (slave_mac_retry_is_due(bond, slot))
		slave_mac_set_again(bond, slot);
	if (link_get(&bond->daemon->nl, -1, (int)slave->ifindex, &now) || !now.has_mac ||
	    mac_is_same(now.mac, slave->mac))
		return;
	event_notice(bond_pin(bond)->name, slave->name, "MAC address of %s is put back",
		     slave->name);
	if (slave_mac_set(bond, slot, &err))
		event_warning(bond_pin(bond)->name, NULL, "%s", err.text);
}

struct part mac_part = { .member_size = sizeof(struct slave_mac),
			 .restores = XBOND_RESTORED_MAC,
			 .enslave = slave_mac_enslave,
			 .restore = slave_mac_restore,
			 .hears = NEWS_SLAVE | NEWS_TIME | NEWS_LOST,
			 .hear = slave_mac_hear,
			 .settle = slave_mac_settle };
