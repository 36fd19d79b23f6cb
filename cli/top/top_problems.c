/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/top/top_problems.h"

#include "cli/top/top_cells.h"
#include "common/readings.h"
#include "view/json_value.h"

static void top_problems_add(json_t *lines, json_t *line)
{
	json_array_append_new(lines, line);
}

static void top_problems_add_drop(json_t *lines, const struct top_slave *slave,
				  enum xbond_drop reason)
{
	json_t *name = json_value_text(slave->name);
	char rate[TOP_NUMBER_SIZE];

	top_cells_rate(rate, slave->drops.rate[reason]);
	top_problems_add(lines, json_sprintf("%s: drops %s packets/s: %s", json_string_value(name),
					     rate, drops_words(reason)));
	json_decref(name);
}

/* A backup drops what it receives, and so does a bond without carrier: nothing is wrong then. */
static void top_problems_add_drops(json_t *lines, const struct top_slave *slave)
{
	for (unsigned int i = 0; i < XBOND_DROPS; i++)
		if (slave->drops.rate[i] > 0 && drops_is_of_control(i))
			top_problems_add_drop(lines, slave, i);
}

json_t *top_problems(const struct top_bond *bond)
{
	json_t *lines = json_array();

	if (bond->error.text[0]) {
		top_problems_add(lines, json_string(bond->error.text));
		return lines;
	}
	json_array_extend(lines, bond->problems);
	for (size_t i = 0; i < bond->slave_count; i++)
		top_problems_add_drops(lines, &bond->slaves[i]);
	return lines;
}
