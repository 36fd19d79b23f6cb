/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A slave from its record to the end: enslaved, heard of, released, lost. */
#include "daemon/slave/slave.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>

#include "bpf/slots.h"
#include "common/clock.h"
#include "common/mac.h"
#include "daemon/base/crashpoint.h"
#include "daemon/base/event.h"
#include "daemon/base/worker.h"
#include "daemon/bond/attach_check.h"
#include "daemon/bond/awaited.h"
#include "daemon/bond/daemon.h"
#include "daemon/bond/evaluate.h"
#include "daemon/monitor/monitor.h"
#include "daemon/slave/slave_rx.h"
#include "network/ip.h"

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
	ethtool_speed(&bond->daemon->ethtool, slave->name, &slave->speed_mbps, &slave->duplex);
	carrier = ethtool_carrier(&bond->daemon->ethtool, slave->name);
	verdict_begin(bond, slot);
	quality_begin(bond, slot);
	verdict_set(bond, slot, XBOND_MONITOR_CARRIER, carrier > 0);
	bond->members[slot].since_ns = clock_now_ns();
	return 0;
}

bool slave_has_addresses(struct bond *bond, unsigned int slot)
{
	struct address first;

	return address_list(&bond->daemon->nl, (int)bond_slave(bond, slot)->ifindex, &first, 1) > 0;
}

void slave_keep_used(struct bond *bond, unsigned int slot)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	struct link_info now;

	if (!link_get(&bond->daemon->nl, -1, (int)slave->ifindex, &now) && now.flags & IFF_UP &&
	    (now.master || slave_has_addresses(bond, slot)))
		slave->before.flags |= XBOND_SLAVE_WAS_UP;
}

void slave_adopt(struct bond *bond, unsigned int slot, const struct link_info *link)
{
	struct xbond_slave *slave = bond_slave(bond, slot);

	slave_mac_finish(bond, slot);
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
	__atomic_and_fetch(&settings->drain_mask, ~slots_bit(slot), __ATOMIC_RELAXED);
	settings->weight[slot] = 0;
	memset(bond_slave(bond, slot), 0, sizeof(struct xbond_slave));
	verdict_begin(bond, slot);
	quality_begin(bond, slot);
	bond->members[slot] = (struct member){ 0 };
}

