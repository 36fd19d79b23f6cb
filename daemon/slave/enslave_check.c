/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/slave/slave.h"

#include <errno.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/memory.h"
#include "daemon/bond/bond.h"
#include "daemon/bond/daemon.h"
#include "daemon/dataplane/attach.h"
#include "network/ip.h"
#include "network/link.h"

#define NOBODY SIZE_MAX
#define WAY_SIZE 512

/*
 * Does a device lead back to the bond that it shall become a slave of? The way down goes through
 * lower devices (VLAN, macvlan, ipvlan), ports (bridge, team) and the slaves of bonds. The kernel
 * does not know that slaves belong to a bond of xbond.
 */

/* A device that the way down has reached, and the one from which it was reached. */
struct step {
	int nsid; /* -1: bondd's own namespace */
	int ifindex;
	size_t from;
};

/* Every device is visited once, however many ways lead to it. */
struct way {
	struct daemon *daemon;
	const struct link_list *devices;
	struct step *step;
	size_t count, size;
};

static bool enslave_loop_is_bond(struct bond *bond, const struct step *step)
{
	return bond_pin(bond)->netnsid == step->nsid &&
	       (int)bond_pin(bond)->ifindex == step->ifindex;
}

static void enslave_loop_reach(struct way *way, int nsid, int ifindex, size_t from)
{
	for (size_t i = 0; i < way->count; i++)
		if (way->step[i].nsid == nsid && way->step[i].ifindex == ifindex)
			return;
	if (way->count < way->size)
		way->step[way->count++] =
			(struct step){ .nsid = nsid, .ifindex = ifindex, .from = from };
}

static void enslave_loop_reach_below_device(struct way *way, size_t from)
{
	int top = way->step[from].ifindex;

	for (size_t i = 0; i < way->devices->count; i++) {
		const struct link_info *link = &way->devices->link[i];

		if (link->master == top)
			enslave_loop_reach(way, -1, link->ifindex, from);
		if (link->ifindex == top && link_has_lower(link))
			enslave_loop_reach(way, link->lower_nsid, link->lower, from);
	}
}

static void enslave_loop_reach_below(struct way *way, size_t from)
{
	for (struct bond *bond = way->daemon->bonds; bond; bond = bond->next)
		if (enslave_loop_is_bond(bond, &way->step[from]))
			bond_for_each_member (bond, slot)
				enslave_loop_reach(way, -1, (int)bond_slave(bond, slot)->ifindex,
						   from);
	if (way->step[from].nsid < 0)
		enslave_loop_reach_below_device(way, from);
}

/* The place where the way meets the bond, or NOBODY. */
static size_t enslave_loop_go_down(struct way *way, struct bond *bond, int top)
{
	enslave_loop_reach(way, -1, top, NOBODY);
	for (size_t i = 0; i < way->count; i++) {
		if (enslave_loop_is_bond(bond, &way->step[i]))
			return i;
		enslave_loop_reach_below(way, i);
	}
	return NOBODY;
}

static const char *enslave_loop_name_of(const struct way *way, const struct step *step)
{
	for (struct bond *bond = way->daemon->bonds; bond; bond = bond->next)
		if (enslave_loop_is_bond(bond, step))
			return bond_pin(bond)->name;
	for (size_t i = 0; i < way->devices->count; i++)
		if (step->nsid < 0 && way->devices->link[i].ifindex == step->ifindex)
			return way->devices->link[i].name;
	return "another device";
}

/* Writes the way downwards: "mv1 on bond1 on mv0 on bond0". */
static void enslave_loop_write_way(const struct way *way, size_t to, FILE *text)
{
	const struct step *step = &way->step[to];

	if (step->from != NOBODY) {
		enslave_loop_write_way(way, step->from, text);
		fputs(" on ", text);
	}
	fputs(enslave_loop_name_of(way, step), text);
}

