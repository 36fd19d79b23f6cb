/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A member follows its bond (MAC, promiscuity, MTU), and its record follows the device. */
#include <errno.h>
#include <net/if.h>
#include <string.h>

#include "common/clock.h"
#include "common/mac.h"
#include "common/slots.h"
#include "daemon/alb/learning.h"
#include "daemon/base/crashpoint.h"
#include "daemon/base/event.h"
#include "daemon/bond/daemon.h"
#include "daemon/monitor/carrier_message.h"
#include "daemon/monitor/poll.h"
#include "daemon/monitor/quality_judge.h"
#include "daemon/slave/slave.h"
#include "daemon/slave/xdp_hooks.h"

static bool slave_follow_same_mac(const uint8_t *a, const uint8_t *b)
{
	return !memcmp(a, b, XBOND_MAC_SIZE);
}

static void slave_follow_drop_filter(struct bond *bond, struct xbond_slave *slave)
{
	if (mac_is_zero(slave->filter_mac))
		return;
	link_del_unicast(&bond->daemon->nl, (int)slave->ifindex, slave->filter_mac, NULL);
	memset(slave->filter_mac, 0, XBOND_MAC_SIZE);
}

static bool slave_follow_is_virtual_function(struct bond *bond, const struct xbond_slave *slave)
{
	return ethtool_is_virtual_function(&bond->daemon->ethtool, slave->name);
}

/* The driver takes the address, but the host ignores it unless it trusts the function. */
static void slave_follow_warn_of_host(struct bond *bond, const struct xbond_slave *slave)
{
	if (slave_follow_is_virtual_function(bond, slave))
		event_warning(bond_pin(bond)->name, slave->name,
			      "%s is a virtual function: it receives for the bond's MAC address "
			      "only if its host lets it ('ip link set PF vf N trust on' there)",
			      slave->name);
}

/*
 * The record comes before the change: deleting an address that is not there yet does no harm. An
 * address that somebody else put there must not be deleted.
 */
static int slave_follow_add_filter(struct bond *bond, struct xbond_slave *slave, struct err *err)
{
	const uint8_t *mac = bond_pin(bond)->mac;
	struct err why;
	int r;

	if (slave_follow_same_mac(slave->filter_mac, mac))
		return 0;
	slave_follow_drop_filter(bond, slave);
	if (slave_follow_same_mac(slave->mac, mac))
		return 0;
	memcpy(slave->filter_mac, mac, XBOND_MAC_SIZE);
	r = link_add_unicast(&bond->daemon->nl, (int)slave->ifindex, mac, &why);
	if (r)
		memset(slave->filter_mac, 0, XBOND_MAC_SIZE);
	else
		slave_follow_warn_of_host(bond, slave);
	if (!r || r == -EEXIST)
		return 0;
	return err_set(err, -r, "%s cannot receive for the bond's MAC address besides its own (%s)",
		       slave->name, why.text);
}

/* A slave that may go down for this is marked until it is up again. */
static int slave_follow_change_mac(struct bond *bond, struct xbond_slave *slave,
				   const struct link_info *link, const uint8_t *mac,
				   struct err *err)
{
	struct nl *nl = &bond->daemon->nl;
	struct link_info now;
	int r;

	if (!(link->flags & IFF_UP))
		return link_force_mac(nl, link, mac, err);
	/* At each failover; mac_swap_try() has seen that this works. */
	if (bond_fail_over_mac(bond_pin(bond)) == XBOND_FAIL_OVER_MAC_FOLLOW)
		return link_set_mac(nl, link->ifindex, mac, err);
	slave->before.flags |= XBOND_SLAVE_MAC_CHANGES;
	quality_excuse(bond, (unsigned int)(slave - bond_slave(bond, 0)));
	r = link_force_mac(nl, link, mac, err);
	crashpoint("mac-changed");
	if (!link_get(nl, -1, link->ifindex, &now) && now.flags & IFF_UP)
		slave->before.flags &= ~(__u32)XBOND_SLAVE_MAC_CHANGES;
	return r;
}

static int slave_follow_refused_mac(struct bond *bond, const struct xbond_slave *slave,
				    const struct link_info *link, int r, const char *why,
				    struct err *err)
{
	char own[MAC_FORMAT_SIZE];

	if (!slave_follow_is_virtual_function(bond, slave))
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

static int slave_follow_set_mac(struct bond *bond, struct xbond_slave *slave, const uint8_t *mac,
				struct err *err)
{
	struct link_info link;
	struct err why;
	int r;

