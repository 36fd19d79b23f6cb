/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/bond/attach_check.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "daemon/base/event.h"
#include "daemon/base/main_loop.h"
#include "daemon/bond/bond.h"
#include "daemon/bond/daemon.h"
#include "daemon/bond/evaluate.h"
#include "daemon/bond/part.h"
#include "network/filters.h"
#include "network/packet.h"

struct attach_point port_hooks_point(struct bond *bond, bool egress)
{
	struct xbond_bond *pin = bond_pin(bond);
	struct attach_point point = {
		.hook = pin->hook,
		.egress = egress,
		.ifindex = (int)(egress ? pin->ifindex : pin->port_ifindex),
	};

	if (!egress && bond_is_netkit(pin))
		point.hook = XBOND_HOOK_NETKIT;
	pin_path(point.pin, bond->dataplane.pins.dir,
		 egress ? XBOND_PIN_LINK_EGRESS : XBOND_PIN_LINK_PORT);
	return point;
}

static enum xbond_hook port_hooks_choose(struct bond *bond)
{
	if (bond->daemon->hook == HOOK_CLSACT)
		return XBOND_HOOK_CLSACT;
	if (bond->daemon->hook == HOOK_TCX)
		return XBOND_HOOK_TCX;
	return attach_tcx_works((int)bond_pin(bond)->ifindex) ? XBOND_HOOK_TCX : XBOND_HOOK_CLSACT;
}

static bool port_hooks_has_queue_ids(struct bond *bond)
{
	bond_for_each_member (bond, slot)
		if (bond_slave(bond, slot)->queue_id)
			return true;
	return false;
}

bool port_hooks_need_egress(struct bond *bond)
{
	return !bond_is_netkit(bond_pin(bond)) || port_hooks_has_queue_ids(bond) ||
	       bond->dataplane.pins.settings->path == XBOND_PATH_DIRECT;
}

static const char *port_hooks_without_egress(const struct xbond_bond *pin)
{
	if (!bond_is_team(pin))
		return "direct and queue_id have no effect";
	return bond_only_direct(pin) ? "the bond sends nothing" : "the team sends by any slave";
}

int port_hooks_attach_egress(struct bond *bond, const struct attach_point *egress, struct err *err)
{
	const char *name = bond_pin(bond)->name;

	if (egress->hook == XBOND_HOOK_CLSACT &&
	    filters_has_ingress(&bond->daemon->nl, egress->ifindex) > 0)
		return err_set(err, EEXIST,
			       "an ingress qdisc on %s is in the place of clsact, so %s; "
			       "'tc qdisc del dev %s ingress' removes it",
			       name, port_hooks_without_egress(bond_pin(bond)), name);
	return attach_add(egress, bond->dataplane.egress_fd, err);
}

int port_hooks_attach(struct bond *bond, struct err *err)
{
	struct attach_point port, egress;
	int r;

	bond_pin(bond)->hook = port_hooks_choose(bond);
	port = port_hooks_point(bond, false);
	egress = port_hooks_point(bond, true);
	r = bond_is_team(bond_pin(bond)) ? 0 : attach_add(&port, bond->dataplane.port_fd, err);
	if (r)
		return r;
	return port_hooks_need_egress(bond) ? port_hooks_attach_egress(bond, &egress, err)
					    : attach_prepare(&egress, err);
}

/*
 * Do others have filters or programs at bond0's TC egress after ours? For a bond in this namespace.
 */
static bool port_hooks_skip_filters(struct bond *bond)
{
	struct attach_point egress = port_hooks_point(bond, true);

	return attach_skips_others(&bond->daemon->nl, &egress, bond->dataplane.egress_fd);
}

static bool port_hooks_have_egress(const struct attach_point *egress)
{
	return egress->hook == XBOND_HOOK_CLSACT ? attach_has_egress_filter(egress->ifindex)
						 : !access(egress->pin, F_OK);
}

void port_hooks_settle(struct bond *bond)
{
	struct attach_point egress = port_hooks_point(bond, true);
	bool wanted = port_hooks_need_egress(bond);
	struct err err;

	if (!bond_is_netkit(bond_pin(bond)) || bond_pin(bond)->netnsid >= 0 ||
	    wanted == port_hooks_have_egress(&egress))
		return;
	if (!wanted)
		attach_remove(&egress);
	else if (port_hooks_attach_egress(bond, &egress, &err))
		event_error(bond_pin(bond)->name, NULL,
			    "queue_id and path direct have no effect: %s", err.text);
}

#define MAX_CAPTURES 4096

struct bypass_bond {
	bool captured;	  /* somebody captures on bond0 */
	bool has_filters; /* after our program on bond0's egress, which direct would skip */
};

static struct bypass_bond *bypass_of(struct bond *bond)
{
	return part_of_bond(bond, &bypass_part);
}

static void bypass_say(struct bond *bond, const char *what)
{
	if (bond_wants_direct(bond))
		event_info(bond_pin(bond)->name, NULL, "%s", what);
}

static bool bypass_is_captured(struct bond *bond, const int *ifindexes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!bond->device.away && ifindexes[i] == (int)bond_pin(bond)->ifindex)
			return true;
	return false;
}

void bypass_read_captures(struct daemon *daemon)
{
	int ifindexes[MAX_CAPTURES];
	size_t count;

	count = capture_list(ifindexes, MAX_CAPTURES);
	for (struct bond *bond = daemon->bonds; bond; bond = bond->next) {
		bool captured = bypass_is_captured(bond, ifindexes, count);

		if (captured == bypass_of(bond)->captured)
			continue;
		bypass_of(bond)->captured = captured;
		bypass_say(bond, captured ? "is being captured; path counted until that ends"
					  : "is no longer captured; path direct again");
		bond_evaluate(bond);
	}
}

bool bypass_look_for_filters(struct bond *bond)
{
	struct bypass_bond *bypass = bypass_of(bond);
	bool had = bypass->has_filters, has = had;

	if (!bond->device.away)
		has = port_hooks_skip_filters(bond);
	if (has == had)
		return false;
	bypass->has_filters = has;
	bypass_say(bond, has ? "has filters on its egress; path counted until they are gone"
			     : "no longer has filters on its egress; path direct again");
	return true;
}

bool bypass_forbids_direct(struct bond *bond)
{
	const struct bypass_bond *bypass = bypass_of(bond);
	const struct xbond_bond *pin = bond_pin(bond);

	if (bond_only_direct(pin))
		return false;
	return bypass->captured || bond->device.has_qdisc || bypass->has_filters ||
	       bond->device.is_down || bond->device.away ||
	       (bond->device.has_xdp && !pin->xdp_tx && !bond_is_team(pin));
}

/* That there is one more, or that there is still none, need not be asked. */
static bool bypass_hear(struct bond *bond, unsigned int slot, enum part_news news,
			const struct link_info *link, bool gone)
{
	return slot == PART_BOND && bypass_of(bond)->has_filters == gone;
}

static void bypass_settle(struct bond *bond, uint32_t news)
{
	if (bypass_look_for_filters(bond))
		bond_evaluate(bond);
}

struct part bypass_part = {
	.bond_size = sizeof(struct bypass_bond),
	.hears = NEWS_FILTER,
	.hear = bypass_hear,
	.settle_bond = bypass_settle,
};
