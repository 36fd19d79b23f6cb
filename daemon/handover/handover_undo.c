/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Goes back from wherever a handover is. Looks at what is, because bondd may have died anywhere. */
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>

#include "common/mac.h"
#include "common/memory.h"
#include "daemon/base/crashpoint.h"
#include "daemon/base/event.h"
#include "daemon/handover/handover_plan.h"
#include "network/link.h"

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

/* bondd knows the bonds of xbond itself. One of the kernel has its address from the first. */
static bool undo_is_new(const struct handover *plan, const struct link_info *link)
{
	const struct handover_device *bond = &plan->devices[0];

	if (plan->kind != HANDOVER_HANDBACK)
		return true;
	if (strcmp(link->kind, "bond"))
		return false;
	return mac_is_same(link->mac, plan->mac) ||
	       (bond->new &&
		(!strcmp(link->name, bond->new_name) || !strcmp(link->name, bond->name)));
}

/*
 * Died between making it and writing its number down, it is known by its name only. Returns 0,
 * -ENODEV if there is none, or another -errno if that cannot be found out.
 */
static int undo_find_new(struct handover *plan, struct link_info *ret_link)
{
	const struct handover_device *bond = &plan->devices[0];
	struct nl *nl = &plan->daemon->nl;
	int r = bond->new ? link_get(nl, -1, bond->new, ret_link)
			  : link_get_by_name(nl, bond->new_name, ret_link);

	return r || undo_is_new(plan, ret_link) ? r : -ENODEV;
}

static int undo_remove_new(struct handover *plan, struct err *err)
{
	struct link_info link;
	int r = undo_find_new(plan, &link);

	if (r && r != -ENODEV)
		return err_set(err, -r, "the kernel does not say whether %s is there: %s",
			       plan->devices[0].new_name, strerror(-r));
	if (!r)
		r = plan->new_side->remove(plan, link.ifindex, err);
	crashpoint("undo-removed");
	return r == -ENODEV ? 0 : r;
}

static int undo_is_taken(const struct handover_device *device, const struct link_info *now,
			 struct err *err)
{
	return err_set(err, ESTALE, "%s is called %s now", device->name, now->name);
}

static int undo_device(struct handover *plan, size_t index, struct err *err)
{
	const struct handover_device *device = &plan->devices[index];
	struct nl *nl = &plan->daemon->nl;
	struct link_info now, other;
	int r = handover_find_old(plan, index, &now);

	if (r == -ENODEV) {
		event_error(handover_name(plan), NULL, "%s is gone, so it does not come back",
			    device->name);
		return 0;
	}
	if (r)
		return err_set(err, -r, "%s cannot be found: %s", device->name, strerror(-r));
	if (!strcmp(now.name, device->name))
		return 0;
	if (!link_get_by_name(nl, device->name, &other))
		return undo_is_taken(device, &now, err);
	/* With another name the kernel gives them other labels, too. They come again. */
	netconf_remove_ipv4(nl, &plan->conf, device->old);
	crashpoint("undo-unaddressed");
	r = handover_rename(nl, device->old, device->name, err);
	return r == -EEXIST ? undo_is_taken(device, &now, err) : r;
}

/*
 * What the new bond has is a slave, whatever its name is by now. In the journal, too: the next
 * attempt may find it without a bond.
 */
static void undo_take_names(struct handover *plan)
{
	int bond = plan->devices[0].new;
	bool is_new = false;
	struct link_info now;
	struct err why;

	for (size_t i = 0; bond && i < plan->slave_count; i++) {
		struct handover_slave *slave = &plan->slaves[i];

		if (plan->new_side->has(plan, bond, slave) &&
		    !link_get(&plan->daemon->nl, -1, slave->ifindex, &now)) {
			is_new |= strcmp(slave->name, now.name) != 0;
			memcpy(slave->name, now.name, sizeof(slave->name));
		}
	}
	if (is_new)
		handover_journal_write(plan, &why);
}

