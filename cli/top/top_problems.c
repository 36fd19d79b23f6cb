/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/top/top_problems.h"

#include <stdio.h>

#include "cli/top/top_cells.h"
#include "common/drops.h"
#include "common/set_down.h"
#include "view/json_value.h"
#include "view/view_problem.h"

static void top_problems_add(json_t *lines, json_t *line)
{
	json_array_append_new(lines, line);
}

static void top_problems_add_of(json_t *lines, const struct top_slave *slave, const char *before,
				const char *words)
{
	json_t *name = json_value_text(slave->name);

	if (words[0])
		top_problems_add(lines,
				 json_sprintf("%s: %s%s", json_string_value(name), before, words));
	json_decref(name);
}

static void top_problems_add_drop(json_t *lines, const struct top_slave *slave,
				  enum xbond_drop reason)
{
	char rate[TOP_NUMBER_SIZE], words[128];

	top_cells_rate(rate, slave->drops.rate[reason]);
	snprintf(words, sizeof(words), "drops %s packets/s: %s", rate, drops_words(reason));
	top_problems_add_of(lines, slave, "", words);
}

/* A backup drops what it receives, and so does a bond without carrier: nothing is wrong then. */
static void top_problems_add_drops(json_t *lines, const struct top_slave *slave)
{
	for (unsigned int i = 0; i < XBOND_DROPS; i++)
		if (slave->drops.rate[i] > 0 && drops_is_of_control(i))
			top_problems_add_drop(lines, slave, i);
}

static void top_problems_add_slave(json_t *lines, const struct top_slave *slave)
{
	if (slave->rest == TOP_REST_NOT)
		top_problems_add_of(lines, slave, slave->is_active ? "" : "not used: ", slave->why);
	top_problems_add_of(lines, slave, "", slave->problem);
	top_problems_add_drops(lines, slave);
}

static void top_problems_add_bond(json_t *lines, const struct top_bond *bond)
{
	if (!bond->has_bondd)
		top_problems_add(lines, json_string(view_problem_no_bondd));
	if (bond->is_detached)
		top_problems_add(lines, json_string(view_problem_detached_bond));
	if (bond->is_down)
		top_problems_add(lines, json_sprintf(SET_DOWN_BOND, bond->name));
	if (!bond->slave_count)
		top_problems_add(lines, json_string("it has no slaves"));
	else if (!bond->has_carrier)
		top_problems_add(lines, json_string("it has no carrier"));
}

json_t *top_problems(const struct top_bond *bond)
{
	json_t *lines = json_array();

	if (bond->error.text[0]) {
		top_problems_add(lines, json_string(bond->error.text));
		return lines;
	}
	top_problems_add_bond(lines, bond);
	for (size_t i = 0; i < bond->slave_count; i++)
		top_problems_add_slave(lines, &bond->slaves[i]);
	return lines;
}
