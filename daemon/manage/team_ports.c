/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/manage/team_ports.h"

#include "daemon/base/event.h"
#include "daemon/manage/requests.h"
#include "daemon/manage/team_refusal.h"
#include "network/link.h"

static bool team_ports_is_strange(struct bond *bond, const struct link_info *link)
{
	return bond_is_team(bond_pin(bond)) && link->master == (int)bond_pin(bond)->ifindex &&
	       bond_slot_by_ifindex(bond, link->ifindex) < 0;
}

/*
 * It leaves the team first. Then it has its own MTU and state again, and add-slave notes these as
 * what it had before.
 */
static void team_ports_add(struct bond *bond, const struct link_info *link)
{
	const struct option_set none = { 0 };
	const char *name = link->name;
	struct err err;
	int r = link_set_master(&bond->daemon->nl, link->ifindex, 0, &err);

	if (!r)
		r = request_add_slaves(bond->daemon, bond_pin(bond)->name, &name, 1, &none, NULL,
				       &err);
	if (!r) {
		team_refusal_forget(bond, link->ifindex);
		event_notice(bond_pin(bond)->name, name,
			     "somebody has put %s into %s; it is a slave now", name,
			     bond_pin(bond)->name);
	} else if (team_refusal_note(bond, link->ifindex, err.text)) {
		event_warning(bond_pin(bond)->name, NULL,
			      "somebody has put %s into %s, but it does not become a slave: %s",
			      name, bond_pin(bond)->name, err.text);
	}
}

void team_ports_take(struct daemon *daemon, const struct link_info *link)
{
	struct link_info now;

	for (struct bond *bond = daemon->bonds; bond; bond = bond->next) {
		if (!team_ports_is_strange(bond, link))
			continue;
		/* The message may be old. */
		if (!link_get(&daemon->nl, -1, link->ifindex, &now) &&
		    team_ports_is_strange(bond, &now))
			team_ports_add(bond, &now);
		return;
	}
}

void team_ports_look(struct bond *bond)
{
	struct link_list devices;

	if (!bond_is_team(bond_pin(bond)))
		return;
	team_refusal_free_all(bond); /* devices may have gone */
	if (!link_list_read(&bond->daemon->nl, &devices))
		for (size_t i = 0; i < devices.count; i++)
			if (team_ports_is_strange(bond, &devices.link[i]))
				team_ports_add(bond, &devices.link[i]);
	link_list_free(&devices);
}
