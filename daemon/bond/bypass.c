/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/bond/bypass.h"

#include "daemon/base/event.h"
#include "daemon/bond/daemon.h"
#include "daemon/bond/evaluate.h"
#include "daemon/bond/port_hooks.h"
#include "network/packet.h"

#define MAX_CAPTURES 4096

static void bypass_say(struct bond *bond, const char *what)
{
	if (bond_wants_direct(bond))
		event_info(bond_pin(bond)->name, NULL, "%s", what);
}

static bool bypass_is_captured(struct bond *bond, const int *ifindexes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!bond->device.away && ifindexes[i] == (int)bond_pin(bond)->ifindex)
			return true;
	return false;
}

void bypass_follow_captures(struct daemon *daemon)
{
	int ifindexes[MAX_CAPTURES];
	size_t count;

	count = capture_list(ifindexes, MAX_CAPTURES);
	for (struct bond *bond = daemon->bonds; bond; bond = bond->next) {
		bool captured = bypass_is_captured(bond, ifindexes, count);

		if (captured == bond->bypass.captured)
			continue;
		bond->bypass.captured = captured;
		bypass_say(bond, captured ? "is being captured; path counted until that ends"
					  : "is no longer captured; path direct again");
		bond_evaluate(bond);
	}
}

bool bypass_look_for_filters(struct bond *bond)
{
	bool had = bond->bypass.has_filters, has = had;

	if (!bond->device.away)
		has = port_hooks_skip_filters(bond);
	if (has == had)
		return false;
	bond->bypass.has_filters = has;
	bypass_say(bond, has ? "has filters on its egress; path counted until they are gone"
			     : "no longer has filters on its egress; path direct again");
	return true;
}

void bypass_note_filter(struct bond *bond, bool gone)
{
	if (bond->bypass.has_filters == gone)
		bond->bypass.filters_due = true;
}

void bypass_follow_filters(struct daemon *daemon)
{
	for (struct bond *bond = daemon->bonds; bond; bond = bond->next) {
		if (!bond->bypass.filters_due)
			continue;
		bond->bypass.filters_due = false;
		if (bypass_look_for_filters(bond))
			bond_evaluate(bond);
	}
}
