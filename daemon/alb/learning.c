/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/alb/alb.h"

#include <arpa/inet.h>
#include <net/ethernet.h>
#include <string.h>

#include "bpf/slots.h"
#include "common/clock.h"
#include "common/mac.h"
#include "daemon/bond/bond.h"
#include "daemon/bond/daemon.h"
#include "daemon/monitor/arp.h"
#include "network/mac_lists.h"

#define LEARNING_ABOVE 256    /* addresses of devices above bond0 that switches are taught */
#define LEARNING_BRIDGED 1024 /* addresses behind other ports of bond0's bridge */
#define LEARNING_VLANS (64 * XBOND_VLAN_WORDS)

struct learning_bridged {
	uint8_t mac[XBOND_MAC_SIZE];
	uint16_t vlan; /* 0: untagged, or LEARNING_ANY_VLAN */
};

struct learning {
	uint64_t last_ns; /* when the last round of learning packets began */
	/* Goes on here, with this slave in this VLAN; 0: begins with the next round. */
	unsigned int at;
	bool moved; /* this round tells everybody, not only the next switch */
	/* VLANs of this time and the one before, and when this one began. */
	uint64_t vlan[XBOND_VLAN_WORDS], vlan_before[XBOND_VLAN_WORDS], began_ns;
	/* Slots without a link whose addresses the active slave has taught. */
	uint64_t orphans, stands_in_until_ns;
	/* Addresses of devices above bond0, and when they were read. */
	uint8_t above[LEARNING_ABOVE][XBOND_MAC_SIZE];
	unsigned int above_count;
	uint64_t above_ns;
	/* Taught once at each active slave, by steps. */
	struct learning_bridged bridged[LEARNING_BRIDGED];
	unsigned int bridged_count, bridged_at;
	unsigned int bridged_for; /* this slot + 1; 0: to be read */
};

static struct learning *learning_of(const struct bond *bond)
{
	return part_of_bond(bond, &learning_part);
}

/*
 * Which addresses the switches are to find at which slave: its own, and at the active one also
 * those of devices above bond0 and, in balance-alb, those of slaves that have no link. So frames of
 * clients that still send to such a slave reach bond0.
 */
#define LEARNING_MACS (XBOND_MAX_SLAVES + 1)

#define ABOVE_NS (10 * NS_PER_S)

static bool learning_has_link(struct bond *bond, unsigned int slot)
{
	return slot < XBOND_MAX_SLAVES && bond_is_member(bond, slot) &&
	       bond_slave(bond, slot)->link != XBOND_LINK_DOWN;
}

/* What the slave sends as; NULL: it has the bond's address still, or no link. */
static const uint8_t *learning_own_mac(struct bond *bond, unsigned int slot)
{
	const struct xbond_bond *pin = bond_pin(bond);
	const struct xbond_slave *slave = bond_slave(bond, slot);

	if (!learning_has_link(bond, slot) || mac_is_zero(slave->mac))
		return NULL;
	if (slot == pin->active_slot)
		return pin->mac;
	return mac_is_same(slave->mac, pin->mac) ? NULL : slave->mac;
}

static uint64_t learning_orphans(struct bond *bond)
{
	const struct xbond_bond *pin = bond_pin(bond);
	uint64_t orphans = 0;

	if (!mode_has(pin->mode, MODE_RECEIVES) || !learning_has_link(bond, pin->active_slot))
		return 0;
	bond_for_each_member (bond, slot) {
		const uint8_t *mac = bond_slave(bond, slot)->mac;

		if (!learning_has_link(bond, slot) && !mac_is_zero(mac) &&
		    !mac_is_same(mac, pin->mac))
			orphans |= slots_bit(slot);
	}
	return orphans;
}

static size_t learning_macs(struct bond *bond, unsigned int slot,
			    const uint8_t *ret_macs[LEARNING_MACS])
{
	const uint8_t *own = learning_own_mac(bond, slot);
	uint64_t orphans = learning_orphans(bond);
	size_t count = 0;

	if (!own)
		return 0;
	ret_macs[count++] = own;
	if (slot != bond_pin(bond)->active_slot)
		return count;
	slots_for_each (orphans, other)
		ret_macs[count++] = bond_slave(bond, other)->mac;
	return count;
}

