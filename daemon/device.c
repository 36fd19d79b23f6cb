/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making the pair. Following it: device_sync.c. */
#include "daemon/device.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/attach.h"
#include "daemon/crashpoint.h"
#include "daemon/daemon.h"
#include "daemon/device_pair.h"
#include "daemon/idle.h"
#include "daemon/log.h"
#include "daemon/net/elsewhere.h"
#include "daemon/net/filters.h"
#include "daemon/net/ipv6.h"

#define PORT_MTU 65535 /* bond0's MTU alone decides */
#define FIRST_MTU 1500
#define NAME_TRIES 100

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

/* No address, no ARP, no IPv6: the port side is a socket in the wall. */
static int prepare_port(struct bond *bond, const char *alias, struct err *err)
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
	pin->ifindex = (__u32)port.lower;
	pin->mtu = FIRST_MTU;
	bond->dataplane.pins.table->port_ifindex = pin->port_ifindex;
	bond->dataplane.pins.table->bond_ifindex = pin->ifindex;
	snprintf(alias, sizeof(alias), DEVICE_PORT_ALIAS "%s", pin->name);
	return prepare_port(bond, alias, err);
}

struct attach_point device_attach_point(struct bond *bond, bool egress)
{
	struct xbond_bond *pin = bond_pin(bond);
	struct attach_point point = {
		.hook = pin->hook,
		.egress = egress,
		.ifindex = (int)(egress ? pin->ifindex : pin->port_ifindex),
	};

	if (!egress && device_pair_is_netkit(pin))
		point.hook = XBOND_HOOK_NETKIT;
	snprintf(point.pin, sizeof(point.pin), "%s/%s", bond->dataplane.pins.dir,
		 egress ? XBOND_PIN_LINK_EGRESS : XBOND_PIN_LINK_PORT);
	return point;
}

static enum xbond_hook choose_hook(struct bond *bond)
{
	if (bond->daemon->hook == HOOK_CLSACT)
		return XBOND_HOOK_CLSACT;
	if (bond->daemon->hook == HOOK_TCX)
		return XBOND_HOOK_TCX;
	return attach_tcx_works(bond->dataplane.egress_fd, (int)bond_pin(bond)->ifindex)
		       ? XBOND_HOOK_TCX
		       : XBOND_HOOK_CLSACT;
}

static bool has_queue_ids(struct bond *bond)
{
	bond_for_each_member (bond, slot)
		if (bond_slave(bond, slot)->queue_id)
			return true;
	return false;
}

bool device_needs_egress(struct bond *bond)
{
	return !device_pair_is_netkit(bond_pin(bond)) || has_queue_ids(bond) ||
	       bond->dataplane.pins.settings->path == XBOND_PATH_DIRECT;
}

int device_attach_egress(struct bond *bond, const struct attach_point *egress, struct err *err)
{
	const char *name = bond_pin(bond)->name;

	if (egress->hook == XBOND_HOOK_CLSACT &&
	    filters_has_ingress(&bond->daemon->nl, egress->ifindex))
		return err_set(err, EEXIST,
			       "an ingress qdisc on %s is where clsact must be, so direct and "
			       "queue_id have no "
			       "effect; 'tc qdisc del dev %s ingress'",
			       name, name);
	return attach_add(egress, bond->dataplane.egress_fd, err);
}

int device_attach(struct bond *bond, struct err *err)
{
	struct attach_point port, egress;
	int r;

	bond_pin(bond)->hook = choose_hook(bond);
	idle_turn();
	port = device_attach_point(bond, false);
	egress = device_attach_point(bond, true);
	r = attach_add(&port, bond->dataplane.port_fd, err);
	if (r)
		return r;
	idle_turn();
	return device_needs_egress(bond) ? device_attach_egress(bond, &egress, err)
					 : attach_prepare(&egress, err);
}

bool device_skips_filters(struct bond *bond)
{
	struct attach_point egress = device_attach_point(bond, true);

	return attach_skips_others(&bond->daemon->nl, &egress, bond->dataplane.egress_fd);
}

static bool has_egress(const struct attach_point *egress)
{
	return egress->hook == XBOND_HOOK_CLSACT ? attach_has_filter(egress->ifindex, true)
						 : !access(egress->pin, F_OK);
}

void device_follow_settings(struct bond *bond)
{
	struct attach_point egress = device_attach_point(bond, true);
	bool wanted = device_needs_egress(bond);
	struct err err;

	if (!device_pair_is_netkit(bond_pin(bond)) || bond_pin(bond)->netnsid >= 0 ||
	    wanted == has_egress(&egress))
		return;
	if (!wanted)
		attach_remove(&bond->daemon->nl, &egress, true);
	else if (device_attach_egress(bond, &egress, &err))
		log_error("%s: queue_id and path direct have no effect: %s", bond_pin(bond)->name,
			  err.text);
}

/*
 * By number if it is known already, else by a name that nobody but bondd gives; the peer may be
 * anywhere.
 */
void device_remove(struct nl *nl, const struct xbond_bond *pin)
{
	struct link_info port, device;
	bool is_pair;

	if ((link_get(nl, -1, (int)pin->port_ifindex, &port) || !device_is_port(&port)) &&
	    link_get_by_name(nl, pin->port_name, &port))
		return;
	if (!link_is_paired(&port))
		return;
	is_pair = !link_get_by_name(nl, pin->name, &device) && device.lower == port.ifindex;
	if (is_pair || device_is_port(&port))
		link_delete(nl, port.ifindex, NULL);
}

struct new_mac {
	int ifindex;
	const uint8_t *mac;
};

static int set_mac(struct nl *nl, const void *arg)
{
	const struct new_mac *new = arg;

	return link_set_mac(nl, new->ifindex, new->mac, NULL);
}

int device_set_mac(struct bond *bond, const uint8_t *mac, struct err *err)
{
	struct xbond_bond *pin = bond_pin(bond);
	const struct new_mac new = { .ifindex = (int)pin->ifindex, .mac = mac };
	int r;

	r = elsewhere_call(&bond->daemon->nl, pin->netnsid, set_mac, &new, err);
	if (!r)
		memcpy(pin->mac, mac, XBOND_MAC_SIZE);
	return r;
}
