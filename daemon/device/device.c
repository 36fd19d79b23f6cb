/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes the pair or the team. device_sync.c follows it. */
#include "daemon/device/device.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/mac.h"
#include "daemon/base/child.h"
#include "daemon/base/crashpoint.h"
#include "daemon/bond/bond.h"
#include "daemon/bond/daemon.h"
#include "daemon/dataplane/attach.h"
#include "network/bonding.h"
#include "network/ip.h"

#define PORT_MTU 65535 /* only bond0's MTU decides */
#define FIRST_MTU 1500
#define NAME_TRIES 100

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
	if (pin->device == XBOND_DEVICE_AUTO && !device_pair_asks_for_xdp(pin))
		r = device_pair_try_netkit(bond, &device, &port, err);
	return r == -EOPNOTSUPP ? device_pair_make_veth(bond, &device, &port, err) : r;
}

int device_port_name(struct nl *nl, const char *bond_name, char ret_name[XBOND_NAME_SIZE],
		     struct err *err)
{
	struct link_info link;

	snprintf(ret_name, XBOND_NAME_SIZE, "xb-%.12s", bond_name);
	for (unsigned int i = 1; i < NAME_TRIES; i++) {
		if (link_get_by_name(nl, ret_name, &link))
			return 0;
		snprintf(ret_name, XBOND_NAME_SIZE, "xb-%.9s~%u", bond_name, i % NAME_TRIES);
	}
	return err_set(err, EEXIST, "no free name for the port side of %s", bond_name);
}

/* No address, no ARP, no IPv6: the port side is only a connector. */
static int device_prepare_port(struct bond *bond, const char *alias, struct err *err)
{
	struct xbond_bond *pin = bond_pin(bond);
	struct nl *nl = &bond->daemon->nl;
	int r;

	r = link_set_alias(nl, (int)pin->port_ifindex, alias, err);
	if (!r)
		r = link_set_flags(nl, (int)pin->port_ifindex, IFF_NOARP, IFF_NOARP, err);
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
	r = ipv6_set_default_dad(pin->name);
	if (r)
		return err_set(err, -r, "cannot turn duplicate address detection on for %s: %s",
			       pin->name, strerror(-r));
	snprintf(alias, sizeof(alias), BOND_PORT_ALIAS "%s", pin->name);
	return device_prepare_port(bond, alias, err);
}

/* It was just made, and has its address; or our program is on it, whatever its address is now. */
bool device_is_our_team(const struct xbond_bond *pin, const struct link_info *device)
{
	return !strcmp(device->kind, TEAM_KIND) &&
	       (!memcmp(device->mac, pin->mac, XBOND_MAC_SIZE) ||
		attach_has_program(device->ifindex, true, "xbond_egress") ||
		attach_has_filter(device->ifindex, true));
}

/* If it has just been made, its number is not known yet. */
static int device_remove_team(struct nl *nl, const struct xbond_bond *pin)
{
	struct link_info device;
	int r = link_get(nl, -1, (int)pin->ifindex, &device);

	if (r == -ENODEV || (!r && !device_is_our_team(pin, &device)))
		r = link_get_by_name(nl, pin->name, &device);
	if (r || !device_is_our_team(pin, &device))
		return r;
	return link_delete(nl, device.ifindex, NULL);
}

/*
 * Found by its number if that is known, else by a name that only bondd gives. The peer may be in
 * any namespace.
 */
static int device_remove_pair(struct nl *nl, const struct xbond_bond *pin)
{
	struct link_info port, device;
	int r = link_get(nl, -1, (int)pin->port_ifindex, &port);

	if (r == -ENODEV || (!r && !bond_is_port_side(&port)))
		r = link_get_by_name(nl, pin->port_name, &port);
	if (r || !link_is_paired(&port))
		return r;
	if (!bond_is_port_side(&port)) {
		r = link_get_by_name(nl, pin->name, &device);
		if (r || device.lower != port.ifindex)
			return r;
	}
	return link_delete(nl, port.ifindex, NULL);
}

int device_remove(struct nl *nl, const struct xbond_bond *pin)
{
	int r = bond_is_team(pin) ? device_remove_team(nl, pin) : device_remove_pair(nl, pin);

	return r == -ENODEV ? 0 : r;
}

struct new_mac {
	int ifindex;
	const uint8_t *mac;
};

static int device_change_mac(struct nl *nl, const void *arg)
{
	const struct new_mac *new = arg;

	return link_set_mac(nl, new->ifindex, new->mac, NULL);
}

int device_set_mac(struct bond *bond, const uint8_t *mac, struct err *err)
{
	struct xbond_bond *pin = bond_pin(bond);
	const struct new_mac new = { .ifindex = (int)pin->ifindex, .mac = mac };
	int r;

	r = netns_call(&bond->daemon->nl, pin->netnsid, device_change_mac, &new, err);
	crashpoint("bond-mac-set");
	if (!r)
		memcpy(pin->mac, mac, XBOND_MAC_SIZE);
	return r;
}
