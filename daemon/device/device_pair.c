/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/device/device_pair.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/mac.h"
#include "daemon/bond/daemon.h"
#include "network/team.h"

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

int device_pair_make(struct bond *bond, uint32_t bond_mtu, uint32_t port_mtu, struct err *err)
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
