/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/alb/learning_macs.h"

#include <string.h>

#include "common/clock.h"
#include "common/mac.h"
#include "common/slots.h"
#include "daemon/bond/daemon.h"
#include "network/mac_lists.h"

#define ABOVE_NS (10 * NS_PER_S)

bool learning_has_link(struct bond *bond, unsigned int slot)
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
	return memcmp(slave->mac, pin->mac, XBOND_MAC_SIZE) ? slave->mac : NULL;
}

uint64_t learning_orphans(struct bond *bond)
{
	const struct xbond_bond *pin = bond_pin(bond);
	uint64_t orphans = 0;

	if (!mode_has(pin->mode, MODE_RECEIVES) || !learning_has_link(bond, pin->active_slot))
		return 0;
	bond_for_each_member (bond, slot) {
		const uint8_t *mac = bond_slave(bond, slot)->mac;

		if (!learning_has_link(bond, slot) && !mac_is_zero(mac) &&
		    memcmp(mac, pin->mac, XBOND_MAC_SIZE))
			orphans |= slots_bit(slot);
	}
	return orphans;
}

size_t learning_macs(struct bond *bond, unsigned int slot, const uint8_t *ret_macs[LEARNING_MACS])
{
	const uint8_t *own = learning_own_mac(bond, slot);
	uint64_t orphans = learning_orphans(bond);
	size_t count = 0;

	if (!own)
		return 0;
	ret_macs[count++] = own;
	if (slot != bond_pin(bond)->active_slot)
		return count;
	for (unsigned int other = 0; other < XBOND_MAX_SLAVES; other++)
		if (slots_have(orphans, other))
			ret_macs[count++] = bond_slave(bond, other)->mac;
	return count;
}

bool learning_is_of_router(const uint8_t *mac)
{
	static const uint8_t prefix[] = { 0x00, 0x00, 0x5e, 0x00 };

	return !memcmp(mac, prefix, sizeof(prefix)) && (mac[4] == 1 || mac[4] == 2);
}

static void learning_take_above(const uint8_t mac[XBOND_MAC_SIZE], void *arg)
{
	struct bond *bond = arg;

	if (bond->learning.above_count == BOND_ABOVE || learning_is_of_router(mac) ||
	    mac_is_zero(mac) || !memcmp(mac, bond_pin(bond)->mac, XBOND_MAC_SIZE))
		return;
	memcpy(bond->learning.above[bond->learning.above_count++], mac, XBOND_MAC_SIZE);
}

/* In another namespace the list cannot be read without a process there. */
void learning_read_above(struct bond *bond, uint64_t now_ns)
{
	const struct xbond_bond *pin = bond_pin(bond);

	if (bond->learning.above_ns && now_ns - bond->learning.above_ns < ABOVE_NS)
		return;
	bond->learning.above_ns = now_ns;
	bond->learning.above_count = 0;
	if (pin->netnsid < 0)
		unicast_visit(&bond->daemon->nl, (int)pin->ifindex, learning_take_above, bond);
}
