/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <linux/if_ether.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/memory.h"
#include "daemon/base/event.h"
#include "daemon/bond/daemon.h"
#include "daemon/slave/slave.h"
#include "network/driver.h"

#define OPENER_PREFIX "xbv"
/* limit for a bond in a container, which opens VLANs on the slaves outside */
#define AWAY_MAX 256

struct vlan {
	uint16_t id, protocol;
};

/* VLANs of bond0 that were deleted, as opposed to moved away, since it was last settled. */
struct vlan_filter_bond {
	struct vlan *gone;
	size_t count;
};

struct vlan_filter_member {
	/* VLAN devices of ours were seen on the slave, and none has been deleted since. */
	bool openers_seen;
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

	if (!vlan_filter_is_wanted(list, link) || (list->max && list->count == list->max))
		return;
	memory_more(list->vlan, list->count);
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
	return feature_is_on(&bond->daemon->ethtool, slave->name, name);
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
}

static struct vlan_filter_member *vlan_filter_member(struct bond *bond, unsigned int slot)
{
	return part_of_member(bond, &vlan_filter_part, slot);
}

static int vlan_filter_close_one(struct bond *bond, unsigned int slot, const struct vlan *vlan)
{
	char name[XBOND_NAME_SIZE];
	struct link_info opener;
	int r;

	vlan_filter_opener_name(name, (int)bond_slave(bond, slot)->ifindex, vlan);
	r = link_get_by_name(&bond->daemon->nl, name, &opener);
	if (!r && opener.vlan_id == vlan->id)
		r = link_delete(&bond->daemon->nl, opener.ifindex, NULL);
	vlan_filter_member(bond, slot)->openers_seen = false;
	return r == -ENODEV ? 0 : r;
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

static int vlan_filter_enslave(struct bond *bond, unsigned int slot, struct err *err)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	struct list list;

	if (bond_is_team(bond_pin(bond))) /* the kernel tells its ports which VLANs it has */
		return 0;
	if (vlan_filter_turn_off(bond, slave) &&
	    !vlan_filter_has_feature(bond, slave, FEATURE_VLAN_STAG_FILTER))
		return 0;
	list = vlan_filter_list_vlans(bond);
	vlan_filter_open_all(bond, slot, &list);
	free(list.vlan);
	return 0;
}

static struct list vlan_filter_list_openers(struct bond *bond, unsigned int slot)
{
	struct list list = { .lower = (int)bond_slave(bond, slot)->ifindex, .openers = true };

	list.result = link_visit(&bond->daemon->nl, -1, vlan_filter_collect, &list);
	return list;
}

static int vlan_filter_close_all(struct bond *bond, unsigned int slot)
{
	struct list list = vlan_filter_list_openers(bond, slot);
	int result = list.result;

	for (size_t i = 0; i < list.count; i++) {
		int r = vlan_filter_close_one(bond, slot, &list.vlan[i]);

		result = r ? r : result;
	}
	free(list.vlan);
	return result;
}

/* A device that has gone, or was moved, has left them here. One that was restored has none. */
static void vlan_filter_forget(struct bond *bond, unsigned int slot)
{
	if (!(bond_slave(bond, slot)->restored & XBOND_RESTORED_VLAN_FILTER))
		vlan_filter_close_all(bond, slot);
}

static int vlan_filter_restore(struct bond *bond, unsigned int slot, const struct place *place,
			       struct err *err)
{
	int r = place->away ? 0 : vlan_filter_close_all(bond, slot);

	if (r)
		return err_set(err, -r, "%s", strerror(-r));
	if (!(bond_slave(bond, slot)->before.flags & XBOND_SLAVE_HAD_VLAN_FILTER))
		return 0;
	return part_restore_feature(place, FEATURE_VLAN_FILTER, err);
}

