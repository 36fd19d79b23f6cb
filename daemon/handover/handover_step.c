/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>

#include "daemon/announce/announce.h"
#include "daemon/base/crashpoint.h"
#include "daemon/handover/handover_plan.h"
#include "network/driver.h"
#include "network/filters.h"
#include "network/link.h"

int handover_passed(const char *step, struct err *err)
{
	crashpoint(step);
	if (crashpoint_is(step, "XBOND_TEST_FAIL_AT"))
		return err_set(err, EIO, "a test requests a failure at %s", step);
	return 0;
}

static int step_copy_device(struct handover *plan, struct handover_device *device, struct err *err)
{
	struct nl *nl = &plan->daemon->nl;
	struct link_info old, made;
	struct err why;
	int r = link_get(nl, -1, device->old, &old);

	err_set(&why, -r, "%s", strerror(-r));
	if (!r)
		r = link_copy(nl, &old, device->new_name, plan->devices[device->lower].new, &why);
	if (!r)
		r = link_get_by_name(nl, device->new_name, &made);
	if (r)
		return err_set(err, -r, "%s cannot be created again: %s", device->name, why.text);
	device->new = made.ifindex;
	link_copy_sleep(device->new_name);
	return 0;
}

static void step_copy_sysctls(const struct handover *plan)
{
	for (size_t i = 0; i < plan->device_count; i++)
		link_copy_sysctls(plan->devices[i].name, plan->devices[i].new_name);
}

int handover_prepare(struct handover *plan, struct err *err)
{
	struct handover_device *bond = &plan->devices[0];
	struct link_info made;
	int r = plan->new_side->create(plan, bond->new_name, err);

	if (!r)
		r = link_get_by_name(&plan->daemon->nl, bond->new_name, &made);
	if (r)
		return r;
	bond->new = made.ifindex;
	r = handover_passed("handover-created", err);
	for (size_t i = 1; i < plan->device_count && !r; i++)
		r = step_copy_device(plan, &plan->devices[i], err);
	if (!r)
		step_copy_sysctls(plan);
	return r ? r : handover_passed("handover-copied", err);
}

int handover_add(struct handover *plan, const struct handover_side *side, int bond,
		 const struct handover_slave *slave, bool is_down, struct err *err)
{
	int r = side->add(plan, bond, slave, err);

	if (r || !is_down)
		return r;
	crashpoint("handover-added");
	return link_set_flags(&plan->daemon->nl, slave->ifindex, 0, IFF_UP, err);
}

int handover_move(struct handover *plan, const struct handover_slave *slave, struct err *err)
{
	bool is_down = link_is_down(&plan->daemon->nl, slave->ifindex);
	int r = plan->old_side->release(plan, plan->devices[0].old, slave, err);

	if (!r)
		r = handover_passed("handover-released", err);
	if (!r)
		r = handover_add(plan, plan->new_side, plan->devices[0].new, slave, is_down, err);
	return r ? r : handover_passed("handover-moved", err);
}

bool handover_is_used(struct handover *plan, const struct handover_slave *slave)
{
	return !slave->has_link || plan->new_side->uses(plan, plan->devices[0].new, slave);
}

/* Before Linux 6.2 a device that is up keeps its name. */
int handover_rename(struct nl *nl, int ifindex, const char *name, struct err *err)
{
	int r = link_set_name(nl, ifindex, name, err), up;

	if (r != -EBUSY)
		return r;
	r = link_set_flags(nl, ifindex, 0, IFF_UP, err);
	if (!r)
		r = link_set_name(nl, ifindex, name, err);
	up = link_set_flags(nl, ifindex, IFF_UP, IFF_UP, r ? NULL : err);
	return r ? r : up;
}

/* The kernel's routes by a device go when it goes down, so those of the new one are not in doubt.
 */
static int step_put_away(struct handover *plan, struct err *err)
{
	struct nl *nl = &plan->daemon->nl;
	int r = 0;

	for (size_t i = plan->device_count; i-- && !r;) {
		const struct handover_device *device = &plan->devices[i];

		if (device->has_master)
			r = link_set_master(nl, device->old, 0, err);
		if (!r)
			r = link_set_flags(nl, device->old, 0, IFF_UP, err);
		if (!r)
			r = link_set_name(nl, device->old, device->old_name, err);
	}
	plan->old_side->hear(plan, plan->devices[0].old);
	return r;
}

static int step_put_forward(struct handover *plan, struct err *err)
{
	struct nl *nl = &plan->daemon->nl;
	int r = 0;

	for (size_t i = 0; i < plan->device_count && !r; i++) {
		const struct handover_device *device = &plan->devices[i];

		r = handover_rename(nl, device->new, device->name, err);
		link_copy_wake(device->name, device->old_name);
		if (!r && i)
			r = link_set_flags(nl, device->new, device->is_up ? IFF_UP : 0, IFF_UP,
					   err);
	}
	plan->new_side->hear(plan, plan->devices[0].new);
	return r;
}

