/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Says which probes leave by which slaves. arp_sender.c sends them. Called by arp.c. */
#include "common/mac.h"
#include "common/mode.h"
#include "daemon/monitor/arp_frames.h"
#include "daemon/monitor/arp_sender.h"
#include "daemon/monitor/arp_state.h"
#include "daemon/monitor/verdict.h"

const uint8_t *arp_mac(struct bond *bond, const struct arp_path *path)
{
	return mac_is_zero(path->mac) ? bond_pin(bond)->mac : path->mac;
}

/*
 * Neighbours learn the sender's address from a probe, so it has the address that answers to it.
 * With fail_over_mac each slave has an address of its own, and its NIC may hear no other.
 */
static const uint8_t *arp_sender_mac(struct bond *bond, unsigned int slot,
				     const struct arp_path *path)
{
	return bond_pin(bond)->fail_over_mac == XBOND_FAIL_OVER_MAC_NONE
		       ? arp_mac(bond, path)
		       : bond_slave(bond, slot)->mac;
}

static void arp_send_probe(struct bond *bond, unsigned int slot, unsigned int target)
{
	const struct arp_path *path = &bond->arp->path[target];
	struct arp_probe probe = {
		.source = path->source,
		.target = bond->dataplane.pins.probes->target[target].address,
		.mac = arp_sender_mac(bond, slot, path),
		.tags = path->tags.tag,
		.tag_count = path->tags.count,
	};
	uint8_t frame[ARP_FRAME_SIZE];
	size_t size = target < XBOND_MAX_TARGETS ? arp_frame_request(&probe, frame)
						 : arp_frame_solicitation(&probe, frame);

	arp_sender_add(bond->daemon->arp_sender, (int)bond_slave(bond, slot)->ifindex, frame, size);
}

static void arp_send_by(struct bond *bond, unsigned int slot)
{
	for (unsigned int i = 0; i < XBOND_PROBE_TARGETS; i++)
		if (bond->arp->path[i].leads)
			arp_send_probe(bond, slot, i);
}

static bool arp_may_send(struct bond *bond, unsigned int slot)
{
	return bond_is_member(bond, slot) && verdict_of(bond, slot, XBOND_MONITOR_CARRIER);
}

/* Nobody is active: the next slave has its turn. */
static void arp_send_in_turn(struct bond *bond, uint64_t now_ns)
{
	struct arp_monitor *arp = bond->arp;

	for (unsigned int i = 1; i <= XBOND_MAX_SLAVES; i++) {
		unsigned int slot = (arp->candidate + i) % XBOND_MAX_SLAVES;

		if (!arp_may_send(bond, slot))
			continue;
		arp->candidate = slot;
		arp_spare(bond, slot, now_ns);
		arp_send_by(bond, slot);
		return;
	}
}

void arp_send(struct bond *bond, uint64_t now_ns)
{
	unsigned int active = bond_pin(bond)->active_slot;

	if (!mode_has(bond_pin(bond)->mode, MODE_ALONE)) {
		bond_for_each_member (bond, slot)
			if (arp_may_send(bond, slot))
				arp_send_by(bond, slot);
	} else if (active < XBOND_MAX_SLAVES) {
		arp_send_by(bond, active);
	} else {
		arp_send_in_turn(bond, now_ns);
	}
}
