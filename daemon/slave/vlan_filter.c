/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/slave/vlan_filter.h"

#include <errno.h>
#include <linux/if_ether.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "daemon/base/event.h"
#include "daemon/base/main_loop.h"
#include "daemon/bond/daemon.h"
#include "daemon/slave/lro.h"
#include "network/driver.h"

#define OPENER_PREFIX "xbv"
/* limit for a bond in a container, which opens VLANs on the slaves outside */
#define AWAY_MAX 256

struct vlan {
	uint16_t id, protocol;
};

struct list {
	struct vlan *vlan;
	size_t count;
	int lower;
	bool openers; /* only devices that open a filter; otherwise any VLAN device */
	size_t max;   /* 0: any number */
	int result;   /* 0, or -errno: there may be others */
};

static void vlan_filter_opener_name(char name[XBOND_NAME_SIZE], int ifindex,
				    const struct vlan *vlan)
{
	snprintf(name, XBOND_NAME_SIZE, OPENER_PREFIX "%s%d.%u",
		 vlan->protocol == ETH_P_8021AD ? "s" : "", ifindex, vlan->id);
}

/* Found by name, because a slave that was moved has left its VLAN devices here. */
static bool vlan_filter_is_opener_of(const struct link_info *link, int ifindex,
				     const struct vlan *vlan)
{
	char name[XBOND_NAME_SIZE];

	vlan_filter_opener_name(name, ifindex, vlan);
	return !strcmp(link->name, name);
}

bool vlan_filter_is_opener(const struct link_info *link, int slave_ifindex)
{
	const struct vlan vlan = { .id = (uint16_t)link->vlan_id, .protocol = link->vlan_protocol };

	return link->vlan_id >= 0 && vlan_filter_is_opener_of(link, slave_ifindex, &vlan);
}

static bool vlan_filter_is_wanted(const struct list *list, const struct link_info *link)
{
	return list->openers ? vlan_filter_is_opener(link, list->lower)
			     : link_is_vlan_on(link, list->lower);
}

static void vlan_filter_collect(const struct link_info *link, void *arg)
{
	struct vlan vlan = { .id = (uint16_t)link->vlan_id, .protocol = link->vlan_protocol };
	struct list *list = arg;
	struct vlan *more;

	if (!vlan_filter_is_wanted(list, link) || (list->max && list->count == list->max))
		return;
	more = memory_need(realloc(list->vlan, (list->count + 1) * sizeof(*more)));
	list->vlan = more;
	list->vlan[list->count++] = vlan;
}

/* The VLANs of bond0 in the namespace it is in. */
static struct list vlan_filter_list_vlans(struct bond *bond)
{
	struct list list = { .lower = (int)bond_pin(bond)->ifindex,
			     .max = bond->device.away ? AWAY_MAX : 0 };

	link_visit(&bond->daemon->nl, bond_pin(bond)->netnsid, vlan_filter_collect, &list);
	return list;
}

static bool vlan_filter_has_feature(struct bond *bond, const struct xbond_slave *slave,
				    const char *name)
{
	struct feature feature;

	return !feature_get(&bond->daemon->ethtool, slave->name, name, &feature) && feature.active;
}

static void vlan_filter_open_one(struct bond *bond, unsigned int slot, const struct vlan *vlan)
{
	const struct xbond_slave *slave = bond_slave(bond, slot);
	char name[XBOND_NAME_SIZE];
	struct link_vlan opener = {
		.name = name,
		.lower = (int)slave->ifindex,
		.id = vlan->id,
		.protocol = vlan->protocol,
	};
	struct link_info there;
	struct err err;
	int r;

	vlan_filter_opener_name(name, (int)slave->ifindex, vlan);
	if (!link_get_by_name(&bond->daemon->nl, name, &there))
		return;
	lro_hold(bond, slot, XBOND_SLAVE_LRO_VLAN);
	r = link_create_vlan(&bond->daemon->nl, &opener, &err);
	if (r && r != -EEXIST)
		event_warning(bond_pin(bond)->name, slave->name,
			      "VLAN %u does not pass the filter of %s: %s", vlan->id, slave->name,
			      err.text);
	idle_turn();
}

static void vlan_filter_close_one(struct bond *bond, unsigned int slot, const struct vlan *vlan)
{
	char name[XBOND_NAME_SIZE];
	struct link_info opener;

	vlan_filter_opener_name(name, (int)bond_slave(bond, slot)->ifindex, vlan);
	if (!link_get_by_name(&bond->daemon->nl, name, &opener) && opener.vlan_id == vlan->id)
		link_delete(&bond->daemon->nl, opener.ifindex, NULL);
	bond->members[slot].vlan_filter.openers_seen = false;
	idle_turn();
}

