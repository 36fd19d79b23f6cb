/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Slaves that exchange their MAC addresses, so that the active one has the bond's. */
#include <string.h>

#include "common/mac.h"
#include "daemon/alb/alb.h"
#include "daemon/base/crashpoint.h"
#include "daemon/base/event.h"
#include "daemon/bond/daemon.h"
#include "daemon/bond/evaluate.h"
#include "daemon/bond/part.h"
#include "daemon/slave/slave.h"

bool mac_swap_is_on(struct bond *bond)
{
	return bond_fail_over_mac(bond_pin(bond)) == XBOND_FAIL_OVER_MAC_FOLLOW;
}

/* Slots that are being filled and emptied count, too: their devices have addresses. */
static int mac_swap_holder(struct bond *bond, const uint8_t *mac, unsigned int not_slot)
{
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (slot != not_slot && bond_slave(bond, slot)->state != XBOND_SLOT_FREE &&
		    mac_is_same(bond_slave(bond, slot)->mac, mac))
			return (int)slot;
	return -1;
}

static bool mac_swap_is_taken(struct bond *bond, const uint8_t *mac, unsigned int by_not)
{
	return mac_is_same(bond_pin(bond)->mac, mac) || mac_swap_holder(bond, mac, by_not) >= 0;
}

/* An address for a slave that must not have the bond's: its own, if nobody has it. */
static void mac_swap_give_spare(struct bond *bond, unsigned int slot)
{
	struct xbond_slave *slave = bond_slave(bond, slot);

	if (mac_swap_is_taken(bond, slave->before.mac, slot))
		mac_random(slave->mac);
	else
		memcpy(slave->mac, slave->before.mac, XBOND_MAC_SIZE);
}

/* Not again each time that it is tried again. */
static void mac_swap_tell_refusal(struct bond *bond, const struct err *why, const char *result)
{
	if (!bond->evaluation.macs_retry.pause_ns)
		event_error(bond_pin(bond)->name, NULL, "%s%s", why->text, result);
}

/* If nobody knows what the slave has now, that may be the bond's address: it is tried again. */
static void mac_swap_change(struct bond *bond, unsigned int slot)
{
	uint8_t *mac = bond_slave(bond, slot)->mac, wanted[XBOND_MAC_SIZE];
	struct err err;

	memcpy(wanted, mac, XBOND_MAC_SIZE);
	if (!slave_mac_set(bond, slot, &err))
		return;
	mac_swap_tell_refusal(bond, &err, "");
	if (mac_is_same(mac, wanted))
		memcpy(mac, bond_pin(bond)->mac, XBOND_MAC_SIZE);
}

/* Two slaves have one address after a change of mode, or after a bondd that died in between. */
static void mac_swap_part(struct bond *bond, unsigned int active)
{
	bond_for_each_member (bond, slot)
		if (slot != active && mac_swap_is_taken(bond, bond_slave(bond, slot)->mac, slot)) {
			mac_swap_give_spare(bond, slot);
			mac_swap_change(bond, slot);
		}
}

/* The slave that has given the bond's address away comes first in the maps, last in the devices. */
static void mac_swap_do(struct bond *bond, unsigned int active, int holder)
{
	struct xbond_slave *new = bond_slave(bond, active);
	uint8_t before[XBOND_MAC_SIZE];
	struct err err;

	memcpy(before, new->mac, XBOND_MAC_SIZE);
	if (holder >= 0)
		memcpy(bond_slave(bond, (unsigned int)holder)->mac, before, XBOND_MAC_SIZE);
	crashpoint("mac-swap-begun");
	memcpy(new->mac, bond_pin(bond)->mac, XBOND_MAC_SIZE);
	crashpoint("mac-swap-recorded");
	if (slave_mac_set(bond, active, &err)) {
		mac_swap_tell_refusal(bond, &err, "; it receives nothing for the bond");
		if (holder >= 0)
			memcpy(bond_slave(bond, (unsigned int)holder)->mac, bond_pin(bond)->mac,
			       XBOND_MAC_SIZE);
		memcpy(new->mac, before, XBOND_MAC_SIZE);
		return;
	}
	crashpoint("mac-swap-half");
	if (holder >= 0)
		mac_swap_change(bond, (unsigned int)holder);
}

/* Before the first decision of a bondd nothing is published. */
void mac_swap_tell(struct bond *bond)
{
	if (!bond->evaluation.published)
		return;
	publish_alb(bond);
	learning_now(bond);
	parts_hear(bond, PART_BOND, NEWS_TICK, NULL, false);
	client_rounds_settle(bond);
}

bool mac_swap_is_half(struct bond *bond)
{
	const struct xbond_bond *pin = bond_pin(bond);

	if (!mac_swap_is_on(bond))
		return false;
	bond_for_each_member (bond, slot)
		if (slot != pin->active_slot &&
		    mac_swap_is_taken(bond, bond_slave(bond, slot)->mac, slot))
			return true;
	return false;
}

