/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VLAN devices that somebody has made on a member. As with the kernel's driver, frames of these
 * VLANs belong to the member and not to the bond, whether it receives for the bond or not. bondd
 * only tells xbond_rx which VLANs these are. It knows those of its own network namespace.
 */
#include <linux/if_ether.h>
#include <string.h>

#include "bpf/slots.h"
#include "daemon/bond/daemon.h"
#include "daemon/dataplane/dataplane.h"
#include "daemon/slave/slave.h"

struct own_vlans_member {
	uint64_t vlan[XBOND_VLANS / 64];
	bool unread; /* the kernel did not say which there are */
};

struct own_vlans_seen {
	struct bond *bond;
	uint64_t slots; /* that are looked at */
	uint64_t vlan[XBOND_MAX_SLAVES][XBOND_VLANS / 64];
};

static struct own_vlans_member *own_vlans_member(const struct bond *bond, unsigned int slot)
{
	return part_of_member(bond, &own_vlans_part, slot);
}

static bool own_vlans_have(const uint64_t *vlan, unsigned int id)
{
	return vlan[id / 64] >> id % 64 & 1;
}

bool own_vlans_is_one(const struct link_info *link, int slave_ifindex)
{
	return link_is_vlan_on(link, slave_ifindex) && link->vlan_protocol == ETH_P_8021Q &&
	       link->vlan_id < XBOND_VLANS && !vlan_filter_is_opener(link, slave_ifindex);
}

static void own_vlans_see(const struct link_info *link, struct own_vlans_seen *seen)
{
	slots_for_each (seen->slots, slot)
		if (own_vlans_is_one(link, (int)bond_slave(seen->bond, slot)->ifindex))
			seen->vlan[slot][link->vlan_id / 64] |= 1ULL << link->vlan_id % 64;
}

static bool own_vlans_are_none(const uint64_t *vlan)
{
	for (unsigned int i = 0; i < XBOND_VLANS / 64; i++)
		if (vlan[i])
			return false;
	return true;
}

/* The flag comes before the first VLAN and goes after the last one. */
static void own_vlans_publish(struct bond *bond, unsigned int slot, const uint64_t *vlan)
{
	struct xbond_own_vlans *own = bond->dataplane.pins.own_vlans;
	uint64_t any = 0;

	if (!own)
		return;
	if (!own_vlans_are_none(vlan))
		dataplane_set_flags(&bond->dataplane, XBOND_F_OWN_VLANS, XBOND_F_OWN_VLANS);
	for (unsigned int id = 0; id < XBOND_VLANS; id++) {
		uint64_t slots = own->slots[id] & ~slots_bit(slot);

		if (own_vlans_have(vlan, id))
			slots |= slots_bit(slot);
		if (own->slots[id] != slots)
			store_release(own->slots[id], slots);
		any |= slots;
	}
	if (!any)
		dataplane_set_flags(&bond->dataplane, XBOND_F_OWN_VLANS, 0);
}

/* Looks at all devices once, and publishes what is on these members. */
static void own_vlans_read(struct bond *bond, uint64_t slots)
{
	struct own_vlans_seen seen = { .bond = bond, .slots = slots };
	const struct link_list *links = slots ? daemon_links(bond->daemon) : NULL;
	bool unread = slots && !links;

	for (size_t i = 0; links && i < links->count; i++)
		own_vlans_see(&links->link[i], &seen);
	slots_for_each (slots, slot) {
		struct own_vlans_member *member = own_vlans_member(bond, slot);

		member->unread = unread;
		if (!unread)
			memcpy(member->vlan, seen.vlan[slot], sizeof(member->vlan));
		own_vlans_publish(bond, slot, member->vlan);
	}
}

static int own_vlans_enslave(struct bond *bond, unsigned int slot, struct err *err)
{
	daemon_forget_links(bond->daemon); /* messages of what has changed may not have been read */
	own_vlans_read(bond, slots_bit(slot));
	return 0;
}

static void own_vlans_forget(struct bond *bond, unsigned int slot)
{
	static const uint64_t none[XBOND_VLANS / 64];

	own_vlans_publish(bond, slot, none);
}

static uint64_t own_vlans_unread(struct bond *bond)
{
	uint64_t slots = 0;

	bond_for_each_member (bond, slot)
		if (own_vlans_member(bond, slot)->unread)
			slots |= slots_bit(slot);
	return slots;
}

/* The message says it all: with thousands of VLANs, looking at all devices each time takes long. */
static bool own_vlans_hear(struct bond *bond, unsigned int slot, enum part_news news,
			   const struct link_info *link, bool gone)
{
	uint64_t *vlan;

	if (news != NEWS_ON_SLAVE)
		return news == NEWS_LOST || own_vlans_unread(bond);
	vlan = own_vlans_member(bond, slot)->vlan;
	if (!own_vlans_is_one(link, (int)bond_slave(bond, slot)->ifindex) ||
	    own_vlans_have(vlan, (unsigned int)link->vlan_id) != gone)
		return false;
	vlan[link->vlan_id / 64] ^= 1ULL << link->vlan_id % 64;
	return true;
}

static void own_vlans_settle(struct bond *bond, unsigned int slot, uint32_t news)
{
	own_vlans_publish(bond, slot, own_vlans_member(bond, slot)->vlan);
}

static void own_vlans_settle_bond(struct bond *bond, uint32_t news)
{
	own_vlans_read(bond, news & NEWS_LOST ? bond_members(bond) : own_vlans_unread(bond));
}

struct part own_vlans_part = {
	.member_size = sizeof(struct own_vlans_member),
	.hears = NEWS_ON_SLAVE | NEWS_LOST | NEWS_TIME,
	.enslave = own_vlans_enslave,
	.forget = own_vlans_forget,
	.hear = own_vlans_hear,
	.settle = own_vlans_settle,
	.settle_bond = own_vlans_settle_bond,
};
