/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes the pair or the team, finds it wherever it was moved, and follows what others change. */
#include "daemon/device/device.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/mac.h"
#include "common/paths.h"
#include "daemon/base/crashpoint.h"
#include "daemon/base/event.h"
#include "daemon/base/worker.h"
#include "daemon/bond/attach_check.h"
#include "daemon/bond/bond.h"
#include "daemon/bond/daemon.h"
#include "daemon/bond/evaluate.h"
#include "daemon/bond/part.h"
#include "daemon/dataplane/attach.h"
#include "daemon/slave/slave.h"
#include "daemon/slave/slave_rx.h"
#include "network/bonding.h"
#include "network/ip.h"
#include "options/option_set.h"

#define FIRST_MTU 1500

/*
 * The kinds of device that bond0 can be: one end of a pair, of two kinds, or a team. Decides which
 * one a bond gets, and makes it. Knows nothing of programs.
 */

static bool device_pair_asks_for_xdp(const struct xbond_bond *pin)
{
	return pin->rx_hook != XBOND_RX_TC || pin->xdp_tx;
}

static unsigned int device_pair_queue_count(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return cpus > 0 ? (unsigned int)cpus : 1;
}

/*
 * The port side is the primary, because redirects resolve in the primary's namespace, wherever
 * bond0 is.
 */
static int device_pair_make_netkit(struct bond *bond, const struct link_end *device,
				   const struct link_end *port, struct err *err)
{
	struct xbond_bond *pin = bond_pin(bond);
	int r;

	pin->device_kind = XBOND_DEVICE_NETKIT;
	r = link_create_netkit(&bond->daemon->nl, port, device, err);
	if (r != -EOPNOTSUPP)
		return r;
	return err_set(err, EOPNOTSUPP,
		       "device: this kernel has no netkit that takes a MAC address (that needs "
		       "Linux 6.10 with CONFIG_NETKIT); use device veth or auto");
}

static int device_pair_make_veth(struct bond *bond, const struct link_end *device,
				 const struct link_end *port, struct err *err)
{
	bond_pin(bond)->device_kind = XBOND_DEVICE_VETH;
	return link_create_veth(&bond->daemon->nl, device, port, err);
}

/*
 * Also -EOPNOTSUPP if the netkit clears priorities. A veth is better then, because it carries them
 * across in tc_index.
 */
static int device_pair_try_netkit(struct bond *bond, const struct link_end *device,
				  const struct link_end *port, struct err *err)
{
	struct nl *nl = &bond->daemon->nl;
	struct link_info made;
	int r = device_pair_make_netkit(bond, device, port, err);

	if (r)
		return r;
	r = link_get_by_name(nl, port->name, &made);
	if (!r && made.keeps_priority)
		return 0;
	if (r)
		return err_set(err, -r, "%s has gone while %s was made; try again", port->name,
			       device->name);
	r = link_delete(nl, made.ifindex, err);
	return r ? r : -EOPNOTSUPP;
}

/* There is no other end, so the name and the ifindex of the port side are bond0's. */
static int device_pair_make_team(struct bond *bond, const struct link_end *device, struct err *err)
{
	struct xbond_bond *pin = bond_pin(bond);
	int ifindex, r;

	pin->device_kind = XBOND_DEVICE_TEAM;
	memcpy(pin->port_name, pin->name, XBOND_NAME_SIZE);
	r = team_create(&bond->daemon->nl, device, &ifindex, err);
	if (r == -EOPNOTSUPP)
		return err_set(
			err, EOPNOTSUPP,
			"device: this kernel has no team (CONFIG_NET_TEAM, module team); use "
			"device netkit, veth or auto");
	if (r || !pin->team_sends)
		return r;
	r = team_let_send(ifindex, XBOND_MAX_SLAVES, err);
	pin->team_sends = !r;
	if (r != -EOPNOTSUPP)
		return r;
	if (bond->dataplane.pins.settings->path == XBOND_PATH_DIRECT)
		return 0;
	return err_set(err, EOPNOTSUPP,
		       "path: this kernel has no teams that count (module team_mode_loadbalance); "
		       "use path direct");
}

/* -EOPNOTSUPP: the kernel has no team, or none that sends as the bond shall. There is none then. */
static int device_pair_try_team(struct bond *bond, const struct link_end *device, struct err *err)
{
	struct xbond_bond *pin = bond_pin(bond);
	char port_name[XBOND_NAME_SIZE];
	int r, left;

	memcpy(port_name, pin->port_name, sizeof(port_name));
	r = device_pair_make_team(bond, device, err);
	if (r != -EOPNOTSUPP)
		return r;
	left = device_remove(&bond->daemon->nl, pin);
	if (left)
		return err_set(err, -left, "%s, a team, cannot be removed again: %s", pin->name,
			       strerror(-left));
	pin->team_sends = false;
	memcpy(pin->port_name, port_name, sizeof(port_name));
	return r;
}

