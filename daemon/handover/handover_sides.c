/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The two sides of a handover: the kernel's bonds and teams, then the bonds of xbond. */
#include <errno.h>
#include <net/if.h>

#include "bpf/slots.h"
#include "common/mac.h"
#include "common/mode.h"
#include "daemon/bond/awaited.h"
#include "daemon/device/device.h"
#include "daemon/handover/handover_plan.h"
#include "daemon/manage/lifecycle.h"
#include "daemon/manage/requests.h"
#include "network/bonding.h"
#include "network/link.h"
#include "options/values.h"
#include "view/view_bond.h"

static int kernel_side_create(struct handover *plan, const char *name, struct err *err)
{
	struct nl *nl = &plan->daemon->nl;
	struct link_end end = { .name = name, .mac = plan->mac, .mtu = plan->mtu };
	struct option_set options = { 0 };
	struct link_info made;
	int r = option_set_from_json(&options, OPTION_BOND, plan->options, err);

	if (!r)
		r = bonding_create(nl, &end, &options, err);
	if (!r)
		r = link_get_by_name(nl, name, &made);
	if (r)
		return r;
	link_copy_sleep(name);
	return link_set_flags(nl, made.ifindex, IFF_UP, IFF_UP, err);
}

static bool kernel_side_has(struct handover *plan, int ifindex, const struct handover_slave *slave)
{
	struct link_info link;

	return !link_get(&plan->daemon->nl, -1, slave->ifindex, &link) && link.master == ifindex;
}

/* The driver takes no slave that is up. It brings it up itself. */
static int kernel_side_add(struct handover *plan, int ifindex, const struct handover_slave *slave,
			   struct err *err)
{
	struct nl *nl = &plan->daemon->nl;
	struct option_set options = { 0 };
	int r = option_set_from_json(&options, OPTION_SLAVE, slave->options, err);
	bool has = kernel_side_has(plan, ifindex, slave);

	if (!r && !has)
		r = link_set_flags(nl, slave->ifindex, 0, IFF_UP, err);
	if (!r && !has)
		r = link_set_master(nl, slave->ifindex, ifindex, err);
	if (!r && json_object_size(slave->options))
		r = bonding_set_slave(nl, slave->ifindex, &options, err);
	return r;
}

static int kernel_side_release(struct handover *plan, int ifindex,
			       const struct handover_slave *slave, struct err *err)
{
	return link_set_master(&plan->daemon->nl, slave->ifindex, 0, err);
}

static bool kernel_side_uses(struct handover *plan, int ifindex, const struct handover_slave *slave)
{
	const char *mode = json_string_value(json_object_get(plan->options, "mode"));
	bool is_ad = mode && !strcmp(mode, mode_name(XBOND_MODE_8023AD));
	struct bonding_slave now;

	return !bonding_read_slave(&plan->daemon->nl, slave->ifindex, &now) && now.distributes &&
	       (now.has_aggregator || !is_ad);
}

/* Its driver has been given all options. */
static int kernel_side_complete(struct handover *plan, int ifindex, struct err *err)
{
	return 0;
}

static void kernel_side_hear(struct handover *plan, int ifindex)
{
}

static int kernel_side_remove(struct handover *plan, int ifindex, struct err *err)
{
	return link_delete(&plan->daemon->nl, ifindex, err);
}

const struct handover_side handover_side_kernel = {
	.create = kernel_side_create,
	.add = kernel_side_add,
	.release = kernel_side_release,
	.has = kernel_side_has,
	.uses = kernel_side_uses,
	.complete = kernel_side_complete,
	.hear = kernel_side_hear,
	.remove = kernel_side_remove,
};

/* xbond's bonds as a side of a handover. */

static struct bond *xbond_side_find(struct handover *plan, int ifindex)
{
	struct bond *bond = plan->daemon->bonds;

	while (bond && (bond->device.away || bond_pin(bond)->ifindex != (__u32)ifindex))
		bond = bond->next;
	return bond;
}

