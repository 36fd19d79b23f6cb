/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/manage/team_refusal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"

/* A device that did not become a slave when it was last put into bond0. */
struct team_refusal {
	struct team_refusal *next;
	int ifindex;
	char why[sizeof(((struct err *)NULL)->text)];
};

static struct team_refusal *team_refusal_find(struct bond *bond, int ifindex)
{
	struct team_refusal *refusal = bond->refusals;

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
		refusal->next = bond->refusals;
		bond->refusals = refusal;
	}
	snprintf(refusal->why, sizeof(refusal->why), "%s", why);
	return true;
}

void team_refusal_forget(struct bond *bond, int ifindex)
{
	struct team_refusal **at = &bond->refusals, *gone;

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
	while (bond->refusals)
		team_refusal_forget(bond, bond->refusals->ifindex);
}