/*
 * Makes the pair with the names of the bond, or the team, and records its kind. -EOPNOTSUPP: netkit
 * or a team was requested by name.
 */
static int device_pair_make(struct bond *bond, uint32_t bond_mtu, uint32_t port_mtu,
			    struct err *err)
{
	const struct xbond_bond *pin = bond_pin(bond);
	struct link_end device = { .name = pin->name,
				   .mac = pin->mac,
				   .mtu = bond_mtu,
				   .queues = device_pair_queue_count() };
	struct link_end port = { .name = pin->port_name, .mtu = port_mtu, .queues = device.queues };
	uint8_t port_mac[XBOND_MAC_SIZE];
	int r = -EOPNOTSUPP;

	mac_random(port_mac);
	port.mac = port_mac;
	if (pin->device == XBOND_DEVICE_TEAM)
		return device_pair_make_team(bond, &device, err);
	if (pin->device == XBOND_DEVICE_NETKIT)
		return device_pair_make_netkit(bond, &device, &port, err);
	if (pin->device == XBOND_DEVICE_AUTO && pin->team_sends) {
		r = device_pair_try_team(bond, &device, err);
		if (r != -EOPNOTSUPP)
			return r;
	}
	if (pin->device != XBOND_DEVICE_VETH && !device_pair_asks_for_xdp(pin))
		r = device_pair_try_netkit(bond, &device, &port, err);
	return r == -EOPNOTSUPP ? device_pair_make_veth(bond, &device, &port, err) : r;
}

void device_choose(struct nl *nl, struct xbond_bond *pin)
{
	if (pin->device == XBOND_DEVICE_AUTO)
		pin->team_sends = !option_against_team(pin) && link_knows_kind(nl, TEAM_KIND);
}

/* No address, no ARP, no IPv6, no carrier by IFF_RUNNING: the port side is only a connector. */
static int device_prepare_port(struct bond *bond, const char *alias, struct err *err)
{
	struct xbond_bond *pin = bond_pin(bond);
	struct nl *nl = &bond->daemon->nl;
	int r;

	r = link_set_alias(nl, (int)pin->port_ifindex, alias, err);
	if (!r)
		r = link_set_flags(nl, (int)pin->port_ifindex, IFF_NOARP, IFF_NOARP, err);
	if (!r)
		r = link_set_dormant(nl, (int)pin->port_ifindex, err);
	if (r)
		return r;
	r = ipv6_set_disabled(pin->port_name, 1);
	return r ? err_set(err, -r, "cannot turn IPv6 off on %s: %s", pin->port_name, strerror(-r))
		 : 0;
}

int device_create(struct bond *bond, struct err *err)
{
	struct xbond_bond *pin = bond_pin(bond);
	struct nl *nl = &bond->daemon->nl;
	struct link_info port;
	char alias[64];
	int r;

	r = device_pair_make(bond, FIRST_MTU, PORT_MTU, err);
	crashpoint("create-device");
	if (r)
		return r;
	r = link_get_by_name(nl, pin->port_name, &port);
	if (r)
		return err_set(err, -r, "%s has gone while %s was made; try again", pin->port_name,
			       pin->name);
	pin->port_ifindex = (__u32)port.ifindex;
	pin->ifindex = (__u32)(bond_is_team(pin) ? port.ifindex : port.lower);
	pin->mtu = FIRST_MTU;
	bond->dataplane.pins.table->port_ifindex = pin->port_ifindex;
	bond->dataplane.pins.table->bond_ifindex = pin->ifindex;
	if (bond_is_team(pin))
		return 0;
	/*
	 * The kernel does that itself, but not for a device that is made without ARP, as a netkit
	 * is: it would never detect that another host has its address.
	 */
	r = sysctl_copy("ipv6/conf", "default", pin->name, "accept_dad");
	if (r)
		return err_set(err, -r, "cannot turn duplicate address detection on for %s: %s",
			       pin->name, strerror(-r));
	snprintf(alias, sizeof(alias), BOND_PORT_ALIAS "%s", pin->name);
	return device_prepare_port(bond, alias, err);
}

/* It was just made, and has its address; or our program is on it, whatever its address is now. */
static bool device_is_our_team(const struct xbond_bond *pin, const struct link_info *device)
{
	return !strcmp(device->kind, TEAM_KIND) &&
	       (mac_is_same(device->mac, pin->mac) ||
		attach_has_program(device->ifindex, true, "xbond_egress") ||
		attach_has_egress_filter(device->ifindex));
}

/* The number of a new one is not known yet; by the name alone it may be another bondd's. */
static int device_remove_team(struct nl *nl, const struct xbond_bond *pin)
{
	struct link_info device;
	int r = link_get(nl, -1, (int)pin->ifindex, &device);

	if (r == -ENODEV || (!r && !device_is_our_team(pin, &device))) {
		r = link_get_by_name(nl, pin->name, &device);
		if (!r && !mac_is_same(device.mac, pin->mac))
			return 0;
	}
	if (r || !device_is_our_team(pin, &device))
		return r;
	return link_delete(nl, device.ifindex, NULL);
}

