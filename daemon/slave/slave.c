/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Enslaves and releases. slave_follow.c has what a member does in between. */
#include "daemon/slave/slave.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>

#include "common/clock.h"
#include "daemon/base/crashpoint.h"
#include "daemon/base/event.h"
#include "daemon/base/idle.h"
#include "daemon/base/netns_call.h"
#include "daemon/bond/bond_lacp.h"
#include "daemon/bond/daemon.h"
#include "daemon/bond/evaluate.h"
#include "daemon/monitor/quality_judge.h"
#include "daemon/monitor/verdict.h"
#include "daemon/slave/mac_swap.h"
#include "daemon/slave/rx_place.h"
#include "daemon/slave/slave_parts.h"
#include "daemon/slave/slave_rx.h"
#include "network/address.h"
#include "network/ipv6.h"

/* Between two tries to release a slave: they grow. */
#define PAUSE_MIN_NS (1000 * NS_PER_MS)
#define PAUSE_MAX_NS (60000 * NS_PER_MS)

static void slave_record(struct bond *bond, unsigned int slot, const struct link_info *link)
{
	struct xbond_slave *slave = bond_slave(bond, slot);

	memset(slave, 0, sizeof(*slave));
	slave->ifindex = (__u32)link->ifindex;
	memcpy(slave->name, link->name, sizeof(slave->name));
	memcpy(slave->mac, link->mac, XBOND_MAC_SIZE);
	memcpy(slave->perm_mac, link->has_perm_mac ? link->perm_mac : link->mac, XBOND_MAC_SIZE);
	memcpy(slave->before.mac, link->mac, XBOND_MAC_SIZE);
	slave->before.mtu = link->mtu;
	slave->before.disable_ipv6 = ipv6_disabled(link->name);
	if (link->flags & IFF_UP)
		slave->before.flags |= XBOND_SLAVE_WAS_UP;
	if (link->flags & IFF_PROMISC)
		slave->before.flags |= XBOND_SLAVE_WAS_PROMISC;
	if (link->flags & IFF_ALLMULTI)
		slave->before.flags |= XBOND_SLAVE_WAS_ALLMULTI;
	__atomic_store_n(&slave->state, XBOND_SLOT_ENSLAVING, __ATOMIC_RELEASE);
}

int slave_enslave(struct bond *bond, unsigned int slot, const struct link_info *link,
		  struct err *err)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	int carrier, r;

	slave_record(bond, slot, link);
	crashpoint("enslave-recorded");
	r = parts_enslave(bond, slot, err);
	if (r) {
		slave_undo(bond, slot);
		return r;
	}
	slave_follow_promisc(bond, slot);
	ethtool_speed(&bond->daemon->ethtool, slave->name, &slave->speed_mbps, &slave->duplex);
	carrier = ethtool_carrier(&bond->daemon->ethtool, slave->name);
	verdict_begin(bond, slot);
	quality_begin(bond, slot);
	verdict_set(bond, slot, XBOND_MONITOR_CARRIER, carrier > 0);
	bond->members[slot].since_ns = clock_now_ns();
	return 0;
}

/* Addresses that somebody has given to a member stay: it is in trouble, but they are not ours. */
static bool slave_has_addresses(struct bond *bond, int ifindex)
{
	struct address first;

	return address_list(&bond->daemon->nl, ifindex, &first, 1) > 0;
}

void slave_keep_used(struct bond *bond, unsigned int slot)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	struct link_info now;

	if (!link_get(&bond->daemon->nl, -1, (int)slave->ifindex, &now) && now.flags & IFF_UP &&
	    (now.master || slave_has_addresses(bond, now.ifindex)))
		slave->before.flags |= XBOND_SLAVE_WAS_UP;
}

void slave_adopt(struct bond *bond, unsigned int slot, const struct link_info *link)
{
	struct xbond_slave *slave = bond_slave(bond, slot);

	slave_finish_mac(bond, slot);
	if (ipv6_disabled(link->name) == 0 && !slave_has_addresses(bond, link->ifindex) &&
	    !ipv6_set_disabled(link->name, 1))
		event_notice(bond_pin(bond)->name, link->name,
			     "IPv6 was on on %s, and is off again", link->name);
	if (slave->before.flags & XBOND_SLAVE_JOINED_SLOW)
		slow_part.enslave(bond, slot, NULL);
	if (slave->carrier_changes != link->carrier_changes)
		bond_lacp_note_flap(bond, slot);
	rx_place_tidy(bond, slot);
}

void slave_admit(struct bond *bond, unsigned int slot)
{
	__atomic_store_n(&bond_slave(bond, slot)->state, XBOND_SLOT_MEMBER, __ATOMIC_RELEASE);
	if (!strcmp(bond_slave(bond, slot)->name, bond_pin(bond)->primary))
		bond_primary_changed(bond);
}

void slave_forget(struct bond *bond, unsigned int slot)
{
	struct xbond_settings *settings = bond->dataplane.pins.settings;

	parts_forget(bond, slot);
	if (bond_slave(bond, slot)->state != XBOND_SLOT_ENSLAVING)
		dataplane_retire_counters(&bond->dataplane, slot);
	dataplane_set_slot(&bond->dataplane, slot, 0);
	__atomic_and_fetch(&settings->drain_mask, ~(UINT64_C(1) << slot), __ATOMIC_RELAXED);
	settings->weight[slot] = 0;
	memset(bond_slave(bond, slot), 0, sizeof(struct xbond_slave));
	verdict_begin(bond, slot);
	quality_begin(bond, slot);
	bond->members[slot] = (struct member){ 0 };
}

