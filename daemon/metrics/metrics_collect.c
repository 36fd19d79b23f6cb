/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/metrics/metrics_collect.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "daemon/metrics/metrics_families.h"
#include "view/json_value.h"
#include "view/view_bond.h"

static size_t metrics_collect_count(char **names)
{
	size_t count = 0;

	while (names[count])
		count++;
	return count;
}

/* False: it has gone, or cannot be counted. */
static bool metrics_collect_bond(struct metrics_pins *all, const char *name,
				 struct metrics_bond *ret_bond)
{
	const struct pins *pins = NULL;
	int r = metrics_pins_find(all, name, &pins);

	return r != -ENOENT && !metrics_bond_read(pins, name, ret_bond);
}

static int metrics_collect_all(struct metrics_pins *pins, const char *run_dir,
			       struct metrics_all *ret_all)
{
	char **names;
	int r = metrics_pins_names(pins, &names);

	*ret_all = (struct metrics_all){ 0 };
	if (r)
		return r;
	metrics_loop_read(run_dir, &ret_all->loop);
	ret_all->bonds =
		memory_need(calloc(metrics_collect_count(names) + 1, sizeof(*ret_all->bonds)));
	for (char **name = names; *name; name++)
		if (metrics_collect_bond(pins, *name, &ret_all->bonds[ret_all->count]))
			ret_all->count++;
	pins_names_free(names);
	ret_all->loop.bonds = (double)ret_all->count;
	return 0;
}

static void metrics_collect_done(struct metrics_all *all)
{
	for (size_t i = 0; i < all->count; i++)
		metrics_bond_done(&all->bonds[i]);
	free(all->bonds);
}

char *metrics_collect_text(struct metrics_pins *pins, const char *run_dir,
			   enum metrics_format format, size_t *ret_length)
{
	struct metrics_text text = { .format = format };
	struct metrics_all all;
	int r = metrics_collect_all(pins, run_dir, &all);

	if (!r)
		metrics_families_write(&text, &all);
	metrics_collect_done(&all);
	*ret_length = text.length;
	return text.bytes;
}

/* NULL: it has gone. */
static json_t *metrics_collect_bond_json(struct metrics_pins *all, const char *name,
					 const struct loop_figures *loop)
{
	const struct pins *pins;
	int r = metrics_pins_find(all, name, &pins);

	if (r == -EPROTO)
		return view_foreign(name, metrics_pins_abi(all, name), true);
	return r ? NULL : view_bond(pins, name, pins_bondd_alive(pins), loop);
}

char *metrics_collect_json(struct metrics_pins *pins, const char *run_dir, size_t *ret_length)
{
	json_t *all = json_array();
	struct loop_figures loop;
	bool is_known = !loop_read(run_dir, &loop);
	char **names, *text;

	if (metrics_pins_names(pins, &names)) {
		json_decref(all);
		return NULL;
	}
	for (char **name = names; *name; name++) {
		json_t *json = metrics_collect_bond_json(pins, *name, is_known ? &loop : NULL);

		if (json)
			json_array_append_new(all, json);
	}
	pins_names_free(names);
	text = json_dumps(all, JSON_COMPACT | JSON_VALUE_REALS);
	json_decref(all);
	*ret_length = text ? strlen(text) : 0;
	return text;
}
