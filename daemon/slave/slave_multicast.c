/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/slave/slave.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/slots.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/pins.h"
#include "daemon/base/crashpoint.h"
#include "daemon/base/event.h"
#include "network/link.h"
#include "network/mac_lists.h"

#define TURN_NS (10 * NS_PER_MS) /* longer changes go on in the next turn, */
#define TURN_LEAST 32		 /* but changes of this many groups are never put off */

struct slave_multicast *slave_multicast_of(const struct bond *bond)
{
	return part_of_bond(bond, &groups_part);
}

/*
 * The pinned map: for each group, the slots whose lists have it because of bondd. No program reads
 * it.
 */

static bool slave_multicast_pin_has_shape(int fd)
{
	struct bpf_map_info info = {};
	uint32_t length = sizeof(info);

	return !bpf_obj_get_info_by_fd(fd, &info, &length) && info.type == BPF_MAP_TYPE_HASH &&
	       info.key_size == sizeof(struct xbond_group) && info.value_size == sizeof(uint64_t);
}

static int slave_multicast_pin_open(const char *dir)
{
	int fd = pin_open(dir, XBOND_PIN_GROUPS);

	if (fd < 0 || slave_multicast_pin_has_shape(fd))
		return fd;
	close(fd);
	return -EBADMSG;
}

/* Most bonds have few groups, so memory is taken as they come. */
static int slave_multicast_pin_make(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_NO_PREALLOC);

	return bpf_map_create(BPF_MAP_TYPE_HASH, XBOND_PIN_GROUPS, sizeof(struct xbond_group),
			      sizeof(uint64_t), XBOND_MAX_GROUPS, &options);
}

static int slave_multicast_pin_publish(int fd, const char *dir)
{
	char path[PIN_PATH_SIZE];

	return bpf_obj_pin(fd, pin_path(path, dir, XBOND_PIN_GROUPS));
}

static int slave_multicast_pin_write(int fd, const uint8_t mac[XBOND_MAC_SIZE], uint64_t slots)
{
	struct xbond_group key = { 0 };

	memcpy(key.mac, mac, XBOND_MAC_SIZE);
	return slots ? bpf_map_update_elem(fd, &key, &slots, BPF_ANY)
		     : bpf_map_delete_elem(fd, &key);
}

static void slave_multicast_pin_read(int fd,
				     void (*visit)(const uint8_t *mac, uint64_t slots, void *arg),
				     void *arg)
{
	struct xbond_group key, *before = NULL;
	uint64_t slots;

	while (!bpf_map_get_next_key(fd, before, &key)) {
		if (!bpf_map_lookup_elem(fd, &key, &slots))
			visit(key.mac, slots, arg);
		before = &key;
	}
}

