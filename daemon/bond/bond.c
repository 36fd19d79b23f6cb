/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/bond/bond.h"

#include <stdio.h>

#include "bpf/slots.h"
#include "common/mode.h"
#include "daemon/bond/daemon.h"
#include "daemon/bond/evaluate.h"
#include "rules/link_state.h"

int bond_slot_by_ifindex(struct bond *bond, int ifindex)
{
	bond_for_each_member (bond, slot)
		if ((int)bond_slave(bond, slot)->ifindex == ifindex)
			return (int)slot;
	return -1;
}

uint64_t bond_members(const struct bond *bond)
{
	uint64_t members = 0;

	pins_for_each_member (&bond->dataplane.pins, slot)
		members |= slots_bit(slot);
	return members;
}

unsigned int bond_slave_count(struct bond *bond)
{
	unsigned int count = 0;

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		count += bond_slave(bond, slot)->state != XBOND_SLOT_FREE;
	return count;
}

bool bond_wants_direct(const struct bond *bond)
{
	const struct pins *pins = &bond->dataplane.pins;

	if (bond_only_direct(pins->bond))
		return false; /* it has no choice, so nothing can forbid it */
	return pins->settings->path == XBOND_PATH_DIRECT || pins->bond->xdp_tx;
}

void bond_hand_over(struct bond *bond, const char *as)
{
	snprintf(bond->handed_over, sizeof(bond->handed_over), "%s", as);
	dataplane_set_flags(&bond->dataplane, XBOND_F_HANDED_OVER, *as ? XBOND_F_HANDED_OVER : 0);
}

bool bond_is_meanwhile(const struct bond *bond)
{
	return bond->handed_over[0] && strcmp(bond->handed_over, bond->dataplane.pins.bond->name);
}

/* The slots against which nothing speaks. A port that LACP would not use is of no help. */
static uint64_t bond_good_links(const struct bond *bond)
{
	uint64_t good = 0;

	pins_for_each_member (&bond->dataplane.pins, slot)
		if (bond->members[slot].verdict.spoken && !bond_link_refusing(bond, slot))
			good |= slots_bit(slot);
	return good & bond_lacp_prospect(bond);
}

uint64_t bond_soft_noes(const struct bond *bond)
{
	uint64_t slots = 0;

	pins_for_each_member (&bond->dataplane.pins, slot)
		if (bond_link_refusing(bond, slot) & ~XBOND_MONITORS_HARD)
			slots |= slots_bit(slot);
	return slots;
}

bool bond_link_works(const struct bond *bond, unsigned int slot)
{
	uint32_t refusing = bond_link_refusing(bond, slot);

	if (!bond->members[slot].verdict.spoken || refusing & XBOND_MONITORS_HARD)
		return false;
	return !refusing ||
	       !carrier_has_enough(bond_good_links(bond), bond->dataplane.pins.bond->min_links);
}

const char *bond_link_why(const struct bond *bond, unsigned int slot)
{
	uint32_t refusing = bond_link_refusing(bond, slot);

	return refusing ? monitor_finding((enum xbond_monitor)__builtin_ctz(refusing)) : NULL;
}

const struct link_list *daemon_links(struct daemon *daemon)
{
	if (!daemon->links_are_read) {
		daemon_forget_links(daemon);
		daemon->links_result = link_list_read(&daemon->nl, &daemon->links);
		daemon->links_are_read = true;
	}
	return daemon->links_result ? NULL : &daemon->links;
}

void daemon_forget_links(struct daemon *daemon)
{
	link_list_free(&daemon->links);
	daemon->links = (struct link_list){ 0 };
	daemon->links_are_read = false;
}

void daemon_read_kept(struct daemon *daemon)
{
	sd_event_source_set_enabled(daemon->kept, SD_EVENT_ON);
}