/*
 * Found by its number if that is known; the peer may be in any namespace. Else by the names and the
 * address of one that has just been made: another bondd may have given the same names.
 */
static int device_remove_pair(struct nl *nl, const struct xbond_bond *pin)
{
	struct link_info port, device;
	int r = link_get(nl, -1, (int)pin->port_ifindex, &port);

	if (r == -ENODEV || (!r && !bond_is_port_side(&port))) {
		r = link_get_by_name(nl, pin->port_name, &port);
		if (!r)
			r = link_get_by_name(nl, pin->name, &device);
		if (!r && (device.lower != port.ifindex || !mac_is_same(device.mac, pin->mac)))
			return 0;
	}
	if (r || !link_is_paired(&port))
		return r;
	return link_delete(nl, port.ifindex, NULL);
}

int device_remove(struct nl *nl, const struct xbond_bond *pin)
{
	int r = bond_is_team(pin) ? device_remove_team(nl, pin) : device_remove_pair(nl, pin);

	return r == -ENODEV ? 0 : r;
}

/* Follows bond0: where it is, and what people have changed on it. */

static bool device_has_pins_as(const struct bond *bond, const char *name)
{
	return !strcmp(paths_base(bond->dataplane.pins.dir), name);
}

/*
 * When bonds have swapped names, each has the other's directory until both are processed. By then
 * one may have its old name again.
 */
static int device_sync_move_pins(struct bond *bond, const char *name, struct err *err)
{
	struct bond *other = bond->daemon->bonds;

	while (other && !device_has_pins_as(other, name))
		other = other->next;
	if (other && !other->device.away)
		return dataplane_swap(&bond->dataplane, &other->dataplane, err);
	return dataplane_rename(&bond->dataplane, bond->daemon->paths.bpf_dir, name, err);
}

static void device_hear_name(struct bond *bond, const char *name)
{
	struct xbond_bond *pin = bond_pin(bond);
	struct err err;

	if ((!strcmp(pin->name, name) && device_has_pins_as(bond, name)) || bond->device.away)
		return;
	if (device_sync_move_pins(bond, name, &err)) {
		if (strcmp(bond->device.refused_name, name))
			event_warning(pin->name, NULL,
				      "is now called %s, but keeps its name here: %s", name,
				      err.text);
		snprintf(bond->device.refused_name, sizeof(bond->device.refused_name), "%s", name);
		return;
	}
	if (!strcmp(pin->name, name))
		return;
	event_notice(pin->name, NULL, "is now called %s", name);
	memcpy(pin->name, name, XBOND_NAME_SIZE);
	if (bond_is_team(pin)) {
		memcpy(pin->port_name, name, XBOND_NAME_SIZE);
		return;
	}
	device_name_port(bond, NULL);
}

static void device_hear_promisc(struct bond *bond, bool promisc)
{
	if (bond->device.promisc == promisc)
		return;
	bond->device.promisc = promisc;
	parts_hear(bond, PART_BOND, NEWS_PROMISC, NULL, false);
	slave_multicast_settle_soon(bond);
}

/* Another device may have got its number, and people may have changed its alias or its name. */
static bool device_sync_is_our_port(const struct xbond_bond *pin, const struct link_info *port)
{
	return link_is_paired(port) &&
	       (bond_is_port_side(port) || !strcmp(port->name, pin->port_name) ||
		port->lower == (int)pin->ifindex);
}

/* `direct` is forbidden before anything else happens, and allowed again after everything else. */
static void device_hear_place(struct bond *bond, const struct link_info *port)
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
	if (!away)
		bond->device.left = false;
	if (changed)
		bond_evaluate(bond);
}

static void device_hear_carrier(struct bond *bond, bool carrier)
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
	device_hear_place(bond, &port);
	device_hear_carrier(bond, port.flags & IFF_UP);
	if (link_get(nl, port.lower_nsid, port.lower, ret_device))
		return -EAGAIN;
	device_hear_port_mtu(bond, port.mtu, ret_device->mtu);
	device_name_port(bond, &port);
	return 0;
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
		device_hear_carrier(bond, ret_device->carrier);
	return 0;
}

static void device_hear(struct bond *bond, const struct link_info *device)
{
	bool has_qdisc, has_xdp, is_down, has_changed;

	device_hear_name(bond, device->name);
	device_hear_mac(bond, device->mac);
	device_hear_mtu(bond, device->mtu);
	device_hear_promisc(bond, device->promiscuity > 0);
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
		device_hear(bond, &device);
	return r == -ENODEV ? r : 0;
}

void device_note_left(struct bond *bond)
{
	bond->device.left = true;
}
