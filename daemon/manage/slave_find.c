/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/manage/slave_find.h"

#include <errno.h>
#include <limits.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/mac.h"

struct slave_search {
	struct daemon *daemon;
	const uint8_t *mac;
	struct link_info permanent, present, slave; /* slave: of a bond, and had it before */
	unsigned int others;			    /* with this address now, beside `present` */
	unsigned int permanents; /* with this permanent address, beside `permanent` */
};

/*
 * Bonds and their slaves have addresses of others. ret_before: of a slave, the address that it had
 * before; NULL of a bond.
 */
static bool slave_find_is_of_bond(struct daemon *daemon, const struct link_info *link,
				  const uint8_t **ret_before)
{
	*ret_before = NULL;
	if (bond_is_port_side(link))
		return true;
	for (struct bond *bond = daemon->bonds; bond; bond = bond->next) {
		int slot = bond_slot_by_ifindex(bond, link->ifindex);

		if (slot >= 0)
			*ret_before = bond_slave(bond, (unsigned int)slot)->perm_mac;
		if (slot >= 0 || link->ifindex == (int)bond_pin(bond)->ifindex)
			return true;
	}
	return false;
}

/* A device may come several times: link_visit(). */
static void slave_find_compare(const struct link_info *link, void *arg)
{
	struct slave_search *search = arg;
	const uint8_t *before;

	if (link->has_perm_mac) {
		if (memcmp(link->perm_mac, search->mac, XBOND_MAC_SIZE) != 0)
			return;
		search->permanents +=
			search->permanent.ifindex && search->permanent.ifindex != link->ifindex;
		search->permanent = *link;
		return;
	}
	if (slave_find_is_of_bond(search->daemon, link, &before)) {
		if (before && !memcmp(before, search->mac, XBOND_MAC_SIZE))
			search->slave = *link;
		return;
	}
	if (!link->has_mac || memcmp(link->mac, search->mac, XBOND_MAC_SIZE) != 0 ||
	    link->type != ARPHRD_ETHER || link->vlan_id >= 0)
		return;
	search->others += search->present.ifindex && search->present.ifindex != link->ifindex;
	search->present = *link;
}

int slave_find_by_mac(struct daemon *daemon, const uint8_t *mac, bool or_present,
		      struct link_info *ret_link)
{
	struct slave_search search = { .daemon = daemon, .mac = mac };
	int r = link_visit(&daemon->nl, -1, slave_find_compare, &search);

	if (r)
		return r;
	if (search.permanent.ifindex) {
		*ret_link = search.permanent;
		return search.permanents ? -ENOTUNIQ : 0;
	}
	if (!search.present.ifindex)
		search.present = search.slave;
	if (!or_present || !search.present.ifindex)
		return -ENODEV;
	*ret_link = search.present;
	return search.others ? -ENOTUNIQ : 0;
}

static bool slave_find_member(struct bond *bond, const uint8_t *mac, struct link_info *ret_link)
{
	bond_for_each_member (bond, slot)
		if (!memcmp(bond_slave(bond, slot)->perm_mac, mac, XBOND_MAC_SIZE) &&
		    !link_get(&bond->daemon->nl, -1, (int)bond_slave(bond, slot)->ifindex,
			      ret_link))
			return true;
	return false;
}

int slave_find(struct bond *bond, const struct config_slave *slave, struct link_info *ret_link)
{
	int r = config_slave_is_by_mac(slave)
			? -ENODEV
			: link_get_by_name(&bond->daemon->nl, slave->name, ret_link);

	if (r != -ENODEV)
		return r;
	if (mac_is_zero(slave->perm_mac))
		return -ENODEV;
	if (slave_find_member(bond, slave->perm_mac, ret_link))
		return 0;
	return slave_find_by_mac(bond->daemon, slave->perm_mac, true, ret_link);
}

int slave_find_is_unclear(const struct config_slave *slave, struct err *err)
{
	char mac[MAC_FORMAT_SIZE];

	return err_set(err, ENOTUNIQ,
		       "several devices have the address %s; name the slave by its name",
		       mac_format(slave->perm_mac, mac));
}

int slave_find_new(struct daemon *daemon, const struct config_slave *slave,
		   struct link_info *ret_link)
{
	if (!config_slave_is_by_mac(slave))
		return link_get_by_name(&daemon->nl, slave->name, ret_link);
	return slave_find_by_mac(daemon, slave->perm_mac, true, ret_link);
}

bool slave_find_has_name(const struct link_info *link)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/run/udev/data/n%d", link->ifindex);
	return access("/run/udev/control", F_OK) != 0 || !access(path, F_OK);
}