static bool slave_is_known_as(const struct xbond_slave *slave, const struct link_info *link)
{
	if (link->has_perm_mac && mac_is_same(link->perm_mac, slave->perm_mac))
		return true;
	return !strcmp(link->name, slave->name) || mac_is_same(link->mac, slave->mac) ||
	       mac_is_same(link->mac, slave->before.mac);
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

/* It keeps its record, and is tried again by slave_undo_left(), or by the next bondd. */
static int slave_undo_later(struct bond *bond, unsigned int slot, int r, const char *why)
{
	struct member *member = &bond->members[slot];
	const char *name = bond_slave(bond, slot)->name;

	if (!member->release.pause_ns)
		event_warning(bond_pin(bond)->name, name,
			      "%s is not released yet: %s; bondd tries it again", name, why);
	retry_later(&member->release);
	return r;
}

static int slave_undo_device(struct bond *bond, unsigned int slot, struct err *err)
{
	struct link_info link;
	struct place place = { &bond->daemon->nl, &bond->daemon->ethtool,
			       (int)bond_slave(bond, slot)->ifindex, link.name, false };
	int r;

	pins_keep(bond); /* a link is found by its pin, and goes on without it */
	r = slave_find_device(bond, slot, &link);
	if (r)
		return err_set(err, -r, "the kernel does not say whether it is there: %s",
			       strerror(-r));
	r = parts_restore(bond, slot, &place, err);
	return r && slave_find_device(bond, slot, &link) == -ENODEV ? -ENODEV : r;
}

/* Moved to another namespace: restores there what moved along, or here if it is back by now. */
static void slave_restore_moved_away(struct bond *bond, unsigned int slot,
				     const struct link_info *gone)
{
	const struct moved moved = { bond, slot, gone->new_ifindex };
	struct link_info now;
	struct err err;
	int r;

	crashpoint("slave-moved");
	r = netns_call(&bond->daemon->nl, gone->new_nsid, slave_restore_moved, &moved, &err);
	if (r && !slave_find_device(bond, slot, &now))
		r = slave_undo_device(bond, slot, &err);
	if (r)
		event_warning(bond_pin(bond)->name, bond_slave(bond, slot)->name,
			      "cannot restore the state of %s: %s", bond_slave(bond, slot)->name,
			      err.text);
}

static void slave_lost_tell_mac(struct bond *bond, unsigned int slot)
{
	const struct xbond_slave *slave = bond_slave(bond, slot);
	char now[MAC_FORMAT_SIZE], own[MAC_FORMAT_SIZE];

	if (mac_is_zero(slave->mac) || mac_is_same(slave->mac, slave->before.mac))
		return;
	event_notice(bond_pin(bond)->name, slave->name,
		     "if %s was moved to another namespace, it has MAC address %s there; its own "
		     "was %s",
		     slave->name, mac_format(slave->mac, now), mac_format(slave->before.mac, own));
}

struct search {
	struct bond *bond;
	unsigned int slot;
	uint32_t program_id; /* of ours on it */
	int r;
};

/* A device without an address of its own, such as a veth, is known by our program. */
static bool slave_is_there(const struct search *search, const struct link_info *link)
{
	const struct xbond_slave *slave = bond_slave(search->bond, search->slot);
	struct attach_point point = slave_rx_now(search->bond, search->slot);

	point.ifindex = link->ifindex;
	if (!slave_is_known_as(slave, link))
		return false;
	if (link->has_perm_mac && !mac_is_zero(slave->perm_mac))
		return mac_is_same(link->perm_mac, slave->perm_mac);
	return search->program_id &&
	       (link->xdp_id == search->program_id || attach_has(&point, search->program_id));
}

static void slave_look_there(int home_fd, void *arg)
{
	struct search *search = arg;
	struct link_list links;
	struct nl nl;

	if (search->r != -ENODEV || nl_init(&nl))
		return;
	if (link_list_read(&nl, &links))
		links.count = 0;
	for (size_t i = 0; i < links.count && search->r == -ENODEV; i++) {
		const struct moved moved = { search->bond, search->slot, links.link[i].ifindex };

		if (slave_is_there(search, &links.link[i]))
			search->r = slave_restore_moved(&nl, &moved);
	}
	link_list_free(&links);
	nl_done(&nl);
}

static int slave_look_everywhere(const void *arg)
{
	struct search search = *(const struct search *)arg;

	namespaces_visit(slave_look_there, &search);
	return search.r;
}

void slave_restore_anywhere(struct bond *bond, unsigned int slot)
{
	const struct attach_point point = slave_rx_now(bond, slot);
	const struct search search = { bond, slot, attach_linked_program(&point), -ENODEV };

	if (child_run(slave_look_everywhere, &search, -1))
		slave_lost_tell_mac(bond, slot);
	else
		event_notice(bond_pin(bond)->name, bond_slave(bond, slot)->name,
			     "%s is in another namespace, and as before there",
			     bond_slave(bond, slot)->name);
}

/* It is not here. The message that says where it was moved may not be read yet. */
static void slave_undo_moved(struct bond *bond, unsigned int slot)
{
	struct daemon *daemon = bond->daemon;
	struct link_info gone;

	if (!rtnl_listener_find_gone(&daemon->listener, (int)bond_slave(bond, slot)->ifindex,
				     &gone))
		slave_restore_anywhere(bond, slot);
	else if (gone.new_nsid >= 0)
		slave_restore_moved_away(bond, slot, &gone);
	daemon_read_kept(daemon);
}

int slave_undo(struct bond *bond, unsigned int slot)
{
	const struct member *member = &bond->members[slot];
	struct xbond_slave *slave = bond_slave(bond, slot);
	struct err err;
	int r = slave_undo_device(bond, slot, &err);

	if (r == -ENODEV)
		slave_undo_moved(bond, slot);
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
		if (slots_have(mask, slot))
			__atomic_store_n(&bond_slave(bond, slot)->state, XBOND_SLOT_RELEASING,
					 __ATOMIC_RELEASE);
	bond_evaluate(bond);
	dataplane_quiesce();
	bond->dataplane.settled = true;
	mac_swap_settle(bond);
	slots_for_each (mask, slot)
		if (bond_slave(bond, slot)->state != XBOND_SLOT_FREE)
			slave_undo(bond, slot);
}

static void slave_take_name(struct bond *bond, struct xbond_slave *slave, const char *name)
{
	struct xbond_bond *pin = bond_pin(bond);

	if (!strcmp(slave->name, name))
		return;
	event_notice(pin->name, slave->name, "slave %s is now called %s", slave->name, name);
	if (!strcmp(pin->primary, slave->name))
		memcpy(pin->primary, name, XBOND_NAME_SIZE);
	memcpy(slave->name, name, XBOND_NAME_SIZE);
}

void slave_hear(struct bond *bond, unsigned int slot, const struct link_info *link)
{
	carrier_message_take(bond, slot, link);
	bond_slave(bond, slot)->carrier_changes = link->carrier_changes;
	slave_take_name(bond, bond_slave(bond, slot), link->name);
	poll_want_speed(bond, slot);
	poll_soon(bond);
}

static void slave_lost_tell(struct bond *bond, unsigned int slot, bool moved)
{
	const char *slave = bond_slave(bond, slot)->name;

	event_tell(
		&(const struct event){ .kind = EVENT_DEVICE,
				       .priority = LOG_NOTICE,
				       .bond = bond_pin(bond)->name,
				       .slave = slave,
				       .field = { event_text("state", moved ? "moved" : "gone") } },
		"slave %s %s", slave, moved ? "was moved to another namespace" : "has gone");
}

void slave_lost(struct bond *bond, unsigned int slot, const struct link_info *gone)
{
	bool moved = gone && gone->new_nsid >= 0;

	bond_slave(bond, slot)->state = XBOND_SLOT_RELEASING;
	bond_evaluate(bond);
	slave_lost_tell(bond, slot, moved);
	if (moved) {
		mac_swap_move_away(bond, slot);
		slave_restore_moved_away(bond, slot, gone);
	} else if (!gone) { /* it is not known whether it was moved */
		slave_restore_anywhere(bond, slot);
	}
	awaited_slave_lost(bond, slot);
	slave_forget(bond, slot);
}

bool slave_has_left(struct bond *bond, unsigned int slot, const struct link_info *link)
{
	const struct xbond_bond *pin = bond_pin(bond);
	struct link_info now;

	/* The message may be old, so the present state counts. */
	if (!bond_is_team(pin) || link->master == (int)pin->ifindex ||
	    link_get(&bond->daemon->nl, -1, link->ifindex, &now))
		return false;
	if (now.master == (int)pin->ifindex) {
		slave_team_keep_port(bond, slot);
		return false;
	}
	event_config("del-slave", pin->name, bond_slave(bond, slot)->name,
		     "somebody has taken %s out of %s; it is released",
		     bond_slave(bond, slot)->name, pin->name);
	slave_release(bond, slots_bit(slot));
	return true;
}

bool slave_was_away(struct bond *bond, unsigned int slot)
{
	return !dataplane_has_device(&bond->dataplane, slot);
}

/* IPv6 is off before it is up: it would give itself an address, which would then stay. */
void slave_has_returned(struct bond *bond, unsigned int slot, const struct link_info *now)
{
	const struct xbond_bond *pin = bond_pin(bond);
	const char *name = bond_slave(bond, slot)->name;
	struct err err;

	event_notice(pin->name, name, "slave %s was gone for a moment, and is back", name);
	dataplane_set_device(&bond->dataplane, slot, now->ifindex);
	bond->due.read = true;
	if (bond_is_team(pin))
		return;
	if (!slave_has_addresses(bond, slot))
		ipv6_set_disabled(now->name, 1);
	if (link_set_flags(&bond->daemon->nl, now->ifindex, IFF_UP, IFF_UP, &err))
		event_warning(pin->name, name, "cannot bring %s up again: %s", name, err.text);
}

static void slave_lost_look_at(struct bond *bond, unsigned int slot)
{
	bool *is_unseen = &bond->members[slot].is_unseen, was_away = slave_was_away(bond, slot);
	struct link_info link;
	int r = slave_find_device(bond, slot, &link);

	if (r)
		bond->due.read = true;
	if (r == -ENODEV)
		slave_lost(bond, slot, NULL);
	if (r || slave_has_left(bond, slot, &link))
		return;
	dataplane_set_device(&bond->dataplane, slot, link.ifindex);
	if (*is_unseen)
		slave_adopt(bond, slot, &link);
	*is_unseen = false;
	if (was_away)
		slave_has_returned(bond, slot, &link);
	slave_hear(bond, slot, &link);
}

void slave_lost_look(struct bond *bond)
{
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (bond_is_member(bond, slot))
			slave_lost_look_at(bond, slot);
		else if (bond_slave(bond, slot)->state != XBOND_SLOT_FREE)
			slave_undo(bond, slot);
}
