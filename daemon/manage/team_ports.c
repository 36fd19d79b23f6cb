/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/manage/lifecycle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/memory.h"
#include "daemon/base/event.h"
#include "daemon/manage/requests.h"
#include "network/link.h"

/* A device that did not become a slave when it was last put into bond0. */
struct team_refusal {
	struct team_refusal *next;
	int ifindex;
	char why[sizeof(((struct err *)NULL)->text)];
};

static struct team_refusal **team_refusal_list(const struct bond *bond)
{
	return part_of_bond(bond, &team_refusal_part);
}

static struct team_refusal *team_refusal_find(struct bond *bond, int ifindex)
{
	struct team_refusal *refusal = *team_refusal_list(bond);

	while (refusal && refusal->ifindex != ifindex)
		refusal = refusal->next;
	return refusal;
}

static bool team_refusal_note(struct bond *bond, int ifindex, const char *why)
{
	struct team_refusal *refusal = team_refusal_find(bond, ifindex);

	if (refusal && !strcmp(refusal->why, why))
		return false;
	if (!refusal) {
		refusal = memory_need(calloc(1, sizeof(*refusal)));
		refusal->ifindex = ifindex;
		refusal->next = *team_refusal_list(bond);
		*team_refusal_list(bond) = refusal;
	}
	snprintf(refusal->why, sizeof(refusal->why), "%s", why);
	return true;
}

static void team_refusal_forget(struct bond *bond, int ifindex)
{
	struct team_refusal **at = team_refusal_list(bond), *gone;

	while (*at && (*at)->ifindex != ifindex)
		at = &(*at)->next;
	gone = *at;
	if (!gone)
		return;
	*at = gone->next;
	free(gone);
}

static void team_refusal_free_all(struct bond *bond)
{
	while (*team_refusal_list(bond))
		team_refusal_forget(bond, (*team_refusal_list(bond))->ifindex);
}

static bool team_refusal_hear(struct bond *bond, unsigned int slot, enum part_news news,
			      const struct link_info *link, bool gone)
{
	if (gone)
		team_refusal_forget(bond, link->ifindex);
	return false;
}

struct part team_refusal_part = {
	.bond_size = sizeof(struct team_refusal *),
	.hears = NEWS_ON_BOND | NEWS_ON_SLAVE | NEWS_OTHER,
	.hear = team_refusal_hear,
	.free = team_refusal_free_all,
};

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