static bool slave_is_known_as(const struct xbond_slave *slave, const struct link_info *link)
{
	if (link->has_perm_mac && !memcmp(link->perm_mac, slave->perm_mac, XBOND_MAC_SIZE))
		return true;
	return !strcmp(link->name, slave->name) || !memcmp(link->mac, slave->mac, XBOND_MAC_SIZE) ||
	       !memcmp(link->mac, slave->before.mac, XBOND_MAC_SIZE);
}

/* Name and address may both have been changed; our program stays on the device. */
int slave_find_device(struct bond *bond, unsigned int slot, struct link_info *ret_link)
{
	const struct xbond_slave *slave = bond_slave(bond, slot);
	struct attach_point point = slave_rx_now(bond, slot);
	int r = link_get(&bond->daemon->nl, -1, (int)slave->ifindex, ret_link);

	if (r || slave_is_known_as(slave, ret_link))
		return r;
	r = attach_is_there(&point);
	return r > 0 ? 0 : r < 0 ? r : -ENODEV;
}

struct moved {
	struct bond *bond;
	unsigned int slot;
	int ifindex;
};

/* In a child, in the namespace where the device is now, under the name that it has there. */
static int slave_restore_moved(struct nl *nl, const void *arg)
{
	const struct moved *moved = arg;
	struct place place = { .nl = nl, .ifindex = moved->ifindex, .away = true };
	struct ethtool ethtool;
	struct link_info link;
	int r = link_get(nl, -1, moved->ifindex, &link);

	if (!r)
		r = ethtool_init(&ethtool);
	if (r)
		return r;
	place.ethtool = &ethtool;
	place.name = link.name;
	r = parts_restore(moved->bond, moved->slot, &place, NULL);
	ethtool_done(&ethtool);
	return r;
}

void slave_restore_moved_away(struct bond *bond, unsigned int slot, const struct link_info *gone)
{
	const struct moved moved = { bond, slot, gone->new_ifindex };
	struct err err;

	if (netns_call(&bond->daemon->nl, gone->new_nsid, slave_restore_moved, &moved, &err))
		event_warning(bond_pin(bond)->name, bond_slave(bond, slot)->name,
			      "cannot restore the state of %s: %s", bond_slave(bond, slot)->name,
			      err.text);
}

/* It keeps its record, and is tried again by slave_undo_left(), or by the next bondd. */
static int slave_undo_later(struct bond *bond, unsigned int slot, int r, const char *why)
{
	struct member *member = &bond->members[slot];
	const char *name = bond_slave(bond, slot)->name;

	if (!member->release.pause_ns)
		event_warning(bond_pin(bond)->name, name,
			      "%s is not released yet: %s; bondd tries it again", name, why);
	member->release.pause_ns = !member->release.pause_ns ? PAUSE_MIN_NS
				   : member->release.pause_ns < PAUSE_MAX_NS / 2
					   ? 2 * member->release.pause_ns
					   : PAUSE_MAX_NS;
	member->release.next_ns = clock_now_ns() + member->release.pause_ns;
	return r;
}

static int slave_undo_device(struct bond *bond, unsigned int slot, struct err *err)
{
	struct link_info link;
	struct place place = { &bond->daemon->nl, &bond->daemon->ethtool,
			       (int)bond_slave(bond, slot)->ifindex, link.name, false };
	int r = slave_find_device(bond, slot, &link);

	if (r)
		return err_set(err, -r, "the kernel does not say whether it is there: %s",
			       strerror(-r));
	r = parts_restore(bond, slot, &place, err);
	return r && slave_find_device(bond, slot, &link) == -ENODEV ? -ENODEV : r;
}

int slave_undo(struct bond *bond, unsigned int slot)
{
	const struct member *member = &bond->members[slot];
	struct xbond_slave *slave = bond_slave(bond, slot);
	struct err err;
	int r = slave_undo_device(bond, slot, &err);

	if (r && r != -ENODEV)
		return slave_undo_later(bond, slot, r, err.text);
	if (member->release.pause_ns)
		event_notice(bond_pin(bond)->name, slave->name, "%s is released now%s", slave->name,
			     r ? ": it has gone" : "");
	slave_forget(bond, slot);
	return 0;
}

static bool slave_is_left(struct bond *bond, unsigned int slot)
{
	return bond_slave(bond, slot)->state != XBOND_SLOT_FREE && !bond_is_member(bond, slot);
}

bool slave_undo_left(struct bond *bond)
{
	bool left = false;

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (slave_is_left(bond, slot) &&
		    (bond->members[slot].release.next_ns > clock_now_ns() ||
		     slave_undo(bond, slot)))
			left = true;
	return left;
}

void slave_undo_now(struct bond *bond)
{
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (slave_is_left(bond, slot))
			slave_undo(bond, slot);
}

void slave_release(struct bond *bond, uint64_t mask)
{
	bond_for_each_member (bond, slot)
		if (mask >> slot & 1)
			__atomic_store_n(&bond_slave(bond, slot)->state, XBOND_SLOT_RELEASING,
					 __ATOMIC_RELEASE);
	bond_evaluate(bond);
	idle_turn();
	dataplane_quiesce();
	bond->dataplane.settled = true;
	mac_swap_settle(bond);
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (mask >> slot & 1 && bond_slave(bond, slot)->state != XBOND_SLOT_FREE) {
			idle_turn();
			slave_undo(bond, slot);
		}
}
