/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/enslave_check.h"

#include <errno.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <string.h>

#include "daemon/attach.h"
#include "daemon/daemon.h"
#include "daemon/device.h"
#include "daemon/net/address.h"

/* A bond of ours, or of another bondd: its peer is a port side. */
static bool is_bond_device(struct bond *bond, const struct link_info *link)
{
	struct link_info peer;

	return !strcmp(link->kind, "veth") && link->lower_nsid < 0 &&
	       !link_get(&bond->daemon->nl, -1, link->lower, &peer) && device_is_port(&peer);
}

static int check_kind(struct bond *bond, const struct link_info *link, struct err *err)
{
	const char *name = link->name;

	if (link->ifindex == (int)bond_pin(bond)->ifindex && !bond->away)
		return err_set(err, EINVAL, "%s is the bond itself; name another device", name);
	if (link->flags & IFF_LOOPBACK)
		return err_set(err, EINVAL, "%s is the loopback device, which cannot be a slave", name);
	if (link->type != ARPHRD_ETHER || !link->has_mac)
		return err_set(err, EINVAL, "%s is no Ethernet device, and a bond takes only those", name);
	if (device_is_port(link))
		return err_set(err, EINVAL, "%s is the port side of a bond; name a device of your own", name);
	if (is_bond_device(bond, link))
		return err_set(err, EINVAL, "%s is a bond, and bonds do not nest", name);
	return 0;
}

static int check_owner(struct bond *bond, const struct link_info *link, struct err *err)
{
	struct link_info master;

	for (struct bond *other = bond->daemon->bonds; other; other = other->next)
		if (bond_slot_by_ifindex(other, link->ifindex) >= 0)
			return err_set(err, EBUSY,
				       "%s is a slave of %s already; 'bondctl del-slave %s %s' frees it",
				       link->name, bond_pin(other)->name, bond_pin(other)->name, link->name);
	if (attach_has_program(link->ifindex, "xbond_rx"))
		return err_set(err, EBUSY, "%s is a slave of a bond of another bondd; free it there first",
			       link->name);
	if (!link->master)
		return 0;
	if (link_get(&bond->daemon->nl, -1, link->master, &master))
		memset(&master, 0, sizeof(master));
	return err_set(err, EBUSY, "%s is a port of %s%s%s; 'ip link set %s nomaster' frees it", link->name,
		       master.kind, *master.kind ? " " : "", master.name, link->name);
}

struct upper {
	int ifindex;
	struct link_info found;
};

/* IFLA_LINK of a veth is its peer, of anything else the device below. */
static void look_for_upper(const struct link_info *link, void *arg)
{
	struct upper *upper = arg;

	if (link->lower == upper->ifindex && link->lower_nsid < 0 && link->ifindex != upper->ifindex &&
	    strcmp(link->kind, "veth") && strcmp(link->kind, "netkit"))
		upper->found = *link;
}

static int check_uppers(struct bond *bond, const struct link_info *link, struct err *err)
{
	struct upper upper = { .ifindex = link->ifindex };

	link_visit(&bond->daemon->nl, look_for_upper, &upper);
	if (!upper.found.ifindex)
		return 0;
	return err_set(err, EBUSY, "%s has %s (%s) on it, which would go deaf; remove it, or make it on %s",
		       link->name, upper.found.name, upper.found.kind, bond_pin(bond)->name);
}

static int check_addresses(struct bond *bond, const struct link_info *link, struct err *err)
{
	struct address first;

	if (address_list(&bond->daemon->nl, link->ifindex, &first, 1) <= 0)
		return 0;
	return err_set(err, EBUSY,
		       "%s has IP addresses (%s), which belong on %s; remove them, or add 'force yes'",
		       link->name, first.text, bond_pin(bond)->name);
}

int enslave_check(struct bond *bond, const char *name, bool force, struct link_info *ret_link,
		  struct err *err)
{
	int r;

	if (strlen(name) >= XBOND_NAME_SIZE || link_get_by_name(&bond->daemon->nl, name, ret_link))
		return err_set(err, ENODEV, "no such device: %s ('ip link' lists them)", name);
	r = check_kind(bond, ret_link, err);
	if (!r)
		r = check_owner(bond, ret_link, err);
	if (!r)
		r = check_uppers(bond, ret_link, err);
	if (!r && !force)
		r = check_addresses(bond, ret_link, err);
	return r;
}