/* Returns false if more slots cannot be recorded, so they must not join. */
static bool slave_multicast_record(struct bond *bond, struct multicast_group *group, uint64_t slots)
{
	bool fewer = !(slots & ~group->joined);
	int r = slots == group->joined ? 0
				       : slave_multicast_pin_write(slave_multicast_of(bond)->pin_fd,
								   group->mac, slots);

	if (r && !fewer && !slave_multicast_of(bond)->full) {
		event_warning(bond_pin(bond)->name, NULL,
			      "its slaves do not join all of its multicast groups, because no "
			      "more can be recorded (%s); they still have allmulti",
			      strerror(-r));
		slave_multicast_of(bond)->full = true;
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
	struct slave_multicast *groups = slave_multicast_of(bond);
	uint64_t missing = slots & groups->seen & ~group->there & ~groups->refusing, failed = 0;
	uint64_t before = group->joined;

	if (!missing || !slave_multicast_record(bond, group, group->joined | missing))
		return;
	crashpoint("group-recorded");
	slots_for_each (missing, slot) {
		int r = slave_multicast_put(bond, slot, group->mac);

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

	slots_for_each (group->joined &slots, slot) {
		int r = slave_multicast_take_off(bond, slot, group->mac);

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

static void slave_multicast_recall(const uint8_t *mac, uint64_t slots, void *arg)
{
	multicast_look_append(arg, mac)->joined = slots;
}

static int slave_multicast_make(const char *dir)
{
	int fd = slave_multicast_pin_make(), r = fd < 0 ? fd : slave_multicast_pin_publish(fd, dir);

	if (r < 0 && fd >= 0)
		close(fd);
	return r < 0 ? r : fd;
}

void slave_multicast_open(struct bond *bond)
{
	struct slave_multicast *groups = slave_multicast_of(bond);
	const char *dir = bond->dataplane.pins.dir;
	int fd = slave_multicast_pin_open(dir);

	if (fd == -ENOENT)
		fd = slave_multicast_make(dir);
	groups->is_recorded = fd >= 0;
	if (fd < 0 && !groups->told)
		event_warning(bond_pin(bond)->name, NULL,
			      "its slaves do not join its multicast groups: they cannot be "
			      "recorded: %s",
			      strerror(-fd));
	groups->told = fd < 0;
	if (fd < 0)
		return;
	groups->pin_fd = fd;
	slave_multicast_pin_read(fd, slave_multicast_recall, groups);
	multicast_look_fold(groups);
}

static void slave_multicast_settle_bond(struct bond *bond, uint64_t slots, bool may_leave)
{
	uint64_t until_ns = clock_now_ns() + TURN_NS;
	struct slave_multicast *groups = slave_multicast_of(bond);
	size_t kept = 0;

	if (!groups->is_recorded)
		slave_multicast_open(bond);
	if (!groups->is_recorded)
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
	if (!count || multicast_look_at(daemon->bonds, count))
		return;
	for (struct bond *bond = daemon->bonds; bond; bond = bond->next)
		slave_multicast_settle_bond(bond, bond_members(bond), true);
}

void slave_multicast_join(struct bond *bond, uint64_t slots)
{
	slave_multicast_of(bond)->unicast_ns = 0;
	if (slots && !multicast_look_at(bond, 1))
		slave_multicast_settle_bond(bond, slots, false);
}

void slave_multicast_settle_soon(struct bond *bond)
{
	slave_multicast_of(bond)->unicast_ns = 0;
	sd_event_source_set_enabled(bond->daemon->groups, SD_EVENT_ONESHOT);
}

static int groups_enslave(struct bond *bond, unsigned int slot, struct err *err)
{
	slave_multicast_join(bond, slots_bit(slot));
	return 0;
}

/* A device that moves loses its lists. */
static int groups_restore(struct bond *bond, unsigned int slot, const struct place *place,
			  struct err *err)
{
	int result = 0;

	for (size_t i = 0; i < slave_multicast_of(bond)->count && !place->away; i++) {
		int r = slave_multicast_leave_group(bond, &slave_multicast_of(bond)->group[i],
						    slots_bit(slot));

		result = r ? r : result;
	}
	return result ? err_set(err, -result, "%s", strerror(-result)) : 0;
}

static void groups_forget(struct bond *bond, unsigned int slot)
{
	for (size_t i = 0; i < slave_multicast_of(bond)->count; i++)
		slave_multicast_record(bond, &slave_multicast_of(bond)->group[i],
				       slave_multicast_of(bond)->group[i].joined &
					       ~slots_bit(slot));
	slave_multicast_of(bond)->refusing &= ~slots_bit(slot);
}

static void groups_free(struct bond *bond)
{
	if (slave_multicast_of(bond)->is_recorded)
		close(slave_multicast_of(bond)->pin_fd);
	free(slave_multicast_of(bond)->group);
}

/* When another slave is active, others are to have the groups of the ARP monitor's targets. */
static void groups_decided(struct bond *bond, bool has_new_active)
{
	const struct xbond_bond *pin = bond_pin(bond);

	if (has_new_active && pin->arp_interval_ms && pin->arp_validate && pin->ns_ip6_target[0][0])
		sd_event_source_set_enabled(bond->daemon->groups, SD_EVENT_ONESHOT);
}

struct part groups_part = {
	.bond_size = sizeof(struct slave_multicast),
	.restores = XBOND_RESTORED_GROUPS,
	.enslave = groups_enslave,
	.restore = groups_restore,
	.forget = groups_forget,
	.decided = groups_decided,
	.free = groups_free,
};
