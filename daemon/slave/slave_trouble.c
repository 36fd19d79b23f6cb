/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/slave/slave_trouble.h"

#include "daemon/base/event.h"
#include "daemon/bond/daemon.h"
#include "daemon/slave/vlan_filter.h"
#include "network/ip.h"
#include "network/link.h"

static bool trouble_has(struct bond *bond, unsigned int slot, uint32_t trouble)
{
	return bond_slave(bond, slot)->trouble & trouble;
}

static void trouble_begin(struct bond *bond, unsigned int slot, uint32_t trouble)
{
	bond_slave(bond, slot)->trouble |= trouble;
}

static void trouble_end(struct bond *bond, unsigned int slot, uint32_t trouble, const char *what)
{
	bond_slave(bond, slot)->trouble &= ~trouble;
	event_info(bond_pin(bond)->name, bond_slave(bond, slot)->name, "slave %s %s",
		   bond_slave(bond, slot)->name, what);
}

static void trouble_tell_master(struct bond *bond, const char *slave, int ifindex)
{
	struct link_info master;

	if (link_get(&bond->daemon->nl, -1, ifindex, &master))
		return;
	event_warning(bond_pin(bond)->name, slave,
		      "slave %s was made a port of %s%s%s, which receives nothing from it; 'ip "
		      "link set %s nomaster' undoes that",
		      slave, master.kind, *master.kind ? " " : "", master.name, slave);
}

/* The message may be old, so the present state counts. */
void slave_trouble_follow_master(struct bond *bond, unsigned int slot,
				 const struct link_info *message)
{
	struct link_info now;

	if (!!message->master == trouble_has(bond, slot, XBOND_TROUBLE_MASTER) ||
	    link_get(&bond->daemon->nl, -1, message->ifindex, &now) ||
	    !!now.master == trouble_has(bond, slot, XBOND_TROUBLE_MASTER))
		return;
	if (!now.master) {
		trouble_end(bond, slot, XBOND_TROUBLE_MASTER,
			    "is no longer a port of another device");
		return;
	}
	trouble_begin(bond, slot, XBOND_TROUBLE_MASTER);
	trouble_tell_master(bond, bond_slave(bond, slot)->name, now.master);
}

void slave_trouble_follow_protodown(struct bond *bond, unsigned int slot,
				    const struct link_info *message)
{
	if (message->protodown == trouble_has(bond, slot, XBOND_TROUBLE_PROTODOWN))
		return;
	if (!message->protodown) {
		trouble_end(bond, slot, XBOND_TROUBLE_PROTODOWN, "is no longer held by protodown");
		return;
	}
	trouble_begin(bond, slot, XBOND_TROUBLE_PROTODOWN);
	event_notice(bond_pin(bond)->name, bond_slave(bond, slot)->name,
		     "slave %s is held down by protodown", bond_slave(bond, slot)->name);
}

static void trouble_look_for_addresses(struct bond *bond, unsigned int slot)
{
	const struct xbond_slave *slave = bond_slave(bond, slot);
	struct address first;
	int count = address_list(&bond->daemon->nl, (int)slave->ifindex, &first, 1);

	if (count < 0 || (count > 0) == trouble_has(bond, slot, XBOND_TROUBLE_ADDRESSES))
		return;
	if (!count) {
		trouble_end(bond, slot, XBOND_TROUBLE_ADDRESSES, "no longer has IP addresses");
		return;
	}
	trouble_begin(bond, slot, XBOND_TROUBLE_ADDRESSES);
	event_warning(bond_pin(bond)->name, slave->name,
		      "slave %s now has an IP address (%s), which belongs on %s; 'ip addr del %s "
		      "dev %s' removes it",
		      slave->name, first.text, bond_pin(bond)->name, first.text, slave->name);
}

void slave_trouble_follow_address(struct bond *bond, unsigned int slot, bool gone)
{
	if (gone == trouble_has(bond, slot, XBOND_TROUBLE_ADDRESSES))
		trouble_look_for_addresses(bond, slot);
}

static bool trouble_is_upper(struct bond *bond, unsigned int slot, const struct link_info *link)
{
	int ifindex = (int)bond_slave(bond, slot)->ifindex;

	return link_is_on(link, ifindex) && !vlan_filter_is_opener(link, ifindex);
}

static void trouble_look_for_uppers(struct bond *bond, unsigned int slot,
				    const struct link_list *links)
{
	const struct xbond_slave *slave = bond_slave(bond, slot);
	const struct link_info *upper = NULL;

	for (size_t i = 0; i < links->count && !upper; i++)
		if (trouble_is_upper(bond, slot, &links->link[i]))
			upper = &links->link[i];
	if (!upper == !trouble_has(bond, slot, XBOND_TROUBLE_UPPERS))
		return;
	if (!upper) {
		trouble_end(bond, slot, XBOND_TROUBLE_UPPERS, "no longer has devices on it");
		return;
	}
	trouble_begin(bond, slot, XBOND_TROUBLE_UPPERS);
	event_warning(bond_pin(bond)->name, slave->name,
		      "%s (%s) was created on slave %s, where it receives nothing; remove it, or "
		      "create it on %s",
		      upper->name, upper->kind, slave->name, bond_pin(bond)->name);
}

static void trouble_look_at_uppers(struct bond *bond, unsigned int first_slot,
				   unsigned int end_slot)
{
	struct link_list links;

	if (!link_list_read(&bond->daemon->nl, &links))
		for (unsigned int slot = first_slot; slot < end_slot; slot++)
			if (bond_is_member(bond, slot))
				trouble_look_for_uppers(bond, slot, &links);
	link_list_free(&links);
}

void slave_trouble_follow_upper(struct bond *bond, const struct link_info *upper, bool gone)
{
	int slot = bond_slot_by_ifindex(bond, upper->lower);

	if (slot >= 0 && trouble_is_upper(bond, (unsigned int)slot, upper) &&
	    gone == trouble_has(bond, (unsigned int)slot, XBOND_TROUBLE_UPPERS))
		trouble_look_at_uppers(bond, (unsigned int)slot, (unsigned int)slot + 1);
}

void slave_trouble_look(struct bond *bond)
{
	bond_for_each_member (bond, slot)
		trouble_look_for_addresses(bond, slot);
	trouble_look_at_uppers(bond, 0, XBOND_MAX_SLAVES);
}
