/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/bond/bypass.h"

#include "daemon/base/log.h"
#include "daemon/bond/daemon.h"
#include "daemon/bond/evaluate.h"
#include "daemon/bond/port_hooks.h"
#include "daemon/net/capture.h"

#define MAX_CAPTURES 4096

static void bypass_say(struct bond *bond, const char *what)
{
	if (bond_wants_direct(bond))
		log_info("%s: %s", bond_pin(bond)->name, what);
}

static bool bypass_is_captured(struct bond *bond, const int *ifindexes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!bond->away && ifindexes[i] == (int)bond_pin(bond)->ifindex)
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

		if (captured == bond->captured)
			continue;
		bond->captured = captured;
		bypass_say(bond, captured ? "is captured; counted while it is"
					  : "is captured no more; direct again");
		bond_evaluate(bond);
	}
}

bool bypass_look_for_filters(struct bond *bond)
{
	bool has_filters = bond->away ? bond->has_filters : port_hooks_skip_filters(bond);

	if (has_filters != bond->has_filters)
		bypass_say(bond, has_filters
					 ? "has filters on its egress; counted while it has"
					 : "has no filters on its egress any more; direct again");
	return has_filters;
}

void bypass_follow_filters(struct daemon *daemon)
{
	for (struct bond *bond = daemon->bonds; bond; bond = bond->next) {
		bool has_filters;

		if (!bond->filters_due)
			continue;
		bond->filters_due = false;
		has_filters = bypass_look_for_filters(bond);
		if (has_filters == bond->has_filters)
			continue;
		bond->has_filters = has_filters;
		bond_evaluate(bond);
	}
}