static void learning_take_above(const uint8_t mac[XBOND_MAC_SIZE], void *arg)
{
	struct bond *bond = arg;

	if (learning_of(bond)->above_count == LEARNING_ABOVE || mac_is_of_router(mac) ||
	    mac_is_zero(mac) || mac_is_same(mac, bond_pin(bond)->mac))
		return;
	memcpy(learning_of(bond)->above[learning_of(bond)->above_count++], mac, XBOND_MAC_SIZE);
}

/* In another namespace the list cannot be read without a process there. */
static void learning_read_above(struct bond *bond, uint64_t now_ns)
{
	const struct xbond_bond *pin = bond_pin(bond);

	if (learning_of(bond)->above_ns && now_ns - learning_of(bond)->above_ns < ABOVE_NS)
		return;
	learning_of(bond)->above_ns = now_ns;
	learning_of(bond)->above_count = 0;
	if (pin->netnsid < 0)
		unicast_visit(&bond->daemon->nl, (int)pin->ifindex, learning_take_above, bond);
}

#define VLAN_AGE_NS (300 * NS_PER_S) /* as long as switches usually keep what they know */
#define STANDS_IN_NS (10 * NS_PER_S) /* as the kernel's driver */
#define FRAMES_PER_TICK 256	     /* many VLANs take several ticks */
#define LEARNING_ANY_VLAN 0xffff     /* in every VLAN that bond0 sends in */
#define PORTS 64

/*
 * The addresses behind the other ports of a bridge that bond0, or a VLAN device on it, is a port
 * of: virtual machines, for instance. When another slave is active, switches still send to the one
 * that was, which drops that. What such hosts send leaves with slaves' addresses, so it would teach
 * the switches nothing.
 */

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
	if (port->vlan != LEARNING_ANY_VLAN || !vlan || vlan >= LEARNING_VLANS)
		return port->vlan;
	return learning_of(bond)->vlan[vlan / 64] >> vlan % 64 & 1 ? vlan : 0;
}

