/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/manage/team_refusal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/memory.h"

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

bool team_refusal_note(struct bond *bond, int ifindex, const char *why)
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

void team_refusal_forget(struct bond *bond, int ifindex)
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

void team_refusal_free_all(struct bond *bond)
{
	while (*team_refusal_list(bond))
		team_refusal_forget(bond, (*team_refusal_list(bond))->ifindex);
}

static bool team_refusal_hear(struct bond *bond, unsigned int slot, enum part_news news,
			      const struct link_info *link, bool gone)
{
	(void)slot;
	(void)news;
	if (gone)
		team_refusal_forget(bond, link->ifindex);
	return false;
}

struct part team_refusal_part = {
	.bond_size = sizeof(struct team_refusal *),
	.hears = NEWS_ON_BOND | NEWS_ON_SLAVE | NEWS_OTHER,
	.hear = team_refusal_hear,
	.stop = team_refusal_free_all,
};
