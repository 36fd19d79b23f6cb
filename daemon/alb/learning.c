/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/alb/learning.h"

#include <arpa/inet.h>
#include <net/ethernet.h>
#include <string.h>

#include "common/clock.h"
#include "common/mac.h"
#include "daemon/bond/daemon.h"
#include "daemon/monitor/arp_frames.h"
#include "daemon/monitor/arp_sender.h"

#define VLAN_AGE_NS (300 * NS_PER_S) /* as long as switches usually keep what they know */
#define FRAMES_PER_TICK 256	     /* many VLANs take several ticks */
#define VLANS (64 * XBOND_VLAN_WORDS)

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
	return bond_is_ready(bond) && bond->dataplane.pins.alb && bond->dataplane.pins.vlans &&
	       mode_has(bond_pin(bond)->mode, MODE_OWN_MACS);
}

/* What the slave sends as; NULL: it has the bond's address still, or no link. */
static const uint8_t *learning_mac(struct bond *bond, unsigned int slot)
{
	const struct xbond_bond *pin = bond_pin(bond);
	const struct xbond_slave *slave = bond_slave(bond, slot);

	if (!bond_is_member(bond, slot) || slave->link == XBOND_LINK_DOWN ||
	    mac_is_zero(slave->mac))
		return NULL;
	if (slot == pin->active_slot)
		return pin->mac;
	return memcmp(slave->mac, pin->mac, XBOND_MAC_SIZE) ? slave->mac : NULL;
}

static void learning_fill(struct ether_header *eth, const uint8_t *mac, uint16_t type)
{
	memcpy(eth->ether_dhost, mac, XBOND_MAC_SIZE);
	memcpy(eth->ether_shost, mac, XBOND_MAC_SIZE);
	eth->ether_type = htons(type);
}

/* The kernel's type, too. */
static void learning_send(struct bond *bond, unsigned int slot, const uint8_t *mac,
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

/* VLANs that nothing has been sent in for some time are forgotten. */
static void learning_read_vlans(struct bond *bond, uint64_t now_ns)
{
	struct xbond_vlans *vlans = bond->dataplane.pins.vlans;
	bool begins = now_ns - bond->learning.began_ns > VLAN_AGE_NS;

	for (unsigned int i = 0; i < XBOND_VLAN_WORDS; i++) {
		if (begins)
			bond->learning.vlan_before[i] =
				__atomic_exchange_n(&vlans->vlan[i], 0, __ATOMIC_RELAXED);
		bond->learning.vlan[i] = __atomic_load_n(&vlans->vlan[i], __ATOMIC_RELAXED) |
					 bond->learning.vlan_before[i];
	}
	bond->learning.vlan[0] |= 1; /* untagged */
	if (begins)
		bond->learning.began_ns = now_ns;
}

static unsigned int learning_send_vlan(struct bond *bond, unsigned int vid)
{
	unsigned int count = 0;

	bond_for_each_member (bond, slot) {
		const uint8_t *mac = learning_mac(bond, slot);

		if (mac)
			learning_send(bond, slot, mac, vid);
		count += !!mac;
	}
	return count;
}

/* Goes on with the round; those of other VLANs wait for the next tick if there are many. */
static void learning_go_on(struct bond *bond)
{
	unsigned int vid = bond->learning.at, sent = 0;

	for (; vid < VLANS && sent < FRAMES_PER_TICK; vid++)
		if (bond->learning.vlan[vid / 64] >> vid % 64 & 1)
			sent += learning_send_vlan(bond, vid);
	bond->learning.at = vid < VLANS ? vid : 0;
	arp_sender_flush(bond->daemon->arp_sender);
}

void learning_now(struct bond *bond)
{
	uint64_t now_ns = clock_now_ns();

	if (!learning_is_on(bond))
		return;
	bond->learning.last_ns = now_ns;
	bond->learning.at = 0;
	learning_read_vlans(bond, now_ns);
	learning_go_on(bond);
}

/* The interval may have changed since the last round. */
static bool learning_is_due(struct bond *bond)
{
	uint64_t last_ns = bond->learning.last_ns;

	return !last_ns ||
	       clock_now_ns() + NS_PER_S / 4 >= last_ns + bond_pin(bond)->lp_interval_s * NS_PER_S;
}

/* A round that would not end before the next one is due ends first. */
void learning_follow(struct bond *bond)
{
	if (!learning_is_on(bond))
		return;
	if (bond->learning.at)
		learning_go_on(bond);
	else if (learning_is_due(bond))
		learning_now(bond);
}