static void vlan_filter_open_all(struct bond *bond, unsigned int slot, const struct list *list)
{
	const struct xbond_slave *slave = bond_slave(bond, slot);
	bool customer, service;

	if (list->count == 0 || bond_is_team(bond_pin(bond)))
		return;
	customer = vlan_filter_has_feature(bond, slave, FEATURE_VLAN_FILTER);
	service = vlan_filter_has_feature(bond, slave, FEATURE_VLAN_STAG_FILTER);
	for (size_t i = 0; i < list->count; i++)
		if (list->vlan[i].protocol == ETH_P_8021AD ? service : customer)
			vlan_filter_open_one(bond, slot, &list->vlan[i]);
}

/*
 * Returns true if the slave no longer filters 802.1Q VLANs. Drivers that filter 802.1ad cannot be
 * told not to.
 */
static bool vlan_filter_turn_off(struct bond *bond, struct xbond_slave *slave)
{
	const struct ethtool *ethtool = &bond->daemon->ethtool;
	struct feature feature;

	if (feature_get(ethtool, slave->name, FEATURE_VLAN_FILTER, &feature) || !feature.active)
		return true;
	if (feature.fixed)
		return false;
	slave->before.flags |= XBOND_SLAVE_HAD_VLAN_FILTER;
	return feature_set(ethtool, slave->name, FEATURE_VLAN_FILTER, false) >= 0 &&
	       !vlan_filter_has_feature(bond, slave, FEATURE_VLAN_FILTER);
}

void vlan_filter_open(struct bond *bond, unsigned int slot)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	struct list list;

	if (bond_is_team(bond_pin(bond))) /* the kernel tells its ports which VLANs it has */
		return;
	if (vlan_filter_turn_off(bond, slave) &&
	    !vlan_filter_has_feature(bond, slave, FEATURE_VLAN_STAG_FILTER))
		return;
	list = vlan_filter_list_vlans(bond);
	vlan_filter_open_all(bond, slot, &list);
	free(list.vlan);
}

static struct list vlan_filter_list_openers(struct bond *bond, unsigned int slot)
{
	struct list list = { .lower = (int)bond_slave(bond, slot)->ifindex, .openers = true };

	list.result = link_visit(&bond->daemon->nl, -1, vlan_filter_collect, &list);
	return list;
}

void vlan_filter_close(struct bond *bond, unsigned int slot)
{
	struct list list = vlan_filter_list_openers(bond, slot);

	for (size_t i = 0; i < list.count; i++)
		vlan_filter_close_one(bond, slot, &list.vlan[i]);
	free(list.vlan);
}

void vlan_filter_restore(struct bond *bond, unsigned int slot, const char *name)
{
	const struct xbond_slave *slave = bond_slave(bond, slot);

	vlan_filter_close(bond, slot);
	if (slave->before.flags & XBOND_SLAVE_HAD_VLAN_FILTER &&
	    feature_set(&bond->daemon->ethtool, name, FEATURE_VLAN_FILTER, true) < 0)
		event_warning(bond_pin(bond)->name, NULL,
			      "cannot restore " FEATURE_VLAN_FILTER " of %s", name);
}

void vlan_filter_follow(struct bond *bond, const struct link_info *link, bool gone)
{
	struct list list = { .lower = (int)bond_pin(bond)->ifindex };

	if (bond->device.away || (gone && link->new_nsid >= 0))
		return;
	vlan_filter_collect(link, &list);
	bond_for_each_member (bond, slot) {
		if (!gone)
			vlan_filter_open_all(bond, slot, &list);
		else if (list.count)
			vlan_filter_close_one(bond, slot, &list.vlan[0]);
		if (list.count)
			idle_turn();
	}
	free(list.vlan);
}

void vlan_filter_tidy(struct bond *bond)
{
	bond_for_each_member (bond, slot) {
		bool *seen = &bond->members[slot].vlan_filter.openers_seen;
		struct list list;

		if (*seen || !(bond_slave(bond, slot)->before.flags & XBOND_SLAVE_LRO_VLAN))
			continue;
		list = vlan_filter_list_openers(bond, slot);
		*seen = list.count;
		if (!*seen && !list.result)
			lro_let_go(bond, slot, XBOND_SLAVE_LRO_VLAN);
		free(list.vlan);
	}
}

void vlan_filter_sync(struct bond *bond)
{
	struct list list = vlan_filter_list_vlans(bond);

	bond_for_each_member (bond, slot)
		vlan_filter_open_all(bond, slot, &list);
	free(list.vlan);
}