static int xbond_side_need(struct handover *plan, int ifindex, struct bond **ret_bond,
			   struct err *err)
{
	*ret_bond = xbond_side_find(plan, ifindex);
	return *ret_bond ? 0 : err_set(err, ENODEV, "the xbond bond was deleted");
}

/* The address is set, so that the first slave does not give its own. */
static int xbond_side_dress(struct handover *plan, struct bond *bond, struct err *err)
{
	struct nl *nl = &plan->daemon->nl;
	int ifindex = (int)bond_pin(bond)->ifindex;
	int r = device_set_mac(bond, plan->mac, err);

	if (!r)
		r = link_set_mtu(nl, ifindex, plan->mtu, err);
	link_copy_sleep(bond_pin(bond)->name);
	if (!r)
		r = link_set_flags(nl, ifindex, IFF_UP, IFF_UP, err);
	if (!r)
		r = device_sync(bond);
	return r;
}

/* Takes out of the set what the mode does not have. */
static struct option_set xbond_side_take_latent(struct option_set *options, uint32_t mode)
{
	struct option_set latent = { 0 };

	for (int id = 0; id < OPT_COUNT; id++) {
		if (!options->given[id] || option_is_of_mode(option_at(id), mode))
			continue;
		latent.given[id] = true;
		latent.value[id] = options->value[id];
		options->given[id] = false;
	}
	return latent;
}

/* What the mode does not have cannot be requested. It has no effect, but another mode may have it.
 */
static void xbond_side_write_latent(struct bond *bond, unsigned int slot,
				    const struct option_set *latent)
{
	for (int id = 0; id < OPT_COUNT; id++)
		if (latent->given[id])
			values_write(&bond->dataplane.pins, option_at(id), slot,
				     &latent->value[id]);
}

/* With these a bond does not use its first slave, or not yet. It gets them when it has all slaves.
 */
static bool xbond_side_is_late(int id)
{
	return id == OPT_MIN_LINKS || id == OPT_UPDELAY;
}

static int xbond_side_create(struct handover *plan, const char *name, struct err *err)
{
	struct option_set options = { 0 }, latent = { 0 };
	struct bond *bond;
	int r = option_set_from_json(&options, OPTION_BOND, plan->options, err);

	if (r)
		return r;
	for (int id = 0; id < OPT_COUNT; id++)
		options.given[id] &= !xbond_side_is_late(id);
	if (plan->kind == HANDOVER_CONVERSION)
		latent = xbond_side_take_latent(&options, option_set_mode(&options, 0));
	r = request_create(plan->daemon, name, &options, err);
	if (r)
		return r;
	bond = daemon_find_bond(plan->daemon, name);
	xbond_side_write_latent(bond, 0, &latent);
	bond_hand_over(bond, handover_name(plan));
	return xbond_side_dress(plan, bond, err);
}

static int xbond_side_complete(struct handover *plan, int ifindex, struct err *err)
{
	struct option_set options = { 0 };
	struct bond *bond;
	int r = xbond_side_need(plan, ifindex, &bond, err);

	if (!r)
		r = option_set_from_json(&options, OPTION_BOND, plan->options, err);
	for (int id = 0; id < OPT_COUNT; id++)
		options.given[id] &= xbond_side_is_late(id);
	if (!r && (options.given[OPT_MIN_LINKS] || options.given[OPT_UPDELAY]))
		r = request_set(plan->daemon, bond_pin(bond)->name, &options, err);
	return r;
}

static int xbond_side_name(struct handover *plan, const struct handover_slave *slave,
			   char ret_name[XBOND_NAME_SIZE], struct err *err)
{
	struct link_info link;
	int r = link_get(&plan->daemon->nl, -1, slave->ifindex, &link);

	if (r)
		return err_set(err, -r, "the slave %s cannot be found: %s", slave->name,
			       strerror(-r));
	memcpy(ret_name, link.name, XBOND_NAME_SIZE);
	return 0;
}