/* A VLAN that was moved away is not seen any more, but goes on: only who hears this knows. */
static bool vlan_filter_hear(struct bond *bond, unsigned int slot, enum part_news news,
			     const struct link_info *link, bool gone)
{
	struct vlan_filter_bond *state = part_of_bond(bond, &vlan_filter_part);
	struct list list = { .lower = (int)bond_pin(bond)->ifindex,
			     .vlan = state->gone,
			     .count = state->count };

	if (bond_is_team(bond_pin(bond)))
		return false;
	if (news != NEWS_ON_BOND)
		return true;
	if (gone && link->new_nsid < 0) {
		vlan_filter_collect(link, &list);
		state->gone = list.vlan;
		state->count = list.count;
	}
	return link_is_vlan_on(link, list.lower);
}

static bool vlan_filter_has(const struct list *list, const struct vlan *vlan)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->vlan[i].id == vlan->id && list->vlan[i].protocol == vlan->protocol)
			return true;
	return false;
}

/* LRO, which such devices turn off, comes back after the last one has gone. */
static void vlan_filter_settle(struct bond *bond, unsigned int slot, uint32_t news)
{
	struct vlan_filter_member *member = vlan_filter_member(bond, slot);
	struct list list;

	if (!(news & NEWS_TIME) || member->openers_seen ||
	    !(bond_slave(bond, slot)->before.flags & XBOND_SLAVE_LRO_VLAN))
		return;
	list = vlan_filter_list_openers(bond, slot);
	member->openers_seen = list.count;
	if (!list.count && !list.result)
		lro_let_go(bond, slot, XBOND_SLAVE_LRO_VLAN);
	free(list.vlan);
}

static void vlan_filter_close_gone(struct bond *bond, unsigned int slot, const struct list *there)
{
	const struct vlan_filter_bond *state = part_of_bond(bond, &vlan_filter_part);

	for (size_t i = 0; i < state->count; i++)
		if (!vlan_filter_has(there, &state->gone[i]))
			vlan_filter_close_one(bond, slot, &state->gone[i]);
}

static bool vlan_filter_some_filter(struct bond *bond)
{
	bond_for_each_member (bond, slot)
		if (vlan_filter_has_feature(bond, bond_slave(bond, slot), FEATURE_VLAN_FILTER) ||
		    vlan_filter_has_feature(bond, bond_slave(bond, slot), FEATURE_VLAN_STAG_FILTER))
			return true;
	return false;
}

static void vlan_filter_settle_all(struct bond *bond)
{
	struct vlan_filter_bond *state = part_of_bond(bond, &vlan_filter_part);
	struct list there = { 0 };

	if (vlan_filter_some_filter(bond))
		there = vlan_filter_list_vlans(bond);
	bond_for_each_member (bond, slot) {
		vlan_filter_open_all(bond, slot, &there);
		vlan_filter_close_gone(bond, slot, &there);
	}
	free(there.vlan);
	free(state->gone);
	*state = (struct vlan_filter_bond){ 0 };
}

/* No message tells of VLANs while bond0 is in another namespace. */
static void vlan_filter_settle_bond(struct bond *bond, uint32_t news)
{
	if (news & (NEWS_ON_BOND | NEWS_LOST) || bond->device.away)
		vlan_filter_settle_all(bond);
}

static void vlan_filter_free(struct bond *bond)
{
	struct vlan_filter_bond *state = part_of_bond(bond, &vlan_filter_part);

	free(state->gone);
}

struct part vlan_filter_part = {
	.restores = XBOND_RESTORED_VLAN_FILTER,
	.bond_size = sizeof(struct vlan_filter_bond),
	.member_size = sizeof(struct vlan_filter_member),
	.hears = NEWS_ON_BOND | NEWS_TIME | NEWS_LOST,
	.enslave = vlan_filter_enslave,
	.restore = vlan_filter_restore,
	.forget = vlan_filter_forget,
	.hear = vlan_filter_hear,
	.settle = vlan_filter_settle,
	.settle_bond = vlan_filter_settle_bond,
	.free = vlan_filter_free,
};