/* Since Linux 6.2 this works while they are up. Returns whether all of them are renamed. */
static bool step_rename_old(struct handover *plan)
{
	bool all = true;

	for (size_t i = plan->device_count; i-- && all;)
		all = !link_set_name(&plan->daemon->nl, plan->devices[i].old,
				     plan->devices[i].old_name, NULL);
	if (all)
		plan->old_side->hear(plan, plan->devices[0].old);
	return all;
}

/*
 * Addresses, routes and neighbours are with both for a moment: the kernel prefers the older routes
 * until the old devices go down, and nothing is silent meanwhile. What is a port of a bridge or of
 * a VRF must wait until the old port has left.
 */
static void step_configure_early(struct handover *plan)
{
	struct netconf_device *pairs = handover_pairs(plan, false);

	for (size_t i = 0; i < plan->device_count; i++)
		if (plan->devices[i].has_master)
			pairs[i].to = HANDOVER_NO_DEVICE;
	netconf_apply(&plan->daemon->nl, &plan->conf, pairs, plan->device_count, NULL, NULL);
	free(pairs);
}

static void step_configure(struct handover *plan)
{
	struct netconf_device *pairs = handover_pairs(plan, false);
	struct err first;
	size_t refused;

	netconf_apply(&plan->daemon->nl, &plan->conf, pairs, plan->device_count, &refused, &first);
	free(pairs);
	if (refused)
		handover_note(plan,
			      "%zu addresses, routes or neighbours were refused; the first: %s",
			      refused, first.text);
	for (size_t i = 0; i < plan->device_count; i++)
		link_copy_settle(plan->devices[i].name, plan->devices[i].old_name);
	/* Since Linux 6.16 they go with the name. */
	if (plan->has_chains && !nft_chains_on(handover_name(plan)))
		handover_note(plan, "the nftables chains of %s are not handed over",
			      handover_name(plan));
}

/* Switches learn at once by which slave the addresses are reached now. */
static void step_announce(struct handover *plan)
{
	struct bond *bond = daemon_find_bond(plan->daemon, handover_name(plan));
	struct announce_order order = { .addresses = 1, .port_ifindex = plan->devices[0].new };

	if (bond)
		order.port_ifindex = (int)bond_pin(bond)->port_ifindex;
	announce(plan->daemon->announcer, &order);
}

/* The new devices have the names, and then the addresses, while the old ones are still up. */
static int step_put_forward_early(struct handover *plan, struct err *err)
{
	int r = handover_passed("handover-set-aside", err);

	if (!r)
		r = step_put_forward(plan, err);
	if (!r)
		r = handover_passed("handover-put-forward", err);
	if (r)
		return r;
	step_configure_early(plan);
	return handover_passed("handover-both-configured", err);
}

/* Names and addresses. Nothing is left that the old devices would be needed for. */
static int step_change_over(struct handover *plan, struct err *err)
{
	bool is_early = step_rename_old(plan);
	int r = is_early ? step_put_forward_early(plan, err) : 0;

	if (!r)
		r = step_put_away(plan, err);
	if (!r)
		r = handover_passed("handover-away", err);
	if (!r && !is_early)
		r = step_put_forward(plan, err);
	return r;
}

/*
 * All kinds of bond begin with the same features, so what differs has been changed. But GRO is off
 * on a veth, unless its slaves receive by XDP. A macvlan begins with what the device below it has.
 */
static void step_copy_features(struct handover *plan)
{
	const struct handover_device *bond = &plan->devices[0];
	bool is_veth = !strcmp(bond->kind, "veth") || link_is_veth(&plan->daemon->nl, bond->new);
	struct err why;

	for (size_t i = 0; i < plan->device_count; i++) {
		const struct handover_device *device = &plan->devices[i];

		if (strcmp(device->kind, "macvlan") &&
		    features_copy(&plan->daemon->ethtool, device->name, device->new_name,
				  device == bond && is_veth ? FEATURE_GRO : "", &why))
			handover_note(plan, "the features of %s (ethtool -k): %s", device->name,
				      why.text);
	}
}

int handover_switch(struct handover *plan, struct err *err)
{
	int r;

	step_copy_sysctls(plan); /* they may have been changed since */
	step_copy_features(plan);
	r = step_change_over(plan, err);
	if (!r)
		r = handover_passed("handover-renamed", err);
	if (r)
		return r;
	step_configure(plan);
	if (!plan->devices[0].is_up) {
		link_set_flags(&plan->daemon->nl, plan->devices[0].new, 0, IFF_UP, NULL);
		plan->new_side->hear(plan, plan->devices[0].new);
	}
	step_announce(plan);
	return handover_passed("handover-configured", err);
}

int handover_end(struct handover *plan, struct err *err)
{
	struct link_info old;
	int r = handover_find_old(plan, 0, &old);

	if (!r)
		r = plan->old_side->remove(plan, old.ifindex, err);
	else
		err_set(err, -r, "it is gone");
	return r == -ENODEV ? 0 : r;
}