	r = link_get(&bond->daemon->nl, -1, (int)slave->ifindex, &link);
	if (r)
		return err_set(err, -r, "the MAC address of %s cannot be read: %s", slave->name,
			       strerror(-r));
	if (!slave_follow_same_mac(link.mac, mac)) {
		r = slave_follow_change_mac(bond, slave, &link, mac, &why);
		if (r) {
			/* The programs must not take it for one that has the other address. */
			memcpy(slave->mac, link.mac, XBOND_MAC_SIZE);
			return slave_follow_refused_mac(bond, slave, &link, r, why.text, err);
		}
	}
	memcpy(slave->mac, mac, XBOND_MAC_SIZE);
	return 0;
}

/* Which address the slave shall have. */
static const uint8_t *slave_follow_wanted_mac(const struct xbond_bond *pin,
					      const struct xbond_slave *slave)
{
	enum xbond_fail_over_mac policy = bond_fail_over_mac(pin);

	if (policy == XBOND_FAIL_OVER_MAC_FOLLOW)
		return slave->mac;
	return policy == XBOND_FAIL_OVER_MAC_ACTIVE || pin->mac_policy == XBOND_MAC_FILTER
		       ? slave->before.mac
		       : pin->mac;
}

int slave_follow_mac(struct bond *bond, unsigned int slot, struct err *err)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	uint8_t wanted[XBOND_MAC_SIZE];
	int r;

	memcpy(wanted, slave_follow_wanted_mac(bond_pin(bond), slave), XBOND_MAC_SIZE);
	r = slave_follow_set_mac(bond, slave, wanted, err);
	if (!r && bond_filters_mac(bond_pin(bond)))
		return slave_follow_add_filter(bond, slave, err);
	if (!r)
		slave_follow_drop_filter(bond, slave);
	return r;
}

void slave_finish_mac(struct bond *bond, unsigned int slot)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	struct err err;

	if (!(slave->before.flags & XBOND_SLAVE_MAC_CHANGES))
		return;
	if (link_set_flags(&bond->daemon->nl, (int)slave->ifindex, IFF_UP, IFF_UP, &err))
		event_error(bond_pin(bond)->name, slave->name, "cannot bring %s up again: %s",
			    slave->name, err.text);
	else
		slave->before.flags &= ~(__u32)XBOND_SLAVE_MAC_CHANGES;
}

void slave_follow_promisc(struct bond *bond, unsigned int slot)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	bool promisc = bond->device.promisc || learning_stands_in(bond, slot) ||
		       slave->before.flags & XBOND_SLAVE_WAS_PROMISC;
	struct err err;

	if (link_set_flags(&bond->daemon->nl, (int)slave->ifindex, promisc ? IFF_PROMISC : 0,
			   IFF_PROMISC, &err))
		event_warning(bond_pin(bond)->name, slave->name, "cannot set %s promiscuous: %s",
			      slave->name, err.text);
}

void slave_follow_stand_in(struct bond *bond)
{
	uint64_t slots = 0, changed;

	bond_for_each_member (bond, slot)
		if (learning_stands_in(bond, slot))
			slots |= slots_bit(slot);
	changed = slots ^ bond->stand_in.slots;
	bond->stand_in.slots = slots;
	bond_for_each_member (bond, slot)
		if (slots_have(changed, slot))
			slave_follow_promisc(bond, slot);
}

static void slave_follow_name(struct bond *bond, struct xbond_slave *slave, const char *name)
{
	struct xbond_bond *pin = bond_pin(bond);

	if (!strcmp(slave->name, name))
		return;
	event_notice(pin->name, slave->name, "slave %s is now called %s", slave->name, name);
	if (!strcmp(pin->primary, slave->name))
		memcpy(pin->primary, name, XBOND_NAME_SIZE);
	memcpy(slave->name, name, XBOND_NAME_SIZE);
}

/*
 * Somebody has changed the MAC address, which the bond decides: it is put back. The message may be
 * old, so the present state counts.
 */
static void slave_follow_keep_mac(struct bond *bond, unsigned int slot,
				  const struct link_info *message)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	struct link_info now;
	struct err err;

	if (!message->has_mac || slave_follow_same_mac(message->mac, slave->mac) ||
	    link_get(&bond->daemon->nl, -1, message->ifindex, &now) ||
	    slave_follow_same_mac(now.mac, slave->mac))
		return;
	event_notice(bond_pin(bond)->name, slave->name, "MAC address of %s is put back",
		     slave->name);
	if (slave_follow_mac(bond, slot, &err))
		event_warning(bond_pin(bond)->name, NULL, "%s", err.text);
}

void slave_follow_link(struct bond *bond, unsigned int slot, const struct link_info *link)
{
	carrier_message_take(bond, slot, link);
	bond_slave(bond, slot)->carrier_changes = link->carrier_changes;
	slave_follow_name(bond, bond_slave(bond, slot), link->name);
	poll_want_speed(bond, slot);
	poll_soon(bond);
	slave_follow_keep_mac(bond, slot, link);
	if (link->xdp_id != bond->members[slot].xdp.id)
		xdp_check_slave(bond, slot);
}
