/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Goes back from wherever a handover is. Looks at what is, because bondd may have died anywhere. */
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>

#include "daemon/handover/handover_side.h"
#include "daemon/handover/handover_step.h"

/* The first error counts; the rest is done anyway. */
static void undo_keep(int *r, struct err *err, int next, const struct err *why)
{
	if (*r || !next)
		return;
	*r = next;
	*err = *why;
}

/* Died between making it and writing its number down, it is known by its name only. */
static int undo_find_new(struct handover *plan)
{
	const struct handover_device *bond = &plan->devices[0];
	struct link_info link;

	if (!link_get_by_name(&plan->daemon->nl, bond->new_name, &link))
		return link.ifindex;
	return bond->new && !link_get(&plan->daemon->nl, -1, bond->new, &link) ? bond->new : 0;
}

static int undo_remove_new(struct handover *plan, struct err *err)
{
	int ifindex = undo_find_new(plan),
	    r = ifindex ? plan->new_side->remove(plan, ifindex, err) : 0;

	return r == -ENODEV ? 0 : r;
}

static int undo_device(struct handover *plan, const struct handover_device *device, struct err *err)
{
	struct nl *nl = &plan->daemon->nl;
	struct link_info now;
	int r = link_get(nl, -1, device->old, &now);

	if (r)
		return err_set(err, -r, "%s is gone", device->name);
	if (!strcmp(now.name, device->name))
		return 0;
	r = link_set_flags(nl, device->old, 0, IFF_UP, err);
	if (!r)
		r = link_set_name(nl, device->old, device->name, err);
	return r;
}

static int undo_slave(struct handover *plan, const struct handover_slave *slave, struct err *err)
{
	int bond = plan->devices[0].old;

	return plan->old_side->has(plan, bond, slave) ? 0
						      : plan->old_side->add(plan, bond, slave, err);
}

static int undo_mac(struct handover *plan, struct err *err)
{
	struct nl *nl = &plan->daemon->nl;
	int ifindex = plan->devices[0].old, r;
	struct link_info now;

	r = link_get(nl, -1, ifindex, &now);
	if (!r && memcmp(now.mac, plan->mac, XBOND_MAC_SIZE))
		r = link_force_mac(nl, &now, plan->mac, err);
	return r;
}

/* Devices that were up come up from below, and then what went with them comes back. */
static int undo_configure(struct handover *plan, struct err *err)
{
	struct netconf_device *pairs = handover_pairs(plan, true);
	struct nl *nl = &plan->daemon->nl;
	struct err why;
	int r = 0;

	for (size_t i = 0; i < plan->device_count; i++)
		if (plan->devices[i].is_up)
			undo_keep(&r, err,
				  link_set_flags(nl, plan->devices[i].old, IFF_UP, IFF_UP, &why),
				  &why);
	if (netconf_apply(nl, &plan->conf, pairs, plan->device_count, &why))
		undo_keep(&r, err, -EIO, &why);
	free(pairs);
	return r;
}

int handover_undo(struct handover *plan, struct err *err)
{
	struct err why = { 0 };
	int r = 0;

	undo_keep(&r, err, undo_remove_new(plan, &why), &why);
	for (size_t i = 0; i < plan->device_count; i++)
		undo_keep(&r, err, undo_device(plan, &plan->devices[i], &why), &why);
	undo_keep(&r, err, undo_mac(plan, &why), &why);
	for (size_t i = 0; i < plan->slave_count; i++)
		undo_keep(&r, err, undo_slave(plan, &plan->slaves[i], &why), &why);
	undo_keep(&r, err, undo_mac(plan, &why), &why);
	undo_keep(&r, err, undo_configure(plan, &why), &why);
	plan->old_side->follow(plan, plan->devices[0].old);
	return r;
}