static int enslave_loop_refuse(const struct way *way, size_t met, const char *name,
			       const char *bond_name, struct err *err)
{
	char text[WAY_SIZE] = "";
	FILE *file = fmemopen(text, sizeof(text), "w");

	if (file) {
		enslave_loop_write_way(way, met, file);
		fclose(file);
		text[sizeof(text) - 1] = '\0';
	}
	return err_set(err, ELOOP,
		       "%s leads back to %s (%s), so frames would go round for ever; choose a "
		       "device that is not on %s",
		       name, bond_name, text, bond_name);
}

int enslave_loop_check(struct bond *bond, const struct link_info *link,
		       const struct link_list *devices, struct err *err)
{
	struct way way = { .daemon = bond->daemon, .devices = devices };
	size_t met;
	int r = 0;

	/* Room for each device, for one below it in another namespace, and for the top. */
	way.size = 2 * devices->count + 1;
	for (struct bond *other = bond->daemon->bonds; other; other = other->next)
		way.size += bond_slave_count(other);
	way.step = memory_need(calloc(way.size, sizeof(*way.step)));
	met = enslave_loop_go_down(&way, bond, link->ifindex);
	if (met != NOBODY)
		r = enslave_loop_refuse(&way, met, link->name, bond_pin(bond)->name, err);
	free(way.step);
	return r;
}

/* Is it a bond of this bondd, or of another? Its peer is a port side, unless it is a team. */
static bool enslave_check_is_bond_device(struct bond *bond, const struct link_info *link)
{
	struct link_info peer;

	for (struct bond *other = bond->daemon->bonds; other; other = other->next)
		if (bond_is_team(bond_pin(other)) && link->ifindex == (int)bond_pin(other)->ifindex)
			return true;
	return link_is_paired(link) && link->lower_nsid < 0 &&
	       !link_get(&bond->daemon->nl, -1, link->lower, &peer) && bond_is_port_side(&peer);
}

static int enslave_check_kind(struct bond *bond, const struct link_info *link, struct err *err)
{
	const char *name = link->name;

	if (link->ifindex == (int)bond_pin(bond)->ifindex && !bond->device.away)
		return err_set(err, EINVAL, "%s is the bond itself; name another device", name);
	if (link->flags & IFF_LOOPBACK)
		return err_set(err, EINVAL, "%s is the loopback device, which cannot be a slave",
			       name);
	if (link->type != ARPHRD_ETHER || !link->has_mac)
		return err_set(err, EINVAL,
			       "%s is not an Ethernet device, and a bond takes only those", name);
	if (bond_is_port_side(link))
		return err_set(err, EINVAL,
			       "%s is the port side of a bond; name a device of your own", name);
	if (enslave_check_is_bond_device(bond, link))
		return err_set(err, EINVAL, "%s is a bond, and bonds do not nest", name);
	return 0;
}

static int enslave_check_has_orphan_filter(const char *name, int priority, struct err *err)
{
	return err_set(err, EBUSY,
		       "%s is a slave of a bond of another bondd; free it there first, or, if that "
		       "is lost, by 'tc filter del dev %s ingress pref %d'",
		       name, name, priority);
}

/* slave_undo() could not do so yet. */
static bool enslave_check_is_left_over(struct bond *bond, int ifindex)
{
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (bond_slave(bond, slot)->state != XBOND_SLOT_FREE &&
		    !bond_is_member(bond, slot) && (int)bond_slave(bond, slot)->ifindex == ifindex)
			return true;
	return false;
}

static int enslave_check_left_over(struct bond *bonds, const struct link_info *link,
				   struct err *err)
{
	for (struct bond *bond = bonds; bond; bond = bond->next)
		if (enslave_check_is_left_over(bond, link->ifindex))
			return err_set(err, EAGAIN,
				       "%s is not released from %s yet; try again in some seconds",
				       link->name, bond_pin(bond)->name);
	return 0;
}

