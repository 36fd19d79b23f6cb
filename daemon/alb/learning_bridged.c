/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/alb/learning_bridged.h"

#include <linux/if_ether.h>
#include <string.h>

#include "daemon/alb/learning_macs.h"
#include "daemon/bond/daemon.h"
#include "network/fdb.h"

#define PORTS 64

/* bond0, or a VLAN device on it, as a port of a bridge. */
struct bridged_port {
	int bridge, ifindex;
	uint16_t vlan; /* of a VLAN device; otherwise LEARNING_ANY_VLAN */
};

struct bridged_ports {
	struct bond *bond;
	struct bridged_port list[PORTS];
	unsigned int count;
	const struct bridged_port *at; /* the one whose bridge is being read */
};

/* A port that the spanning tree blocks must attract nothing. */
static void bridged_take_link(const struct link_info *link, void *arg)
{
	struct bridged_ports *ports = arg;
	int ifindex = (int)bond_pin(ports->bond)->ifindex;
	bool is_bond = link->ifindex == ifindex;

	if (!link->forwards || ports->count == PORTS ||
	    (!is_bond && (!link_is_vlan_on(link, ifindex) || link->vlan_protocol != ETH_P_8021Q)))
		return;
	ports->list[ports->count++] = (struct bridged_port){
		.bridge = link->master,
		.ifindex = link->ifindex,
		.vlan = is_bond ? LEARNING_ANY_VLAN : (uint16_t)link->vlan_id,
	};
}

/* What bond0 does not send with a tag leaves untagged: it is in the VLAN that is untagged there. */
static uint16_t bridged_vlan(struct bond *bond, const struct bridged_port *port, uint16_t vlan)
{
	if (port->vlan != LEARNING_ANY_VLAN || !vlan || vlan >= BOND_VLANS)
		return port->vlan;
	return bond->learning.vlan[vlan / 64] >> vlan % 64 & 1 ? vlan : 0;
}

static void bridged_add(struct bond *bond, const struct bridged_port *port, const uint8_t *mac,
			uint16_t vlan)
{
	struct bond_bridged *place = &bond->learning.bridged[bond->learning.bridged_count];

	if (bond->learning.bridged_count == BOND_BRIDGED || learning_is_of_router(mac) ||
	    !memcmp(mac, bond_pin(bond)->mac, XBOND_MAC_SIZE))
		return;
	memcpy(place->mac, mac, XBOND_MAC_SIZE);
	place->vlan = bridged_vlan(bond, port, vlan);
	bond->learning.bridged_count++;
}

static void bridged_take_entry(const struct fdb_entry *entry, void *arg)
{
	struct bridged_ports *ports = arg;

	if (entry->port != ports->at->ifindex)
		bridged_add(ports->bond, ports->at, entry->mac, entry->vlan);
}

static void bridged_read_bridge(struct bridged_ports *ports)
{
	struct nl *nl = &ports->bond->daemon->nl;
	struct link_info bridge;

	if (!link_get(nl, -1, ports->at->bridge, &bridge) && bridge.has_mac)
		bridged_add(ports->bond, ports->at, bridge.mac, 0);
	fdb_visit(nl, ports->at->bridge, bridged_take_entry, ports);
}

void learning_read_bridged(struct bond *bond)
{
	struct bridged_ports ports = { .bond = bond };
	unsigned int active = bond_pin(bond)->active_slot;

	if (bond->learning.bridged_for == active + 1 || !learning_has_link(bond, active))
		return;
	bond->learning.bridged_for = active + 1;
	bond->learning.bridged_count = bond->learning.bridged_at = 0;
	if (bond_pin(bond)->netnsid >= 0)
		return;
	link_visit_once(&bond->daemon->nl, -1, bridged_take_link, &ports);
	for (unsigned int i = 0; i < ports.count; i++) {
		ports.at = &ports.list[i];
		bridged_read_bridge(&ports);
	}
}
