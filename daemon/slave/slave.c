/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Enslaves and releases. slave_follow.c has what a member does in between. */
#include "daemon/slave/slave.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>

#include "common/clock.h"
#include "common/mac.h"
#include "daemon/base/child.h"
#include "daemon/base/crashpoint.h"
#include "daemon/base/event.h"
#include "daemon/base/main_loop.h"
#include "daemon/bond/attach_check.h"
#include "daemon/bond/bond_lacp.h"
#include "daemon/bond/daemon.h"
#include "daemon/bond/evaluate.h"
#include "daemon/monitor/quality_judge.h"
#include "daemon/monitor/verdict.h"
#include "daemon/slave/backlog_skip.h"
#include "daemon/slave/lro.h"
#include "daemon/slave/mac_swap.h"
#include "daemon/slave/rx_place.h"
#include "daemon/slave/slave_hooks.h"
#include "daemon/slave/slave_multicast.h"
#include "daemon/slave/slave_rx.h"
#include "daemon/slave/slave_team.h"
#include "daemon/slave/vlan_filter.h"
#include "daemon/slave/xdp_hooks.h"
#include "network/driver.h"
#include "network/ip.h"
#include "network/mac_lists.h"

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

/* If somebody else put it there before, or nobody knows, it stays. */
static void slave_join_slow_protocols(struct xbond_slave *slave)
{
	int is_there = multicast_is_static((int)slave->ifindex, multicast_slow_protocols);

	if (is_there > 0)
		return;
	if (!is_there)
		slave->before.flags |= XBOND_SLAVE_JOINED_SLOW;
	if (multicast_add((int)slave->ifindex, multicast_slow_protocols))
		slave->before.flags &= ~XBOND_SLAVE_JOINED_SLOW;
}

/*
 * allmulti lets multicast groups that are joined on bond0 through the slave's filter, with or
 * without bondd. The groups themselves are for NICs that ignore it. The group of the slow protocols
 * is added by name, for filters that even so block link-local groups.
 */
static int slave_change(struct bond *bond, unsigned int slot, struct err *err)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	struct nl *nl = &bond->daemon->nl;
	int ifindex = (int)slave->ifindex, r;
	struct err why;

	r = slave_team_prepare(bond, slot, err);
	if (r)
		return r;
	r = ipv6_set_disabled(slave->name, 1);
	if (r < 0)
		return err_set(err, -r, "cannot turn IPv6 off on %s: %s", slave->name,
			       strerror(-r));
	if (slave->before.mtu != bond_pin(bond)->mtu)
		r = link_set_mtu(nl, ifindex, bond_pin(bond)->mtu, &why);
	if (r)
		return err_set(
			err, -r,
			"%s does not take the bond's MTU %u (%s); lower the bond's MTU first",
			slave->name, bond_pin(bond)->mtu, why.text);
	slave_join_slow_protocols(slave);
	slave_multicast_join(bond, UINT64_C(1) << slot);
	r = link_set_flags(nl, ifindex, IFF_ALLMULTI, IFF_ALLMULTI, err);
	mac_swap_enter(bond, slot);
	if (!r)
		r = slave_follow_mac(bond, slot, err);
	if (!r)
		vlan_filter_open(bond, slot);
	if (!r && !(slave->before.flags & XBOND_SLAVE_WAS_UP) && !bond_is_team(bond_pin(bond)))
		r = link_set_flags(nl, ifindex, IFF_UP, IFF_UP, err);
	return r ? r : mac_swap_try(bond, slot, err);
}

static int slave_attach(struct bond *bond, unsigned int slot, struct err *err)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	int r;

	rx_place_choose(bond, slot);
	r = dataplane_set_slot(&bond->dataplane, slot, (int)slave->ifindex);
	if (r)
		return err_set(err, -r, "the programs cannot be told of %s: %s", slave->name,
			       strerror(-r));
	r = slave_rx_attach(bond, slot, err);
	return r ? r : slave_team_join(bond, slot, err);
}

int slave_enslave(struct bond *bond, unsigned int slot, const struct link_info *link,
		  struct err *err)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	int carrier, r;

	slave_record(bond, slot, link);
	crashpoint("enslave-recorded");
	r = slave_change(bond, slot, err);
	crashpoint("enslave-changed");
	idle_turn();
	if (!r)
		r = slave_attach(bond, slot, err);
	crashpoint("enslave-attached");
	if (r) {
		slave_undo(bond, slot);
		return r;
	}
	idle_turn();
	slave_follow_promisc(bond, slot);
	xdp_follow_slave(bond, slot, NULL);
	backlog_skip_follow(bond, slot);
	slave_hooks_follow(bond, slot, false);
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
		slave_join_slow_protocols(slave);
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

