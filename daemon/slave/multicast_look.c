/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What bond0's lists and those of its slaves have, for slave_multicast.c. */
#include "daemon/slave/slave.h"

#include <stdlib.h>
#include <string.h>

#include "bpf/slots.h"
#include "common/clock.h"
#include "common/mac.h"
#include "common/memory.h"
#include "common/mode.h"
#include "daemon/bond/daemon.h"
#include "network/mac_lists.h"

#define UNICAST_NS (2 * NS_PER_S)

/* A device whose list is of interest. */
struct owner {
	int ifindex;
	struct bond *bond;
	uint64_t slot; /* the bit of its slot; 0: it is bond0 */
};

/* One pass over the kernel's lists, for all bonds or for one. */
struct look {
	struct owner *owners; /* sorted */
	size_t count;
	int ifindex; /* the device whose list is being read */
	const struct owner *owner;
};

/* Appends an entry, unsorted. */
struct multicast_group *multicast_look_append(struct slave_multicast *groups, const uint8_t *mac)
{
	struct multicast_group *more;

	memory_more(groups->group, groups->count);
	more = &groups->group[groups->count++];
	*more = (struct multicast_group){ 0 };
	memcpy(more->mac, mac, XBOND_MAC_SIZE);
	return more;
}

static int multicast_look_by_mac(const void *left, const void *right)
{
	return memcmp(((const struct multicast_group *)left)->mac,
		      ((const struct multicast_group *)right)->mac, XBOND_MAC_SIZE);
}

/* Sorts, and merges entries with the same address. */
void multicast_look_fold(struct slave_multicast *groups)
{
	size_t kept = 0;

	if (groups->count)
		qsort(groups->group, groups->count, sizeof(*groups->group), multicast_look_by_mac);
	for (size_t i = 0; i < groups->count; i++) {
		struct multicast_group *from = &groups->group[i], *to = &groups->group[kept];

		if (!kept || multicast_look_by_mac(from, to - 1)) {
			*to = *from;
			kept++;
			continue;
		}
		to[-1].wanted |= from->wanted;
		to[-1].missed |= from->missed;
		to[-1].joined |= from->joined;
		to[-1].there |= from->there;
	}
	groups->count = kept;
}

/*
 * The slots in use, in any state, and bond0, which has its number in another namespace when it is
 * away.
 */
static void multicast_look_add_owners(struct look *look, struct bond *bond)
{
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (bond_slave(bond, slot)->state != XBOND_SLOT_FREE)
			look->owners[look->count++] = (struct owner){
				.ifindex = (int)bond_slave(bond, slot)->ifindex,
				.bond = bond,
				.slot = slots_bit(slot),
			};
	if (!bond->device.away && bond_pin(bond)->netnsid < 0)
		look->owners[look->count++] =
			(struct owner){ .ifindex = (int)bond_pin(bond)->ifindex, .bond = bond };
}

static int multicast_look_by_ifindex(const void *left, const void *right)
{
	int a = ((const struct owner *)left)->ifindex, b = ((const struct owner *)right)->ifindex;

	return (a > b) - (a < b);
}

static void multicast_look_find_owner(struct look *look, int ifindex)
{
	const struct owner wanted = { .ifindex = ifindex };

	look->ifindex = ifindex;
	look->owner = bsearch(&wanted, look->owners, look->count, sizeof(wanted),
			      multicast_look_by_ifindex);
	if (look->owner)
		slave_multicast_of(look->owner->bond)->seen |= look->owner->slot;
}

/* Slaves have the group of the slow protocols for their own use. */
static void multicast_look_take(const struct multicast_entry *entry, void *arg)
{
	const struct owner *owner;
	struct look *look = arg;
	struct multicast_group *group;

	if (entry->ifindex != look->ifindex)
		multicast_look_find_owner(look, entry->ifindex);
	owner = look->owner;
	if (!owner || (owner->slot && !entry->is_static) ||
	    mac_is_same(entry->mac, multicast_slow_protocols))
		return;
	group = multicast_look_append(slave_multicast_of(owner->bond), entry->mac);
	group->wanted = owner->slot ? 0 : UINT64_MAX;
	group->there = owner->slot;
}

