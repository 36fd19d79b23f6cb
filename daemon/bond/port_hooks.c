/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/bond/port_hooks.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "daemon/base/event.h"
#include "daemon/base/main_loop.h"
#include "daemon/bond/bond.h"
#include "daemon/bond/daemon.h"
#include "network/filters.h"

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
	snprintf(point.pin, sizeof(point.pin), "%s/%s", bond->dataplane.pins.dir,
		 egress ? XBOND_PIN_LINK_EGRESS : XBOND_PIN_LINK_PORT);
	return point;
}

static enum xbond_hook port_hooks_choose(struct bond *bond)
{
	if (bond->daemon->hook == HOOK_CLSACT)
		return XBOND_HOOK_CLSACT;
	if (bond->daemon->hook == HOOK_TCX)
		return XBOND_HOOK_TCX;
	return attach_tcx_works(bond->dataplane.egress_fd, (int)bond_pin(bond)->ifindex)
		       ? XBOND_HOOK_TCX
		       : XBOND_HOOK_CLSACT;
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
	idle_turn();
	port = port_hooks_point(bond, false);
	egress = port_hooks_point(bond, true);
	r = bond_is_team(bond_pin(bond)) ? 0 : attach_add(&port, bond->dataplane.port_fd, err);
	if (r)
		return r;
	idle_turn();
	return port_hooks_need_egress(bond) ? port_hooks_attach_egress(bond, &egress, err)
					    : attach_prepare(&egress, err);
}

bool port_hooks_skip_filters(struct bond *bond)
{
	struct attach_point egress = port_hooks_point(bond, true);

	return attach_skips_others(&bond->daemon->nl, &egress, bond->dataplane.egress_fd);
}

static bool port_hooks_have_egress(const struct attach_point *egress)
{
	return egress->hook == XBOND_HOOK_CLSACT ? attach_has_filter(egress->ifindex, true)
						 : !access(egress->pin, F_OK);
}

void port_hooks_follow(struct bond *bond)
{
	struct attach_point egress = port_hooks_point(bond, true);
	bool wanted = port_hooks_need_egress(bond);
	struct err err;

	if (!bond_is_netkit(bond_pin(bond)) || bond_pin(bond)->netnsid >= 0 ||
	    wanted == port_hooks_have_egress(&egress))
		return;
	if (!wanted)
		attach_remove(&bond->daemon->nl, &egress, true);
	else if (port_hooks_attach_egress(bond, &egress, &err))
		event_error(bond_pin(bond)->name, NULL,
			    "queue_id and path direct have no effect: %s", err.text);
}
