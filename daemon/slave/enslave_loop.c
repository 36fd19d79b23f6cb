/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/slave/enslave_loop.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/memory.h"
#include "daemon/bond/daemon.h"

#define NOBODY SIZE_MAX
#define WAY_SIZE 512

/* A device that the way down has reached, and the one from which it was reached. */
struct step {
	int nsid; /* -1: bondd's own namespace */
	int ifindex;
	size_t from;
};

/* Every device is visited once, however many ways lead to it. */
struct way {
	struct daemon *daemon;
	const struct link_list *devices;
	struct step *step;
	size_t count, size;
};

static bool enslave_loop_is_bond(struct bond *bond, const struct step *step)
{
	return bond_pin(bond)->netnsid == step->nsid &&
	       (int)bond_pin(bond)->ifindex == step->ifindex;
}

static void enslave_loop_reach(struct way *way, int nsid, int ifindex, size_t from)
{
	for (size_t i = 0; i < way->count; i++)
		if (way->step[i].nsid == nsid && way->step[i].ifindex == ifindex)
			return;
	if (way->count < way->size)
		way->step[way->count++] =
			(struct step){ .nsid = nsid, .ifindex = ifindex, .from = from };
}

static void enslave_loop_reach_below_device(struct way *way, size_t from)
{
	int top = way->step[from].ifindex;

	for (size_t i = 0; i < way->devices->count; i++) {
		const struct link_info *link = &way->devices->link[i];

		if (link->master == top)
			enslave_loop_reach(way, -1, link->ifindex, from);
		if (link->ifindex == top && link_has_lower(link))
			enslave_loop_reach(way, link->lower_nsid, link->lower, from);
	}
}

static void enslave_loop_reach_below(struct way *way, size_t from)
{
	for (struct bond *bond = way->daemon->bonds; bond; bond = bond->next)
		if (enslave_loop_is_bond(bond, &way->step[from]))
			bond_for_each_member (bond, slot)
				enslave_loop_reach(way, -1, (int)bond_slave(bond, slot)->ifindex,
						   from);
	if (way->step[from].nsid < 0)
		enslave_loop_reach_below_device(way, from);
}

/* The place where the way meets the bond, or NOBODY. */
static size_t enslave_loop_go_down(struct way *way, struct bond *bond, int top)
{
	enslave_loop_reach(way, -1, top, NOBODY);
	for (size_t i = 0; i < way->count; i++) {
		if (enslave_loop_is_bond(bond, &way->step[i]))
			return i;
		enslave_loop_reach_below(way, i);
	}
	return NOBODY;
}

static const char *enslave_loop_name_of(const struct way *way, const struct step *step)
{
	for (struct bond *bond = way->daemon->bonds; bond; bond = bond->next)
		if (enslave_loop_is_bond(bond, step))
			return bond_pin(bond)->name;
	for (size_t i = 0; i < way->devices->count; i++)
		if (step->nsid < 0 && way->devices->link[i].ifindex == step->ifindex)
			return way->devices->link[i].name;
	return "another device";
}

/* Writes the way downwards: "mv1 on bond1 on mv0 on bond0". */
static void enslave_loop_write_way(const struct way *way, size_t to, FILE *text)
{
	const struct step *step = &way->step[to];

	if (step->from != NOBODY) {
		enslave_loop_write_way(way, step->from, text);
		fputs(" on ", text);
	}
	fputs(enslave_loop_name_of(way, step), text);
}

static int enslave_loop_refuse(const struct way *way, size_t met, const char *name,
			       const char *bond_name, struct err *err)
{
	char text[WAY_SIZE] = "";
	FILE *file = fmemopen(text, sizeof(text), "w");

	if (file) {
		enslave_loop_write_way(way, met, file);
		fclose(file);
		text[sizeof(text) - 1] = '\0';
	}
	return err_set(err, ELOOP,
		       "%s leads back to %s (%s), so frames would go round for ever; choose a "
		       "device that is not on %s",
		       name, bond_name, text, bond_name);
}

int enslave_loop_check(struct bond *bond, const struct link_info *link,
		       const struct link_list *devices, struct err *err)
{
	struct way way = { .daemon = bond->daemon, .devices = devices };
	size_t met;
	int r = 0;

	/* Room for each device, for one below it in another namespace, and for the top. */
	way.size = 2 * devices->count + 1;
	for (struct bond *other = bond->daemon->bonds; other; other = other->next)
		way.size += bond_slave_count(other);
	way.step = memory_need(calloc(way.size, sizeof(*way.step)));
	met = enslave_loop_go_down(&way, bond, link->ifindex);
	if (met != NOBODY)
		r = enslave_loop_refuse(&way, met, link->name, bond_pin(bond)->name, err);
	free(way.step);
	return r;
}
