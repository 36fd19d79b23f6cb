/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Follows bond0: where it is, and what people have changed on it. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "daemon/base/event.h"
#include "daemon/bond/attach_check.h"
#include "daemon/bond/daemon.h"
#include "daemon/bond/evaluate.h"
#include "daemon/bond/part.h"
#include "daemon/bond/port_hooks.h"
#include "daemon/dataplane/attach.h"
#include "daemon/device/device.h"
#include "daemon/device/device_values.h"
#include "daemon/slave/slave_rx.h"
#include "daemon/slave/slave.h"
#include "daemon/slave/xdp_hooks.h"

/* When bonds have swapped names, each has the other's directory until both are processed. */
static int device_sync_move_pins(struct bond *bond, const char *name, struct err *err)
{
	struct bond *other = daemon_find_bond(bond->daemon, name);

	if (other && !other->device.away)
		return dataplane_swap(&bond->dataplane, &other->dataplane, err);
	return dataplane_rename(&bond->dataplane, bond->daemon->paths.bpf_dir, name, err);
}

static void device_sync_follow_name(struct bond *bond, const char *name)
{
	struct xbond_bond *pin = bond_pin(bond);
	char port_name[XBOND_NAME_SIZE], alias[64];
	struct err err;

	if (!strcmp(pin->name, name) || bond->device.away)
		return;
	if (device_sync_move_pins(bond, name, &err)) {
		if (strcmp(bond->device.refused_name, name))
			event_warning(pin->name, NULL,
				      "is now called %s, but keeps its name here: %s", name,
				      err.text);
		snprintf(bond->device.refused_name, sizeof(bond->device.refused_name), "%s", name);
		return;
	}
	event_notice(pin->name, NULL, "is now called %s", name);
	memcpy(pin->name, name, XBOND_NAME_SIZE);
	if (bond_is_team(pin)) {
		memcpy(pin->port_name, name, XBOND_NAME_SIZE);
		return;
	}
	snprintf(alias, sizeof(alias), BOND_PORT_ALIAS "%s", name);
	link_set_alias(&bond->daemon->nl, (int)pin->port_ifindex, alias, NULL);
	/* Kernels before 6.2 do not rename a device that is up; there, the alias has the name. */
	if (!device_port_name(&bond->daemon->nl, name, port_name, NULL) &&
	    !link_set_name(&bond->daemon->nl, (int)pin->port_ifindex, port_name, NULL))
		memcpy(pin->port_name, port_name, XBOND_NAME_SIZE);
}

static void device_sync_follow_promisc(struct bond *bond, bool promisc)
{
	if (bond->device.promisc == promisc)
		return;
	bond->device.promisc = promisc;
	parts_hear(bond, PART_BOND, NEWS_PROMISC, NULL, false);
	slave_multicast_follow_soon(bond);
}

/* Another device may have got its number, and people may have changed its alias or its name. */
static bool device_sync_is_our_port(const struct xbond_bond *pin, const struct link_info *port)
{
	return link_is_paired(port) &&
	       (bond_is_port_side(port) || !strcmp(port->name, pin->port_name) ||
		port->lower == (int)pin->ifindex);
}

/* `direct` is forbidden before anything else happens, and allowed again after everything else. */
static void device_sync_follow_place(struct bond *bond, const struct link_info *port)
{
	struct xbond_bond *pin = bond_pin(bond);
	bool away = port->lower_nsid >= 0, changed = away != bond->device.away;

	bond->device.left |= away || pin->ifindex != (__u32)port->lower;
	pin->netnsid = port->lower_nsid;
	pin->ifindex = (__u32)port->lower;
	bond->dataplane.pins.table->bond_ifindex = away ? 0 : pin->ifindex;
	attach_check_pair(bond, bond->device.left);
	if (changed)
		event_notice(pin->name, NULL, "%s",
			     away ? "was moved to another namespace" : "is back in this namespace");
	bond->device.away = away;
	if (bond->device.left && !away) {
		bond->device.left = false;
		slave_rx_skip_backlog_all(bond);
	}
	if (changed)
		bond_evaluate(bond);
}

static void device_sync_follow_carrier(struct bond *bond, bool carrier)
{
	if (bond->device.port_up == carrier)
		return;
	bond->device.port_up = carrier; /* somebody else has changed it */
	bond_evaluate(bond);
}

/* Finds the pair, and follows its port side. Returns -ENODEV or -EAGAIN. */
static int device_sync_pair(struct bond *bond, struct link_info *ret_device)
{
	const struct xbond_bond *pin = bond_pin(bond);
	struct nl *nl = &bond->daemon->nl;
	struct link_info port;
	int r = link_get(nl, -1, (int)pin->port_ifindex, &port);

	if (r == -ENODEV || (!r && !device_sync_is_our_port(pin, &port)))
		return -ENODEV;
	if (r)
		return -EAGAIN;
	device_sync_follow_place(bond, &port);
	device_sync_follow_carrier(bond, port.flags & IFF_UP);
	return link_get(nl, port.lower_nsid, port.lower, ret_device) ? -EAGAIN : 0;
}

/* Where device_is_our_team() says no, it may not have been able to ask. */
static int device_sync_has_program(struct bond *bond)
{
	struct attach_point point = port_hooks_point(bond, true);
	int r = attach_is_there(&point);

	return r < 0 ? r : r ? 0 : -ENODEV;
}

/* A team stays in its namespace. While it is down, its carrier cannot be read. */
static int device_sync_team(struct bond *bond, struct link_info *ret_device)
{
	int r = link_get(&bond->daemon->nl, -1, (int)bond_pin(bond)->ifindex, ret_device);

	if (!r && !device_is_our_team(bond_pin(bond), ret_device))
		r = device_sync_has_program(bond);
	if (r)
		return r == -ENODEV ? r : -EAGAIN;
	attach_check_pair(bond, false);
	if (ret_device->flags & IFF_UP)
		device_sync_follow_carrier(bond, ret_device->carrier);
	return 0;
}

static void device_sync_follow(struct bond *bond, const struct link_info *device)
{
	bool has_qdisc, has_xdp, is_down, has_changed;

	device_sync_follow_name(bond, device->name);
	device_follow_mac(bond, device->mac);
	device_follow_mtu(bond, device->mtu);
	device_sync_follow_promisc(bond, device->promiscuity > 0);
	has_qdisc = strcmp(device->qdisc, "noqueue") && strcmp(device->qdisc, "noop");
	is_down = !(device->flags & IFF_UP);
	has_xdp = device->xdp_id;
	has_changed = bypass_look_for_filters(bond) || has_qdisc != bond->device.has_qdisc ||
		      has_xdp != bond->device.has_xdp || is_down != bond->device.is_down;
	bond->device.has_qdisc = has_qdisc;
	bond->device.has_xdp = has_xdp;
	bond->device.is_down = is_down;
	xdp_gro_keep(bond);
	if (has_changed)
		bond_evaluate(bond);
}

int device_sync(struct bond *bond)
{
	struct link_info device;
	int r = bond_is_team(bond_pin(bond)) ? device_sync_team(bond, &device)
					     : device_sync_pair(bond, &device);

	/*
	 * -EAGAIN: the kernel could not answer, and the next tick asks again; or bond0 is moving
	 * between namespaces, and the next message tells.
	 */
	if (!r)
		device_sync_follow(bond, &device);
	return r == -ENODEV ? r : 0;
}

void device_note_left(struct bond *bond)
{
	bond->device.left = true;
}
