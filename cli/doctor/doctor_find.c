/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds things among the facts. */
#include <net/if.h>
#include <string.h>

#include "cli/doctor/doctor.h"
#include "common/mode.h"

bool doctor_is_asked(const struct doctor_facts *facts, const struct doctor_bond *bond)
{
	return !facts->only || !strcmp(facts->only, bond->name);
}

bool doctor_is_meant_to_work(const struct doctor_bond *bond)
{
	return !bond->device.link || bond->device.link->flags & IFF_UP;
}

bool doctor_arp_needs_each_link(const struct doctor_bond *bond)
{
	const struct xbond_bond *pin = bond->pins.bond;

	return pin->arp_interval_ms && !pin->broadcast_neighbor &&
	       mode_has(pin->mode, MODE_PROBES) && mode_has(pin->mode, MODE_TURNS | MODE_HASH);
}

bool doctor_bondd_is_alive(const struct doctor_facts *facts, const struct doctor_bond *bond)
{
	return facts->host.bondd_answers && pins_bondd_alive(&bond->pins);
}

const struct link_info *doctor_find_link(const struct doctor_facts *facts, int ifindex)
{
	return link_list_find(&facts->links, ifindex);
}

static bool doctor_find_above(const struct doctor_facts *facts, const struct link_info *link,
			      int lower, int depth)
{
	if (!link || depth < 0)
		return false;
	if (link->ifindex == lower)
		return true;
	if (link_has_lower(link) && link->lower_nsid < 0 &&
	    doctor_find_above(facts, doctor_find_link(facts, link->lower), lower, depth - 1))
		return true;
	for (size_t i = 0; i < facts->links.count; i++)
		if (facts->links.link[i].master == link->ifindex &&
		    doctor_find_above(facts, &facts->links.link[i], lower, depth - 1))
			return true;
	return false;
}

bool doctor_is_above(const struct doctor_facts *facts, const struct link_info *link, int lower)
{
	return doctor_find_above(facts, link, lower, 6);
}