static void slave_warn_restore(struct bond *bond, const char *what, const struct xbond_slave *slave,
			       const struct err *err)
{
	event_warning(bond_pin(bond)->name, slave->name, "cannot restore the %s of %s: %s", what,
		      slave->name, err->text);
}

static unsigned int slave_flags_before(const struct xbond_slave_record *before)
{
	unsigned int flags = before->flags & XBOND_SLAVE_WAS_ALLMULTI ? IFF_ALLMULTI : 0;

	return before->flags & XBOND_SLAVE_WAS_PROMISC ? flags | IFF_PROMISC : flags;
}

/*
 * It goes down before its MAC is restored: some drivers refuse that while up, and nothing leaves
 * with the wrong one.
 */
static void slave_restore_link(struct bond *bond, const struct xbond_slave *slave)
{
	const struct xbond_slave_record *before = &slave->before;
	unsigned int mask = IFF_ALLMULTI | IFF_PROMISC;
	struct nl *nl = &bond->daemon->nl;
	int ifindex = (int)slave->ifindex;
	struct link_info now;
	struct err err;
	int r;

	if (!(before->flags & XBOND_SLAVE_WAS_UP))
		mask |= IFF_UP;
	if (link_set_flags(nl, ifindex, slave_flags_before(before), mask, &err))
		slave_warn_restore(bond, "flags", slave, &err);
	r = link_get(nl, -1, ifindex, &now);
	if (r && r != -ENODEV) {
		err_set(&err, -r, "%s", strerror(-r));
		slave_warn_restore(bond, "MAC address and MTU", slave, &err);
	}
	if (r)
		return;
	if (memcmp(now.mac, before->mac, XBOND_MAC_SIZE) &&
	    link_force_mac(nl, &now, before->mac, &err))
		slave_warn_restore(bond, "MAC address", slave, &err);
	if (now.mtu != before->mtu && link_set_mtu(nl, ifindex, before->mtu, &err))
		slave_warn_restore(bond, "MTU", slave, &err);
	/* A bondd that died between two MAC addresses may have left it down. */
	if (before->flags & XBOND_SLAVE_WAS_UP && !(now.flags & IFF_UP) &&
	    link_set_flags(nl, ifindex, IFF_UP, IFF_UP, &err))
		slave_warn_restore(bond, "state", slave, &err);
}

static bool slave_made_clsact(struct bond *bond, unsigned int slot)
{
	const struct xbond_slave *slave = bond_slave(bond, slot);
	bool is_known = slave->before.flags & XBOND_SLAVE_CLSACT_KNOWN;

	if (slave->before.flags & XBOND_SLAVE_HAD_CLSACT)
		return false;
	return is_known || (slave->state != XBOND_SLOT_ENSLAVING &&
			    slave_rx_hook(bond, slot) == XBOND_HOOK_CLSACT);
}

static void slave_first_error(int *r, int next)
{
	if (!*r)
		*r = next;
}

static int slave_detach(struct bond *bond, unsigned int slot)
{
	struct attach_point point = slave_rx_now(bond, slot);
	struct nl *nl = &bond->daemon->nl;
	int r = xdp_release_slave(bond, slot);

	slave_rx_drop_backlog_skip(bond, slot);
	rx_place_remove(bond, slot);
	slave_first_error(&r, attach_remove(nl, &point, true));
	if (slave_made_clsact(bond, slot))
		attach_remove_clsact(nl, (int)bond_slave(bond, slot)->ifindex);
	return r;
}

static void slave_restore_values(struct bond *bond, unsigned int slot, const char *name)
{
	struct xbond_slave *slave = bond_slave(bond, slot);

	slave_multicast_leave(bond, slot);
	if (slave->before.flags & XBOND_SLAVE_JOINED_SLOW)
		multicast_delete((int)slave->ifindex, multicast_slow_protocols);
	if (!mac_is_zero(slave->filter_mac))
		link_del_unicast(&bond->daemon->nl, (int)slave->ifindex, slave->filter_mac, NULL);
	vlan_filter_restore(bond, slot, name);
	lro_restore(bond, slot, name);
	mac_swap_leave(bond, slot);
	slave_restore_link(bond, slave);
	if (slave->before.disable_ipv6 == 0)
		ipv6_set_disabled(name, 0);
}

/*
 * Everything, as far as it can be; -errno: a program goes on. Then only that is tried again: the
 * device belongs to the user.
 */
