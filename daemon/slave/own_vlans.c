/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VLAN devices that somebody has made on a member. As with the kernel's driver, frames of these
 * VLANs belong to the member and not to the bond, whether it receives for the bond or not. bondd
 * only tells xbond_rx which VLANs these are. It knows those of its own network namespace.
 */
#include <linux/if_ether.h>

#include "common/slots.h"
#include "daemon/bond/daemon.h"
#include "daemon/dataplane/dataplane.h"
#include "daemon/slave/slave.h"
#include "daemon/slave/slave_parts.h"

struct own_vlans_seen {
	int ifindex;
	uint64_t vlan[XBOND_VLANS / 64];
};

bool own_vlans_is_one(const struct link_info *link, int slave_ifindex)
{
	return link_is_vlan_on(link, slave_ifindex) && link->vlan_protocol == ETH_P_8021Q &&
	       link->vlan_id < XBOND_VLANS && !vlan_filter_is_opener(link, slave_ifindex);
}

static void own_vlans_see(const struct link_info *link, void *arg)
{
	struct own_vlans_seen *seen = arg;

	if (own_vlans_is_one(link, seen->ifindex))
		seen->vlan[link->vlan_id / 64] |= 1ULL << link->vlan_id % 64;
}

/* The flag comes before the first VLAN and goes after the last one. */
static void own_vlans_publish(struct bond *bond, unsigned int slot, const uint64_t *vlan)
{
	struct xbond_own_vlans *own = bond->dataplane.pins.own_vlans;
	uint64_t any = 0;

	if (!own)
		return;
	for (unsigned int id = 0; id < XBOND_VLANS; id++) {
		uint64_t slots = own->slots[id] & ~slots_bit(slot);

		if (vlan[id / 64] >> id % 64 & 1) {
			dataplane_set_flags(&bond->dataplane, XBOND_F_OWN_VLANS, XBOND_F_OWN_VLANS);
			slots |= slots_bit(slot);
		}
		if (own->slots[id] != slots)
			store_release(own->slots[id], slots);
		any |= slots;
	}
	if (!any)
		dataplane_set_flags(&bond->dataplane, XBOND_F_OWN_VLANS, 0);
}

static void own_vlans_look(struct bond *bond, unsigned int slot)
{
	struct own_vlans_seen seen = { .ifindex = (int)bond_slave(bond, slot)->ifindex };

	if (!link_visit(&bond->daemon->nl, -1, own_vlans_see, &seen))
		own_vlans_publish(bond, slot, seen.vlan);
}

static int own_vlans_enslave(struct bond *bond, unsigned int slot, struct err *err)
{
	(void)err;
	own_vlans_look(bond, slot);
	return 0;
}

static void own_vlans_forget(struct bond *bond, unsigned int slot)
{
	static const uint64_t none[XBOND_VLANS / 64];

	own_vlans_publish(bond, slot, none);
}

static bool own_vlans_hear(struct bond *bond, unsigned int slot, enum part_news news,
			   const struct link_info *link, bool gone)
{
	(void)gone;
	return news != NEWS_ON_SLAVE || slot == PART_BOND || !link ||
	       own_vlans_is_one(link, (int)bond_slave(bond, slot)->ifindex);
}

static bool own_vlans_settle(struct bond *bond, unsigned int slot, uint32_t news)
{
	(void)news;
	if (slot != PART_BOND)
		own_vlans_look(bond, slot);
	return false;
}

struct part own_vlans_part = {
	.hears = NEWS_ON_SLAVE | NEWS_LOST,
	.enslave = own_vlans_enslave,
	.forget = own_vlans_forget,
	.hear = own_vlans_hear,
	.settle = own_vlans_settle,
};