/* One that is gone, and whose number another device may have by now, cannot be waited for. */
static const char *undo_why_left(const struct handover *plan, const struct handover_slave *slave,
				 const struct link_info *now)
{
	if (strcmp(now->name, slave->name))
		return "is gone";
	return now->master && now->master != plan->devices[0].new ? "is a port of another device"
								  : NULL;
}

static int undo_slave(struct handover *plan, const struct handover_slave *slave, struct err *err)
{
	int bond = plan->devices[0].old, r;
	struct link_info now = { 0 };
	const char *why;

	if (!plan->old_side->has(plan, bond, slave)) {
		r = link_get(&plan->daemon->nl, -1, slave->ifindex, &now);
		if (r && r != -ENODEV)
			return err_set(err, -r, "the slave %s cannot be found: %s", slave->name,
				       strerror(-r));
		why = undo_why_left(plan, slave, &now);
		if (why) {
			event_error(handover_name(plan), slave->name,
				    "%s, so it is not added to the bond again", why);
			return 0;
		}
	}
	r = handover_add(plan, plan->old_side, bond, slave, slave->is_down, err);
	crashpoint("undo-added");
	return r;
}

static int undo_mac(struct handover *plan, struct err *err)
{
	struct nl *nl = &plan->daemon->nl;
	struct link_info now;
	int r = handover_find_old(plan, 0, &now);

	if (!r && !mac_is_same(now.mac, plan->mac))
		r = link_force_mac(nl, &now, plan->mac, err);
	return r;
}

/* Devices that were up come up from below, and then what went with them comes back. */
static int undo_configure(struct handover *plan, struct err *err)
{
	struct netconf_device *pairs = handover_pairs(plan, true);
	struct nl *nl = &plan->daemon->nl;
	struct link_info now;
	int r = 0, next;
	struct err why;

	for (size_t i = 0; i < plan->device_count; i++) {
		if (handover_find_old(plan, i, &now))
			pairs[i].to = HANDOVER_NO_DEVICE;
		else if (plan->devices[i].is_up)
			undo_keep(&r, err, link_set_flags(nl, now.ifindex, IFF_UP, IFF_UP, &why),
				  &why);
	}
	crashpoint("undo-up");
	next = netconf_apply(nl, &plan->conf, pairs, plan->device_count, NULL, &why);
	undo_keep(&r, err, next && next != -EIO && !memory_is_want(next) ? -ESTALE : next, &why);
	free(pairs);
	return r;
}

/* The old bond was removed. The new one goes, too, unless it has become the bond. */
static int undo_orphan(struct handover *plan, struct err *err)
{
	struct link_info new;

	if (!undo_find_new(plan, &new) && strcmp(new.name, handover_name(plan)) &&
	    undo_remove_new(plan, err))
		return -EAGAIN;
	return err_set(err, ESTALE, "%s is gone, so there is nothing to go back to",
		       handover_name(plan));
}

int handover_undo(struct handover *plan, struct err *err)
{
	struct err why = { 0 };
	struct link_info old;
	int r = handover_find_old(plan, 0, &old);

	if (r == -ENODEV)
		return undo_orphan(plan, err);
	if (r)
		return err_set(err, -r, "the kernel does not say whether %s is there: %s",
			       handover_name(plan), strerror(-r));
	undo_take_names(plan);
	if (plan->is_untouched)
		handover_survey_now(plan, &why); /* if it cannot, what it was before counts */
	undo_keep(&r, err, undo_remove_new(plan, &why), &why);
	for (size_t i = 0; i < plan->device_count; i++)
		undo_keep(&r, err, undo_device(plan, i, &why), &why);
	crashpoint("undo-renamed");
	undo_keep(&r, err, undo_mac(plan, &why), &why);
	for (size_t i = 0; i < plan->slave_count; i++)
		undo_keep(&r, err, undo_slave(plan, &plan->slaves[i], &why), &why);
	undo_keep(&r, err, undo_mac(plan, &why), &why);
	undo_keep(&r, err, undo_configure(plan, &why), &why);
	plan->old_side->hear(plan, plan->devices[0].old);
	crashpoint("undo-done");
	return r;
}