static int enslave_check_owner(struct bond *bond, const struct link_info *link, struct err *err)
{
	struct link_info master;

	if (enslave_check_left_over(bond->daemon->bonds, link, err) ||
	    enslave_check_left_over(bond->daemon->ending, link, err))
		return -EAGAIN;
	for (struct bond *other = bond->daemon->bonds; other; other = other->next)
		if (bond_slot_by_ifindex(other, link->ifindex) >= 0)
			return err_set(
				err, EBUSY,
				"%s is a slave of %s already; 'bondctl del-slave %s %s' frees it",
				link->name, bond_pin(other)->name, bond_pin(other)->name,
				link->name);
	if (attach_has_rx_filter(link->ifindex, ATTACH_LAST_PRIORITY))
		return enslave_check_has_orphan_filter(link->name, ATTACH_LAST_PRIORITY, err);
	if (attach_has_rx_filter(link->ifindex, ATTACH_FIRST_PRIORITY))
		return enslave_check_has_orphan_filter(link->name, ATTACH_FIRST_PRIORITY, err);
	if (attach_has_program(link->ifindex, false, "xbond_rx"))
		return err_set(err, EBUSY,
			       "%s is a slave of a bond of another bondd; free it there first",
			       link->name);
	if (!link->master)
		return 0;
	if (link_get(&bond->daemon->nl, -1, link->master, &master))
		memset(&master, 0, sizeof(master));
	return err_set(err, EBUSY, "%s is a port of %s%s%s; 'ip link set %s nomaster' frees it",
		       link->name, master.kind, *master.kind ? " " : "", master.name, link->name);
}

static int enslave_check_neighbours(struct bond *bond, const struct link_info *link,
				    const struct link_list *devices, struct err *err)
{
	const char *bond_name = bond_pin(bond)->name;

	for (size_t i = 0; i < devices->count; i++) {
		const struct link_info *upper = &devices->link[i];

		if (link_is_on(upper, link->ifindex) && !own_vlans_is_one(upper, link->ifindex))
			return err_set(err, EBUSY,
				       "%s has %s (%s) on it, which would no longer receive "
				       "anything; remove it, or create it on %s",
				       link->name, upper->name, upper->kind, bond_name);
	}
	return enslave_loop_check(bond, link, devices, err);
}

static int enslave_check_uppers(struct bond *bond, const struct link_info *link, struct err *err)
{
	struct link_list devices;
	int r = link_list_read(&bond->daemon->nl, &devices);

	if (r)
		r = err_set(err, EAGAIN, "cannot find out which devices are on %s; try again",
			    link->name);
	else
		r = enslave_check_neighbours(bond, link, &devices, err);
	link_list_free(&devices);
	return r;
}

static int enslave_check_addresses(struct bond *bond, const struct link_info *link, struct err *err)
{
	struct address first;
	int count = address_list(&bond->daemon->nl, link->ifindex, &first, 1);

	if (count < 0)
		return err_set(err, EAGAIN, "cannot read the addresses of %s; try again",
			       link->name);
	if (!count)
		return 0;
	return err_set(
		err, EBUSY,
		"%s has IP addresses (%s), which belong on %s; remove them, or add 'force yes'",
		link->name, first.text, bond_pin(bond)->name);
}

static int enslave_check_find(struct bond *bond, const char *name, struct link_info *ret_link,
			      struct err *err)
{
	int r = strlen(name) < XBOND_NAME_SIZE ? link_get_by_name(&bond->daemon->nl, name, ret_link)
					       : -ENODEV;

	if (r == -ENODEV)
		return err_set(err, ENODEV, "no such device: %s ('ip link' lists them)", name);
	return r ? err_set(err, -r, "the kernel does not say whether %s is there: %s; try again",
			   name, strerror(-r))
		 : 0;
}

int enslave_check(struct bond *bond, const char *name, bool force, struct link_info *ret_link,
		  struct err *err)
{
	int r;

	r = enslave_check_find(bond, name, ret_link, err);
	if (!r)
		r = enslave_check_kind(bond, ret_link, err);
	if (!r)
		r = enslave_check_owner(bond, ret_link, err);
	if (!r)
		r = enslave_check_uppers(bond, ret_link, err);
	if (!r && !force)
		r = enslave_check_addresses(bond, ret_link, err);
	return r;
}