void mac_swap_settle(struct bond *bond)
{
	unsigned int active = bond_pin(bond)->active_slot;
	const uint8_t *mac = bond_pin(bond)->mac;

	if (!mac_swap_is_on(bond) || active >= XBOND_MAX_SLAVES || !bond_is_member(bond, active))
		return;
	if (!mac_is_same(bond_slave(bond, active)->mac, mac))
		mac_swap_do(bond, active, mac_swap_holder(bond, mac, active));
	if (mac_is_same(bond_slave(bond, active)->mac, mac))
		mac_swap_part(bond, active);
}

void mac_swap_enter(struct bond *bond, unsigned int slot)
{
	struct xbond_slave *slave = bond_slave(bond, slot);

	if (!mac_swap_is_on(bond))
		return;
	if (mac_swap_holder(bond, slave->mac, slot) >= 0 ||
	    (bond_slave_count(bond) > 1 && mac_is_same(slave->mac, bond_pin(bond)->mac)))
		mac_random(slave->mac);
}

static int mac_swap_refuse(struct bond *bond, unsigned int slot, const struct err *why, int r,
			   struct err *err)
{
	const char *name = bond_slave(bond, slot)->name;

	if (mode_has(bond_pin(bond)->mode, MODE_OWN_MACS))
		return err_set(err, -r,
			       "%s cannot change its MAC address while it is up (%s), which mode "
			       "%s needs",
			       name, why->text, mode_name(bond_pin(bond)->mode));
	return err_set(err, -r,
		       "%s cannot change its MAC address while it is up (%s), which "
		       "fail_over_mac follow needs; use fail_over_mac active",
		       name, why->text);
}

int mac_swap_try(struct bond *bond, unsigned int slot, struct err *err)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	uint8_t other[XBOND_MAC_SIZE];
	struct err why;
	int r;

	if (!mac_swap_is_on(bond))
		return 0;
	mac_random(other);
	r = link_set_mac(&bond->daemon->nl, (int)slave->ifindex, other, &why);
	if (r)
		return mac_swap_refuse(bond, slot, &why, r, err);
	crashpoint("mac-swap-tried");
	return slave_mac_set(bond, slot, err);
}

void mac_swap_leave(struct bond *bond, unsigned int slot)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	int other = mac_swap_is_on(bond) ? mac_swap_holder(bond, slave->before.mac, slot) : -1;

	if (other < 0 || slave->state == XBOND_SLOT_ENSLAVING ||
	    mac_is_same(slave->before.mac, bond_pin(bond)->mac))
		return;
	if (mac_is_zero(slave->mac) || mac_is_same(slave->mac, bond_pin(bond)->mac))
		mac_swap_give_spare(bond, (unsigned int)other);
	else
		memcpy(bond_slave(bond, (unsigned int)other)->mac, slave->mac, XBOND_MAC_SIZE);
	crashpoint("mac-swap-leaving");
	mac_swap_change(bond, (unsigned int)other);
	crashpoint("mac-swap-left");
	mac_swap_tell(bond);
}

/* What it has now may stay in use where it is, so that nobody here may get it. */
void mac_swap_move_away(struct bond *bond, unsigned int slot)
{
	if (!mac_swap_is_on(bond))
		return;
	memset(bond_slave(bond, slot)->mac, 0, XBOND_MAC_SIZE);
	mac_swap_settle(bond);
	mac_swap_leave(bond, slot);
}

void mac_swap_rename(struct bond *bond, const uint8_t *mac, struct mac_swap *ret_before)
{
	const uint8_t *old = bond_pin(bond)->mac;
	int holder = mac_swap_is_on(bond) ? mac_swap_holder(bond, old, XBOND_NO_SLOT) : -1;
	int other = holder >= 0 ? mac_swap_holder(bond, mac, (unsigned int)holder) : -1;

	bond_for_each_member (bond, slot)
		memcpy(ret_before->mac[slot], bond_slave(bond, slot)->mac, XBOND_MAC_SIZE);
	if (holder < 0)
		return;
	memcpy(bond_slave(bond, (unsigned int)holder)->mac, mac, XBOND_MAC_SIZE);
	if (other >= 0)
		memcpy(bond_slave(bond, (unsigned int)other)->mac, old, XBOND_MAC_SIZE);
}

void mac_swap_put_back(struct bond *bond, const struct mac_swap *before)
{
	if (!mac_swap_is_on(bond))
		return;
	bond_for_each_member (bond, slot)
		memcpy(bond_slave(bond, slot)->mac, before->mac[slot], XBOND_MAC_SIZE);
}

struct part mac_try_part = { .enslave = mac_swap_try };
