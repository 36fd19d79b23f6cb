/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/slave/slave.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/memory.h"
#include "common/mode.h"
#include "common/slots.h"
#include "daemon/base/crashpoint.h"
#include "daemon/base/event.h"
#include "daemon/slave/slave_multicast_pin.h"
#include "daemon/slave/slave_parts.h"
#include "network/link.h"
#include "network/mac_lists.h"

#define TURN_NS (10 * NS_PER_MS) /* longer changes go on in the next turn, */
#define TURN_LEAST 32		 /* but changes of this many groups are never put off */
#define UNICAST_NS (2 * NS_PER_S)

struct multicast_group {
	uint8_t mac[XBOND_MAC_SIZE];
	uint64_t wanted; /* slots that are to have it, at this check; all if bond0 listens to it */
	bool missed;	 /* at the last check bond0 did not listen to it */
	/* Slots whose lists have it because of bondd; the pinned map has the same. */
	uint64_t joined;
	uint64_t there; /* slots whose lists have it, at this check */
};

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
static struct multicast_group *slave_multicast_append(struct slave_multicast *groups,
						      const uint8_t *mac)
{
	struct multicast_group *more;

	if (groups->count == groups->room) {
		groups->room = 2 * groups->room + 16;
		groups->group =
			memory_need(reallocarray(groups->group, groups->room, sizeof(*more)));
	}
	more = &groups->group[groups->count++];
	*more = (struct multicast_group){ 0 };
	memcpy(more->mac, mac, XBOND_MAC_SIZE);
	return more;
}

static int slave_multicast_by_mac(const void *left, const void *right)
{
	return memcmp(((const struct multicast_group *)left)->mac,
		      ((const struct multicast_group *)right)->mac, XBOND_MAC_SIZE);
}