static int slave_restore(struct bond *bond, unsigned int slot, const char *name)
{
	bool is_first = !bond->members[slot].is_restored;
	int r;

	if (is_first)
		slave_team_leave(bond, slot);
	r = slave_detach(bond, slot);
	crashpoint("release-detached");
	idle_turn();
	if (is_first)
		slave_restore_values(bond, slot, name);
	bond->members[slot].is_restored = true;
	return r;
}

void slave_forget(struct bond *bond, unsigned int slot)
{
	struct attach_point point = slave_rx_point(bond, slot, bond_pin(bond)->hook);
	struct xbond_settings *settings = bond->dataplane.pins.settings;

	if (point.hook == XBOND_HOOK_TCX)
		attach_remove(&bond->daemon->nl, &point, true);
	slave_hooks_end(bond, slot);
	/* Any device that has its name now. */
	bond_slave(bond, slot)->before.flags &=
		~(__u32)(XBOND_SLAVE_HAD_VLAN_STRIP | XBOND_SLAVE_HAD_LRO);
	xdp_release_slave(bond, slot);
	if (bond_slave(bond, slot)->state != XBOND_SLOT_ENSLAVING)
		dataplane_retire_counters(&bond->dataplane, slot);
	slave_multicast_forget(bond, slot);
	dataplane_set_slot(&bond->dataplane, slot, 0);
	attach_check_forget(bond, slot);
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
	const struct xbond_slave *slave;
	int ifindex;
	bool clear_xdp;
};

/* Under the name it has there. */
static int slave_restore_features(struct nl *nl, const struct moved *moved)
{
	uint32_t had = moved->slave->before.flags;
	struct ethtool ethtool;
	struct link_info link;
	int r = link_get(nl, -1, moved->ifindex, &link);

	if (!r)
		r = ethtool_init(&ethtool);
	if (r)
		return r;
	if (had & XBOND_SLAVE_HAD_VLAN_FILTER)
		r = feature_set(&ethtool, link.name, FEATURE_VLAN_FILTER, true);
	if (had & XBOND_SLAVE_HAD_VLAN_STRIP)
		slave_first_error(&r, feature_set(&ethtool, link.name, FEATURE_VLAN_STRIP, true));
	if (had & LRO_REASONS)
		slave_first_error(&r, feature_set(&ethtool, link.name, FEATURE_LRO, true));
	ethtool_done(&ethtool);
	return r;
}

/* Restores everything, even if something is refused; reports the first refusal. */
static int slave_restore_moved(struct nl *nl, const void *arg)
{
	const struct moved *moved = arg;
	int r = link_set_flags(nl, moved->ifindex, slave_flags_before(&moved->slave->before),
			       IFF_ALLMULTI | IFF_PROMISC, NULL);

	slave_first_error(&r, link_set_mac(nl, moved->ifindex, moved->slave->before.mac, NULL));
	slave_first_error(&r, link_set_mtu(nl, moved->ifindex, moved->slave->before.mtu, NULL));
	if (moved->clear_xdp)
		slave_first_error(&r, link_clear_xdp(nl, moved->ifindex, NULL));
	slave_first_error(&r, slave_restore_features(nl, moved));
	return r;
}

void slave_restore_moved_away(struct bond *bond, unsigned int slot, const struct link_info *gone)
{
	const struct moved moved = {
		.slave = bond_slave(bond, slot),
		.ifindex = gone->new_ifindex,
		.clear_xdp = xdp_release_moved(bond, slot),
	};
	struct err err;

	vlan_filter_close(bond, slot);
	if (netns_call(&bond->daemon->nl, gone->new_nsid, slave_restore_moved, &moved, &err))
		slave_warn_restore(bond, "state", moved.slave, &err);
}

/* What is not a member is tried again by slave_lost_look(), or by the next bondd. */
static void slave_undo_later(struct bond *bond, unsigned int slot, const char *what, int r)
{
	const char *name = bond_slave(bond, slot)->name;

	if (!bond->members[slot].undo_told)
		event_warning(bond_pin(bond)->name, name,
			      "%s is not released yet: %s: %s; bondd tries it again", name, what,
			      strerror(-r));
	bond->members[slot].undo_told = true;
	bond->due.read = true;
}

void slave_undo(struct bond *bond, unsigned int slot)
{
	struct link_info link;
	int r = slave_find_device(bond, slot, &link);

	if (r && r != -ENODEV) {
		slave_undo_later(bond, slot, "the kernel does not say whether it is there", r);
		return;
	}
	if (r)
		vlan_filter_close(bond, slot);
	r = r ? 0 : slave_restore(bond, slot, link.name);
	if (r)
		slave_undo_later(bond, slot, "its receive program cannot be detached", r);
	else
		slave_forget(bond, slot);
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