static void bridged_add(struct bond *bond, const struct bridged_port *port, const uint8_t *mac,
			uint16_t vlan)
{
	struct learning_bridged *place =
		&learning_of(bond)->bridged[learning_of(bond)->bridged_count];

	if (learning_of(bond)->bridged_count == LEARNING_BRIDGED || mac_is_of_router(mac) ||
	    mac_is_same(mac, bond_pin(bond)->mac))
		return;
	memcpy(place->mac, mac, XBOND_MAC_SIZE);
	place->vlan = bridged_vlan(bond, port, vlan);
	learning_of(bond)->bridged_count++;
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

/*
 * Reads them into the state, if that has those of another active slave, or none, and if the
 * active slave has a link. At most LEARNING_BRIDGED.
 */
static void learning_read_bridged(struct bond *bond)
{
	struct bridged_ports ports = { .bond = bond };
	unsigned int active = bond_pin(bond)->active_slot;

	if (learning_of(bond)->bridged_for == active + 1 || !learning_has_link(bond, active))
		return;
	learning_of(bond)->bridged_for = active + 1;
	learning_of(bond)->bridged_count = learning_of(bond)->bridged_at = 0;
	if (bond_pin(bond)->netnsid >= 0)
		return;
	link_visit_once(&bond->daemon->nl, -1, bridged_take_link, &ports);
	for (unsigned int i = 0; i < ports.count; i++) {
		ports.at = &ports.list[i];
		bridged_read_bridge(&ports);
	}
}

struct learning_frame {
	struct ether_header eth;
	uint8_t padding[46];
} __attribute__((packed));

struct learning_tagged_frame {
	struct ether_header eth;
	uint16_t tci, type;
	uint8_t padding[46];
} __attribute__((packed));
_Static_assert(sizeof(struct learning_tagged_frame) <= ARP_FRAME_SIZE, "arp_sender takes it");

static bool learning_is_on(struct bond *bond)
{
	return bond_is_ready(bond) && !bond->device.is_down && bond->dataplane.pins.alb &&
	       bond->dataplane.pins.vlans && mode_has(bond_pin(bond)->mode, MODE_OWN_MACS);
}

/* What was left out meanwhile is sent as soon as it is on again. */
static bool learning_goes_on(struct bond *bond)
{
	bool on = learning_is_on(bond);

	if (!on)
		learning_of(bond)->last_ns = 0;
	return on;
}

static void learning_fill(struct ether_header *eth, const uint8_t *mac, uint16_t type)
{
	memcpy(eth->ether_dhost, mac, XBOND_MAC_SIZE);
	memcpy(eth->ether_shost, mac, XBOND_MAC_SIZE);
	eth->ether_type = htons(type);
}

/* As the kernel's driver. The switch keeps it to itself. */
static void learning_tell_switch(struct bond *bond, unsigned int slot, const uint8_t *mac,
				 unsigned int vid)
{
	struct learning_tagged_frame tagged = { .tci = htons((uint16_t)vid),
						.type = htons(ETHERTYPE_LOOPBACK) };
	struct learning_frame plain = { 0 };

	learning_fill(&plain.eth, mac, ETHERTYPE_LOOPBACK);
	learning_fill(&tagged.eth, mac, ETHERTYPE_VLAN);
	if (vid)
		arp_sender_add(bond->daemon->arp_sender, (int)bond_slave(bond, slot)->ifindex,
			       (const uint8_t *)&tagged, sizeof(tagged));
	else
		arp_sender_add(bond->daemon->arp_sender, (int)bond_slave(bond, slot)->ifindex,
			       (const uint8_t *)&plain, sizeof(plain));
}

/* Switches behind that one would go on sending to where the address was. */
static void learning_tell_all(struct bond *bond, unsigned int slot, const uint8_t *mac,
			      unsigned int vid)
{
	const struct arp_tag tag = { ETHERTYPE_VLAN, (uint16_t)vid };
	uint8_t frame[ARP_FRAME_SIZE];
	size_t size = arp_frame_rarp(mac, vid ? &tag : NULL, frame);

	arp_sender_add(bond->daemon->arp_sender, (int)bond_slave(bond, slot)->ifindex, frame, size);
}

/* VLANs that nothing has been sent in for some time are forgotten. */
static void learning_read_vlans(struct bond *bond, uint64_t now_ns)
{
	struct xbond_vlans *vlans = bond->dataplane.pins.vlans;
	bool begins = now_ns - learning_of(bond)->began_ns > VLAN_AGE_NS;

	for (unsigned int i = 0; i < XBOND_VLAN_WORDS; i++) {
		if (begins)
			learning_of(bond)->vlan_before[i] =
				__atomic_exchange_n(&vlans->vlan[i], 0, __ATOMIC_RELAXED);
		learning_of(bond)->vlan[i] = __atomic_load_n(&vlans->vlan[i], __ATOMIC_RELAXED) |
					     learning_of(bond)->vlan_before[i];
	}
	learning_of(bond)->vlan[0] |= 1; /* untagged */
	if (begins)
		learning_of(bond)->began_ns = now_ns;
}

/*
 * To the switch alone, also if they have moved: broadcasts that came back by another slave would
 * tell a bridge above that the address is on this side of it.
 */
static size_t learning_send_above(struct bond *bond, unsigned int slot, unsigned int vid)
{
	for (unsigned int i = 0; i < learning_of(bond)->above_count; i++)
		learning_tell_switch(bond, slot, learning_of(bond)->above[i], vid);
	return learning_of(bond)->above_count;
}

static size_t learning_send_vlan(struct bond *bond, unsigned int vid)
{
	const uint8_t *macs[LEARNING_MACS];
	size_t sent = 0;

	bond_for_each_member (bond, slot) {
		size_t count = learning_macs(bond, slot, macs);

		for (size_t i = 0; i < count; i++)
			if (learning_of(bond)->moved)
				learning_tell_all(bond, slot, macs[i], vid);
			else
				learning_tell_switch(bond, slot, macs[i], vid);
		sent += count;
		if (count && slot == bond_pin(bond)->active_slot)
			sent += learning_send_above(bond, slot, vid);
	}
	return sent;
}

/* Goes on with the round; those of other VLANs wait for the next tick if there are many. */
static void learning_go_on(struct bond *bond)
{
	unsigned int vid = learning_of(bond)->at;
	size_t sent = 0;

	for (; vid < LEARNING_VLANS && sent < FRAMES_PER_TICK; vid++)
		if (learning_of(bond)->vlan[vid / 64] >> vid % 64 & 1)
			sent += learning_send_vlan(bond, vid);
	learning_of(bond)->at = vid < LEARNING_VLANS ? vid : 0;
	arp_sender_flush(bond->daemon->arp_sender);
}

/* Returns how many frames. */
static size_t learning_send_of(struct bond *bond, unsigned int slot,
			       const struct learning_bridged *bridged)
{
	size_t sent = 0;

	if (bridged->vlan != LEARNING_ANY_VLAN) {
		learning_tell_switch(bond, slot, bridged->mac, bridged->vlan);
		return 1;
	}
	for (unsigned int vid = 0; vid < LEARNING_VLANS; vid++)
		if (learning_of(bond)->vlan[vid / 64] >> vid % 64 & 1) {
			learning_tell_switch(bond, slot, bridged->mac, vid);
			sent++;
		}
	return sent;
}

/* Many of them take several ticks, too. Meanwhile the active slave may have lost its link. */
static void learning_send_bridged(struct bond *bond)
{
	unsigned int slot = bond_pin(bond)->active_slot, *at = &learning_of(bond)->bridged_at;
	size_t sent = 0;

	if (learning_of(bond)->bridged_for != slot + 1 || !learning_has_link(bond, slot))
		return;
	while (*at < learning_of(bond)->bridged_count && sent < FRAMES_PER_TICK)
		sent += learning_send_of(bond, slot, &learning_of(bond)->bridged[(*at)++]);
	arp_sender_flush(bond->daemon->arp_sender);
}

/* What bondd finds when it starts may have been so for long. */
static void learning_note_orphans(struct bond *bond, uint64_t now_ns)
{
	uint64_t orphans = learning_orphans(bond);

	if (!orphans)
		learning_of(bond)->stands_in_until_ns = 0;
	else if (orphans & ~learning_of(bond)->orphans && learning_of(bond)->last_ns)
		learning_of(bond)->stands_in_until_ns = now_ns + STANDS_IN_NS;
	learning_of(bond)->orphans = orphans;
}

/* moved: addresses are elsewhere than before. That may also be so if it was off. */
static void learning_begin(struct bond *bond, bool moved)
{
	uint64_t now_ns = clock_now_ns();

	learning_note_orphans(bond, now_ns);
	learning_of(bond)->moved = moved || !learning_of(bond)->last_ns;
	learning_of(bond)->last_ns = now_ns;
	learning_of(bond)->at = 0;
	learning_read_vlans(bond, now_ns);
	learning_read_above(bond, now_ns);
	learning_go_on(bond);
	learning_read_bridged(bond);
	learning_send_bridged(bond);
}

void learning_now(struct bond *bond)
{
	learning_of(bond)->bridged_for = 0;
	if (learning_goes_on(bond))
		learning_begin(bond, true);
}

/* The interval may have changed since the last round. */
static bool learning_is_due(struct bond *bond)
{
	uint64_t last_ns = learning_of(bond)->last_ns;

	return !last_ns ||
	       clock_now_ns() + NS_PER_S / 4 >= last_ns + bond_pin(bond)->lp_interval_s * NS_PER_S;
}

/*
 * A round that would not end before the next one is due ends first, unless a slave has lost its
 * link or has it again: the switches are to find its address elsewhere.
 */
void learning_settle(struct bond *bond)
{
	if (!learning_goes_on(bond))
		return;
	if (learning_orphans(bond) != learning_of(bond)->orphans)
		learning_begin(bond, true);
	else if (learning_of(bond)->at)
		learning_go_on(bond);
	else if (learning_is_due(bond))
		learning_begin(bond, false);
	else
		learning_send_bridged(bond);
}

bool learning_stands_in(struct bond *bond, unsigned int slot)
{
	return learning_is_on(bond) && slot == bond_pin(bond)->active_slot &&
	       clock_now_ns() < learning_of(bond)->stands_in_until_ns;
}

struct part learning_part = { .bond_size = sizeof(struct learning) };
