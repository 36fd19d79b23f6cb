/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Goes back from wherever a handover is. Looks at what is, because bondd may have died anywhere. */
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>

#include "daemon/base/event.h"
#include "daemon/handover/handover_side.h"
#include "daemon/handover/handover_step.h"

/*
 * The first error counts, and first what another attempt may mend; the rest is done anyway.
 * -ESTALE: no attempt can.
 */
static void undo_keep(int *r, struct err *err, int next, const struct err *why)
{
	if (!next || (*r && (*r != -ESTALE || next == -ESTALE)))
		return;
	*r = next;
	*err = *why;
}

/* The kernel's driver makes bonds; those of xbond bondd knows itself. */
static bool undo_is_new(const struct handover *plan, const struct link_info *link)
{
	return !plan->is_back || !strcmp(link->kind, "bond");
}

/*
 * Died between making it and writing its number down, it is known by its name only. Returns 0,
 * -ENODEV if there is none, or another -errno if that cannot be found out.
 */
static int undo_find_new(struct handover *plan, int *ret_ifindex)
{
	const struct handover_device *bond = &plan->devices[0];
	struct nl *nl = &plan->daemon->nl;
	struct link_info link = { 0 };
	int r = link_get_by_name(nl, bond->new_name, &link);

	if (r == -ENODEV || (!r && !undo_is_new(plan, &link))) {
		r = link_get(nl, -1, bond->new, &link);
		if (!r && (strcmp(link.name, bond->name) || !undo_is_new(plan, &link)))
			r = -ENODEV;
	}
	*ret_ifindex = link.ifindex;
	return r;
}

static int undo_remove_new(struct handover *plan, struct err *err)
{
	int ifindex, r = undo_find_new(plan, &ifindex);

	if (r && r != -ENODEV)
		return err_set(err, -r, "the kernel does not say whether %s is there: %s",
			       plan->devices[0].new_name, strerror(-r));
	if (!r)
		r = plan->new_side->remove(plan, ifindex, err);
	return r == -ENODEV ? 0 : r;
}

static int undo_device(struct handover *plan, size_t index, struct err *err)
{
	const struct handover_device *device = &plan->devices[index];
	struct nl *nl = &plan->daemon->nl;
	struct link_info now;
	int r = handover_find_old(plan, index, &now);

	if (r)
		return err_set(err, r == -ENODEV ? ESTALE : -r, "%s is gone", device->name);
	if (!strcmp(now.name, device->name))
		return 0;
	r = link_set_flags(nl, device->old, 0, IFF_UP, err);
	/* With another name the kernel gives them other labels, too. They come again. */
	netconf_remove_ipv4(nl, &plan->conf, device->old);
	if (!r)
		r = link_set_name(nl, device->old, device->name, err);
	return r;
}

/* One that is gone, and whose number another device may have by now, cannot be waited for. */
static int undo_slave(struct handover *plan, const struct handover_slave *slave, struct err *err)
{
	int bond = plan->devices[0].old, r;
	struct link_info now;

	if (plan->old_side->has(plan, bond, slave))
		return 0;
	r = link_get(&plan->daemon->nl, -1, slave->ifindex, &now);
	if (r && r != -ENODEV)
		return err_set(err, -r, "the slave %s cannot be found: %s", slave->name,
			       strerror(-r));
	if (r || strcmp(now.name, slave->name)) {
		event_error(handover_name(plan), slave->name, "is gone, and is not put back");
		return 0;
	}
	return plan->old_side->add(plan, bond, slave, err);
}

static int undo_mac(struct handover *plan, struct err *err)
{
	struct nl *nl = &plan->daemon->nl;
	struct link_info now;
	int r = handover_find_old(plan, 0, &now);

	if (!r && memcmp(now.mac, plan->mac, XBOND_MAC_SIZE))
		r = link_force_mac(nl, &now, plan->mac, err);
	return r;
}

/* Devices that were up come up from below, and then what went with them comes back. */
static int undo_configure(struct handover *plan, struct err *err)
{
	struct netconf_device *pairs = handover_pairs(plan, true);
	struct nl *nl = &plan->daemon->nl;
	struct link_info now;
	struct err why;
	int r = 0;

	for (size_t i = 0; i < plan->device_count; i++) {
		if (handover_find_old(plan, i, &now))
			pairs[i].to = HANDOVER_NO_DEVICE;
		else if (plan->devices[i].is_up)
			undo_keep(&r, err, link_set_flags(nl, now.ifindex, IFF_UP, IFF_UP, &why),
				  &why);
	}
	if (netconf_apply(nl, &plan->conf, pairs, plan->device_count, &why))
		undo_keep(&r, err, -ESTALE, &why);
	free(pairs);
	return r;
}

int handover_undo(struct handover *plan, struct err *err)
{
	struct err why = { 0 };
	struct link_info old;
	int r = handover_find_old(plan, 0, &old);

	if (r)
		return err_set(err, r == -ENODEV ? ESTALE : -r,
			       "%s is gone, so there is nothing to go back to",
			       handover_name(plan));
	undo_keep(&r, err, undo_remove_new(plan, &why), &why);
	for (size_t i = 0; i < plan->device_count; i++)
		undo_keep(&r, err, undo_device(plan, i, &why), &why);
	undo_keep(&r, err, undo_mac(plan, &why), &why);
	for (size_t i = 0; i < plan->slave_count; i++)
		undo_keep(&r, err, undo_slave(plan, &plan->slaves[i], &why), &why);
	undo_keep(&r, err, undo_mac(plan, &why), &why);
	undo_keep(&r, err, undo_configure(plan, &why), &why);
	plan->old_side->follow(plan, plan->devices[0].old);
	return r;
}