/* Its number in LACPDUs is that of its slot, plus one. */
static int xbond_side_add(struct handover *plan, int ifindex, const struct handover_slave *slave,
			  struct err *err)
{
	char name[XBOND_NAME_SIZE];
	struct option_set options = { 0 }, latent;
	struct bond *bond;
	int r = xbond_side_need(plan, ifindex, &bond, err), slot;

	if (!r)
		r = option_set_from_json(&options, OPTION_SLAVE, slave->options, err);
	if (!r)
		r = xbond_side_name(plan, slave, name, err);
	if (r)
		return r;
	latent = xbond_side_take_latent(&options, bond_pin(bond)->mode);
	options.given[OPT_FORCE] = true;
	options.value[OPT_FORCE].number = true;
	if (bond_slot_by_ifindex(bond, slave->ifindex) < 0)
		r = request_add_slave_at(plan->daemon, bond_pin(bond)->name, name, slave->port - 1,
					 &options, err);
	slot = r ? -1 : bond_slot_by_ifindex(bond, slave->ifindex);
	if (slot >= 0)
		xbond_side_write_latent(bond, (unsigned int)slot, &latent);
	return r;
}

static bool xbond_side_has(struct handover *plan, int ifindex, const struct handover_slave *slave)
{
	struct bond *bond = xbond_side_find(plan, ifindex);

	return bond && bond_slot_by_ifindex(bond, slave->ifindex) >= 0;
}

static int xbond_side_release(struct handover *plan, int ifindex,
			      const struct handover_slave *slave, struct err *err)
{
	char name[XBOND_NAME_SIZE];
	const char *names[] = { name };
	struct bond *bond = xbond_side_find(plan, ifindex);
	int r;

	if (!bond) /* it was removed, and has freed its slaves */
		return 0;
	r = xbond_side_name(plan, slave, name, err);
	return r ? r : request_del_slaves(plan->daemon, bond_pin(bond)->name, names, 1, NULL, err);
}

/* Our port may distribute a little before the partner's collects. */
static bool xbond_side_is_heard(struct bond *bond, unsigned int slot)
{
	static struct lacp_system system; /* too large for a stack */
	const struct lacp_info *partner = &system.port[slot].partner;

	if (!mode_has(bond_pin(bond)->mode, MODE_LACP))
		return true;
	view_lacp_read(&bond->dataplane.pins, &system);
	return mac_is_zero(partner->system) || partner->state & LACP_COLLECTING;
}

static bool xbond_side_uses(struct handover *plan, int ifindex, const struct handover_slave *slave)
{
	struct bond *bond = xbond_side_find(plan, ifindex);
	int slot = bond ? bond_slot_by_ifindex(bond, slave->ifindex) : -1;

	return slot >= 0 && slots_have(bond->dataplane.pins.table->tx_mask, slot) &&
	       bond->device.port_up && xbond_side_is_heard(bond, (unsigned int)slot);
}

/* The steps that come next count on its name, so what has refused it is asked once more. */
static void xbond_side_hear(struct handover *plan, int ifindex)
{
	struct bond *bond = xbond_side_find(plan, ifindex);

	if (bond && !device_sync(bond) && *bond->device.refused_name)
		device_sync(bond);
}

/* In a conversion the bond that stays awaits what this one has awaited. */
static int xbond_side_remove(struct handover *plan, int ifindex, struct err *err)
{
	const struct handover_device *device = &plan->devices[0];
	struct bond *bond, *other;
	int r = xbond_side_need(plan, ifindex, &bond, err);

	if (r)
		return r;
	other = xbond_side_find(plan, ifindex == device->old ? device->new : device->old);
	if (other)
		awaited_move(bond, other);
	return lifecycle_delete(bond, err);
}

const struct handover_side handover_side_xbond = {
	.create = xbond_side_create,
	.add = xbond_side_add,
	.release = xbond_side_release,
	.has = xbond_side_has,
	.uses = xbond_side_uses,
	.complete = xbond_side_complete,
	.hear = xbond_side_hear,
	.remove = xbond_side_remove,
};