/* With mac_policy filter slaves need bond0's address, also one that a VLAN on it had before. */
static void multicast_look_begin_look(struct look *look, struct bond *bond)
{
	struct slave_multicast *groups = slave_multicast_of(bond);

	multicast_look_add_owners(look, bond);
	groups->seen = 0;
	for (size_t i = 0; i < groups->count; i++) {
		struct multicast_group *group = &groups->group[i];

		group->wanted = mac_is_same(group->mac, bond_pin(bond)->mac) ? group->joined : 0;
		group->there = 0;
	}
}

static bool multicast_look_has_unicast(const struct slave_multicast *groups)
{
	for (size_t i = 0; i < groups->count; i++)
		if (groups->group[i].joined && !(groups->group[i].mac[0] & 1))
			return true;
	return false;
}

static void multicast_look_take_unicast(const uint8_t *mac, void *arg)
{
	const struct owner *owner = arg;
	struct multicast_group *group = multicast_look_append(slave_multicast_of(owner->bond), mac);

	group->wanted = owner->slot ? 0 : UINT64_MAX;
	group->there = owner->slot;
}

static void multicast_look_list_unicast(struct owner owner)
{
	unicast_visit(&owner.bond->daemon->nl, owner.ifindex, multicast_look_take_unicast, &owner);
}

/*
 * A device on bond0 with an address of its own makes it promiscuous. (The kernel itself keeps the
 * lists of team's ports.)
 */
static bool multicast_look_wants_unicast(struct bond *bond, bool recorded)
{
	return !bond_is_team(bond_pin(bond)) && (bond->device.promisc || recorded) &&
	       clock_now_ns() >= slave_multicast_of(bond)->unicast_ns;
}

/* Not at every check: reading these lists takes RTNL. */
static void multicast_look_for_unicast(struct bond *bond)
{
	bool recorded = multicast_look_has_unicast(slave_multicast_of(bond));
	size_t count = slave_multicast_of(bond)->count;

	slave_multicast_of(bond)->unicast_read = multicast_look_wants_unicast(bond, recorded);
	if (!slave_multicast_of(bond)->unicast_read)
		return;
	slave_multicast_of(bond)->unicast_ns = clock_now_ns() + UNICAST_NS;
	if (!bond->device.away && bond_pin(bond)->netnsid < 0)
		multicast_look_list_unicast((struct owner){
			.ifindex = (int)bond_pin(bond)->ifindex,
			.bond = bond,
		});
	if (slave_multicast_of(bond)->count == count && !recorded)
		return;
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (bond_slave(bond, slot)->state != XBOND_SLOT_FREE)
			multicast_look_list_unicast((struct owner){
				.ifindex = (int)bond_slave(bond, slot)->ifindex,
				.bond = bond,
				.slot = slots_bit(slot),
			});
}

/*
 * Validated backups must hear the neighbour solicitations that the active slave sends: the ARP
 * monitor. The kernel's driver has these groups on the same slaves.
 */
static uint64_t multicast_look_probed(struct bond *bond)
{
	const struct xbond_bond *pin = bond_pin(bond);

	if (!pin->arp_interval_ms || !pin->arp_validate || !mode_has(pin->mode, MODE_ALONE))
		return 0;
	return bond_members(bond) & ~slots_bit(pin->active_slot);
}

static void multicast_look_take_probed(struct bond *bond)
{
	uint64_t slots = multicast_look_probed(bond);

	for (unsigned int i = 0; i < XBOND_MAX_TARGETS && slots; i++) {
		const uint8_t *target = bond_pin(bond)->ns_ip6_target[i];
		const uint8_t mac[] = { 0x33, 0x33, 0xff, target[13], target[14], target[15] };

		if (!target[0])
			return;
		multicast_look_append(slave_multicast_of(bond), mac)->wanted = slots;
	}
}

/* Handles count groups, beginning at first. Returns 0 or -errno. */
int multicast_look_at(struct bond *first, size_t count)
{
	struct look look = { .owners = memory_need(calloc(count * (XBOND_MAX_SLAVES + 1),
							  sizeof(struct owner))) };
	struct bond *bond = first;
	int r;

	for (size_t i = 0; i < count; i++, bond = bond->next)
		multicast_look_begin_look(&look, bond);
	qsort(look.owners, look.count, sizeof(*look.owners), multicast_look_by_ifindex);
	r = multicast_list(multicast_look_take, &look);
	bond = first;
	for (size_t i = 0; i < count; i++, bond = bond->next) {
		multicast_look_for_unicast(bond);
		multicast_look_take_probed(bond);
		multicast_look_fold(slave_multicast_of(bond));
	}
	free(look.owners);
	return r;
}