/* Sorts, and merges entries with the same address. */
static void slave_multicast_fold(struct slave_multicast *groups)
{
	size_t kept = 0;

	if (groups->count)
		qsort(groups->group, groups->count, sizeof(*groups->group), slave_multicast_by_mac);
	for (size_t i = 0; i < groups->count; i++) {
		struct multicast_group *from = &groups->group[i], *to = &groups->group[kept];

		if (!kept || slave_multicast_by_mac(from, to - 1)) {
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
static void slave_multicast_add_owners(struct look *look, struct bond *bond)
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

static int slave_multicast_by_ifindex(const void *left, const void *right)
{
	int a = ((const struct owner *)left)->ifindex, b = ((const struct owner *)right)->ifindex;

	return (a > b) - (a < b);
}

static void slave_multicast_find_owner(struct look *look, int ifindex)
{
	const struct owner wanted = { .ifindex = ifindex };

	look->ifindex = ifindex;
	look->owner = bsearch(&wanted, look->owners, look->count, sizeof(wanted),
			      slave_multicast_by_ifindex);
	if (look->owner)
		look->owner->bond->multicast.seen |= look->owner->slot;
}

/* Slaves have the group of the slow protocols for their own use. */
static void slave_multicast_take(const struct multicast_entry *entry, void *arg)
{
	const struct owner *owner;
	struct look *look = arg;
	struct multicast_group *group;

	if (entry->ifindex != look->ifindex)
		slave_multicast_find_owner(look, entry->ifindex);
	owner = look->owner;
	if (!owner || (owner->slot && !entry->is_static) ||
	    !memcmp(entry->mac, multicast_slow_protocols, XBOND_MAC_SIZE))
		return;
	group = slave_multicast_append(&owner->bond->multicast, entry->mac);
	group->wanted = owner->slot ? 0 : UINT64_MAX;
	group->there = owner->slot;
}

/* With mac_policy filter slaves need bond0's address, also one that a VLAN on it had before. */
static void slave_multicast_begin_look(struct look *look, struct bond *bond)
{
	struct slave_multicast *groups = &bond->multicast;

	slave_multicast_add_owners(look, bond);
	groups->seen = 0;
	for (size_t i = 0; i < groups->count; i++) {
		struct multicast_group *group = &groups->group[i];

		group->wanted =
			memcmp(group->mac, bond_pin(bond)->mac, XBOND_MAC_SIZE) ? 0 : group->joined;
		group->there = 0;
	}
}

static bool slave_multicast_has_unicast(const struct slave_multicast *groups)
{
	for (size_t i = 0; i < groups->count; i++)
		if (groups->group[i].joined && !(groups->group[i].mac[0] & 1))
			return true;
	return false;
}

static void slave_multicast_take_unicast(const uint8_t *mac, void *arg)
{
	const struct owner *owner = arg;
	struct multicast_group *group = slave_multicast_append(&owner->bond->multicast, mac);

	group->wanted = owner->slot ? 0 : UINT64_MAX;
	group->there = owner->slot;
}

static void slave_multicast_list_unicast(struct owner owner)
{
	unicast_visit(&owner.bond->daemon->nl, owner.ifindex, slave_multicast_take_unicast, &owner);
}

/*
 * A device on bond0 with an address of its own makes it promiscuous. (The kernel itself keeps the
 * lists of team's ports.)
 */
static bool slave_multicast_wants_unicast(struct bond *bond, bool recorded)
{
	return !bond_is_team(bond_pin(bond)) && (bond->device.promisc || recorded) &&
	       clock_now_ns() >= bond->multicast.unicast_ns;
}

/* Not at every check: reading these lists takes RTNL. */
static void slave_multicast_look_for_unicast(struct bond *bond)
{
	bool recorded = slave_multicast_has_unicast(&bond->multicast);
	size_t count = bond->multicast.count;

	bond->multicast.unicast_read = slave_multicast_wants_unicast(bond, recorded);
	if (!bond->multicast.unicast_read)
		return;
	bond->multicast.unicast_ns = clock_now_ns() + UNICAST_NS;
	if (!bond->device.away && bond_pin(bond)->netnsid < 0)
		slave_multicast_list_unicast((struct owner){
			.ifindex = (int)bond_pin(bond)->ifindex,
			.bond = bond,
		});
	if (bond->multicast.count == count && !recorded)
		return;
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (bond_slave(bond, slot)->state != XBOND_SLOT_FREE)
			slave_multicast_list_unicast((struct owner){
				.ifindex = (int)bond_slave(bond, slot)->ifindex,
				.bond = bond,
				.slot = slots_bit(slot),
			});
}

static uint64_t slave_multicast_members(struct bond *bond)
{
	uint64_t slots = 0;

	bond_for_each_member (bond, slot)
		slots |= slots_bit(slot);
	return slots;
}

/*
 * Validated backups must hear the neighbour solicitations that the active slave sends: the ARP
 * monitor. The kernel's driver has these groups on the same slaves.
 */
static uint64_t slave_multicast_probed(struct bond *bond)
{
	const struct xbond_bond *pin = bond_pin(bond);

	if (!pin->arp_interval_ms || !pin->arp_validate || !mode_has(pin->mode, MODE_ALONE))
		return 0;
	return slave_multicast_members(bond) & ~slots_bit(pin->active_slot);
}

static void slave_multicast_take_probed(struct bond *bond)
{
	uint64_t slots = slave_multicast_probed(bond);

	for (unsigned int i = 0; i < XBOND_MAX_TARGETS && slots; i++) {
		const uint8_t *target = bond_pin(bond)->ns_ip6_target[i];
		const uint8_t mac[] = { 0x33, 0x33, 0xff, target[13], target[14], target[15] };

		if (!target[0])
			return;
		slave_multicast_append(&bond->multicast, mac)->wanted = slots;
	}
}

/* Handles count groups, beginning at first. Returns 0 or -errno. */
static int slave_multicast_look_at(struct bond *first, size_t count)
{
	struct look look = { .owners = memory_need(calloc(count * (XBOND_MAX_SLAVES + 1),
							  sizeof(struct owner))) };
	struct bond *bond = first;
	int r;

	for (size_t i = 0; i < count; i++, bond = bond->next)
		slave_multicast_begin_look(&look, bond);
	qsort(look.owners, look.count, sizeof(*look.owners), slave_multicast_by_ifindex);
	r = multicast_list(slave_multicast_take, &look);
	bond = first;
	for (size_t i = 0; i < count; i++, bond = bond->next) {
		slave_multicast_look_for_unicast(bond);
		slave_multicast_take_probed(bond);
		slave_multicast_fold(&bond->multicast);
	}
	free(look.owners);
	return r;
}

/* Returns false if more slots cannot be recorded, so they must not join. */
static bool slave_multicast_record(struct bond *bond, struct multicast_group *group, uint64_t slots)
{
	bool fewer = !(slots & ~group->joined);
	int r = slots == group->joined
			? 0
			: slave_multicast_pin_write(bond->multicast.pin_fd, group->mac, slots);

	if (r && !fewer && !bond->multicast.full) {
		event_warning(bond_pin(bond)->name, NULL,
			      "its slaves do not join all of its multicast groups, because no "
			      "more can be recorded (%s); they still have allmulti",
			      strerror(-r));
		bond->multicast.full = true;
	}
	if (r && !fewer)
		return false;
	group->joined = slots;
	return true;
}

static int slave_multicast_put(struct bond *bond, unsigned int slot, const uint8_t *mac)
{
	int ifindex = (int)bond_slave(bond, slot)->ifindex;

	return mac[0] & 1 ? multicast_add(ifindex, mac)
			  : link_add_unicast(&bond->daemon->nl, ifindex, mac, NULL);
}

/* Somebody may have removed it. */
static int slave_multicast_take_off(struct bond *bond, unsigned int slot, const uint8_t *mac)
{
	int ifindex = (int)bond_slave(bond, slot)->ifindex;
	int r = mac[0] & 1 ? multicast_delete(ifindex, mac)
			   : link_del_unicast(&bond->daemon->nl, ifindex, mac, NULL);

	return r == -ENOENT || r == -ENODEV ? 0 : r;
}

/* Joins on slots whose lists lack the group: new slots, or slots where somebody has removed it. */
static void slave_multicast_join_group(struct bond *bond, struct multicast_group *group,
				       uint64_t slots)
{
	struct slave_multicast *groups = &bond->multicast;
	uint64_t missing = slots & groups->seen & ~group->there & ~groups->refusing, failed = 0;
	uint64_t before = group->joined;

	if (!missing || !slave_multicast_record(bond, group, group->joined | missing))
		return;
	crashpoint("group-recorded");
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		int r = missing & slots_bit(slot) ? slave_multicast_put(bond, slot, group->mac) : 0;

		if (r && (r != -EEXIST || !(before & slots_bit(slot))))
			failed |= slots_bit(slot);
		if (group->mac[0] & 1 && (r == -EINVAL || r == -EOPNOTSUPP))
			groups->refusing |= slots_bit(slot);
	}
	crashpoint("group-joined");
	slave_multicast_record(bond, group, group->joined & ~failed);
}

/* Returns 0 or -errno; those that have not left stay recorded. */
static int slave_multicast_leave_group(struct bond *bond, struct multicast_group *group,
				       uint64_t slots)
{
	int result = 0;

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		int r = group->joined & slots & slots_bit(slot)
				? slave_multicast_take_off(bond, slot, group->mac)
				: 0;

		slots &= r ? ~slots_bit(slot) : UINT64_MAX;
		result = r ? r : result;
	}
	crashpoint("group-left");
	slave_multicast_record(bond, group, group->joined & ~slots);
	return result;
}

/*
 * A group of bond0 is left after it was missed twice: while devices come and go, the kernel's list
 * may skip some.
 */
static void slave_multicast_settle_group(struct bond *bond, struct multicast_group *group,
					 uint64_t slots, bool may_leave)
{
	uint64_t wanted = bond->device.away && group->joined ? UINT64_MAX : group->wanted;
	uint64_t unwanted = group->joined & ~wanted;

	slave_multicast_join_group(bond, group, slots & wanted);
	if (may_leave && unwanted && group->missed)
		slave_multicast_leave_group(bond, group, unwanted);
	if (may_leave || wanted == UINT64_MAX)
		group->missed = wanted != UINT64_MAX;
}

static bool slave_multicast_is_read(const struct slave_multicast *groups,
				    const struct multicast_group *group)
{
	return groups->unicast_read || group->mac[0] & 1;
}

static void slave_multicast_settle_bond(struct bond *bond, uint64_t slots, bool may_leave)
{
	uint64_t until_ns = clock_now_ns() + TURN_NS;
	struct slave_multicast *groups = &bond->multicast;
	size_t kept = 0;

	if (groups->pin_fd < 0)
		slots = 0;
	for (size_t i = 0; i < groups->count; i++) {
		struct multicast_group *group = &groups->group[i];

		if (slave_multicast_is_read(groups, group) &&
		    (i < TURN_LEAST || clock_now_ns() < until_ns))
			slave_multicast_settle_group(bond, group, slots, may_leave);
		if (group->joined)
			groups->group[kept++] = *group;
	}
	groups->count = kept;
}

void slave_multicast_settle(struct daemon *daemon)
{
	size_t count = 0;

	for (struct bond *bond = daemon->bonds; bond; bond = bond->next)
		count++;
	if (!count || slave_multicast_look_at(daemon->bonds, count))
		return;
	for (struct bond *bond = daemon->bonds; bond; bond = bond->next)
		slave_multicast_settle_bond(bond, slave_multicast_members(bond), true);
}

void slave_multicast_join(struct bond *bond, uint64_t slots)
{
	bond->multicast.unicast_ns = 0;
	if (slots && !slave_multicast_look_at(bond, 1))
		slave_multicast_settle_bond(bond, slots, false);
}

void slave_multicast_settle_soon(struct bond *bond)
{
	bond->multicast.unicast_ns = 0;
	sd_event_source_set_enabled(bond->daemon->groups, SD_EVENT_ONESHOT);
}

/* Finds the groups that a bondd without a record has joined. */
static void slave_multicast_guess(struct bond *bond)
{
	struct slave_multicast *groups = &bond->multicast;

	if (slave_multicast_look_at(bond, 1))
		return;
	for (size_t i = 0; i < groups->count; i++)
		if (groups->group[i].wanted == UINT64_MAX)
			slave_multicast_record(bond, &groups->group[i], groups->group[i].there);
}

static void slave_multicast_recall(const uint8_t *mac, uint64_t slots, void *arg)
{
	slave_multicast_append(arg, mac)->joined = slots;
}

/* The pin comes last, because an empty map would say that there is nothing to leave. */
static int slave_multicast_make(struct bond *bond)
{
	int r;

	bond->multicast.pin_fd = slave_multicast_pin_make();
	if (bond->multicast.pin_fd < 0)
		return bond->multicast.pin_fd;
	slave_multicast_guess(bond);
	r = slave_multicast_pin_publish(bond->multicast.pin_fd, bond->dataplane.pins.dir);
	if (r) {
		close(bond->multicast.pin_fd);
		bond->multicast.pin_fd = -1;
	}
	return r;
}

void slave_multicast_open(struct bond *bond)
{
	struct slave_multicast *groups = &bond->multicast;
	int r = slave_multicast_pin_open(bond->dataplane.pins.dir);

	groups->pin_fd = r;
	if (r >= 0) {
		slave_multicast_pin_read(r, slave_multicast_recall, groups);
		slave_multicast_fold(groups);
	} else if (r == -ENOENT) {
		r = slave_multicast_make(bond);
	}
	if (r < 0)
		event_warning(bond_pin(bond)->name, NULL,
			      "its slaves do not join its multicast groups: they cannot be "
			      "recorded: %s",
			      strerror(-r));
}

static int groups_enslave(struct bond *bond, unsigned int slot, struct err *err)
{
	(void)err;
	slave_multicast_join(bond, slots_bit(slot));
	return 0;
}

/* A device that moves loses its lists. */
static int groups_restore(struct bond *bond, unsigned int slot, const struct place *place,
			  struct err *err)
{
	int result = 0;

	for (size_t i = 0; i < bond->multicast.count && !place->away; i++) {
		int r = slave_multicast_leave_group(bond, &bond->multicast.group[i],
						    slots_bit(slot));

		result = r ? r : result;
	}
	return result ? err_set(err, -result, "%s", strerror(-result)) : 0;
}

static void groups_forget(struct bond *bond, unsigned int slot)
{
	for (size_t i = 0; i < bond->multicast.count; i++)
		slave_multicast_record(bond, &bond->multicast.group[i],
				       bond->multicast.group[i].joined & ~slots_bit(slot));
	bond->multicast.refusing &= ~slots_bit(slot);
}

static void groups_free(struct bond *bond)
{
	if (bond->multicast.pin_fd >= 0)
		close(bond->multicast.pin_fd);
	free(bond->multicast.group);
}

/* When another slave is active, others are to have the groups of the ARP monitor's targets. */
static void groups_decided(struct bond *bond, bool has_new_active)
{
	const struct xbond_bond *pin = bond_pin(bond);

	if (has_new_active && pin->arp_interval_ms && pin->arp_validate && pin->ns_ip6_target[0][0])
		sd_event_source_set_enabled(bond->daemon->groups, SD_EVENT_ONESHOT);
}

struct part groups_part = {
	.restores = XBOND_RESTORED_GROUPS,
	.enslave = groups_enslave,
	.restore = groups_restore,
	.forget = groups_forget,
	.decided = groups_decided,
	.free = groups_free,
};
