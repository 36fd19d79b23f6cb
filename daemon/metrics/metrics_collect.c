/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/metrics/metrics_collect.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/metrics/metrics_families.h"
#include "view/view_bond.h"

static size_t metrics_collect_count(char **names)
{
	size_t count = 0;

	while (names[count])
		count++;
	return count;
}

/* A bond that goes meanwhile is left out. */
static int metrics_collect_bonds(const char *bpf_dir, char **names, struct metrics_all *all)
{
	int r = 0;

	all->bonds = calloc(metrics_collect_count(names) + 1, sizeof(*all->bonds));
	if (!all->bonds)
		return -ENOMEM;
	for (char **name = names; r != -ENOMEM && *name; name++) {
		r = metrics_bond_read(bpf_dir, *name, &all->bonds[all->count]);
		if (!r)
			all->count++;
	}
	return r == -ENOMEM ? r : 0;
}

static int metrics_collect_all(const struct paths *paths, struct metrics_all *ret_all)
{
	char **names;
	int r;

	*ret_all = (struct metrics_all){ 0 };
	metrics_loop_read(paths->run_dir, &ret_all->loop);
	r = pins_names(&names, paths->bpf_dir, NULL);
	if (r)
		return r;
	r = metrics_collect_bonds(paths->bpf_dir, names, ret_all);
	pins_names_free(names);
	ret_all->loop.bonds = (double)ret_all->count;
	return r;
}

static void metrics_collect_done(struct metrics_all *all)
{
	for (size_t i = 0; i < all->count; i++)
		metrics_bond_done(&all->bonds[i]);
	free(all->bonds);
}

char *metrics_collect_text(const struct paths *paths, enum metrics_format format,
			   size_t *ret_length)
{
	struct metrics_text text = { .format = format };
	struct metrics_all all;
	int r = metrics_collect_all(paths, &all);

	if (!r)
		metrics_families_write(&text, &all);
	metrics_collect_done(&all);
	if (!r && !text.failed) {
		*ret_length = text.length;
		return text.bytes;
	}
	free(text.bytes);
	return NULL;
}

/* NULL: it has gone, or there is no memory. */
static json_t *metrics_collect_bond_json(const char *bpf_dir, const char *name)
{
	struct pins pins;
	json_t *json;
	int r = pins_open(&pins, bpf_dir, name, NULL);

	if (r == -EPROTO)
		return view_foreign(name, pins_abi(bpf_dir, name, NULL), true);
	if (r)
		return NULL;
	json = view_bond(&pins, name, pins_bondd_alive(&pins));
	pins_close(&pins);
	return json;
}

char *metrics_collect_json(const struct paths *paths, size_t *ret_length)
{
	json_t *all = json_array();
	char **names, *text;

	if (pins_names(&names, paths->bpf_dir, NULL)) {
		json_decref(all);
		return NULL;
	}
	for (char **name = names; *name; name++) {
		json_t *json = metrics_collect_bond_json(paths->bpf_dir, *name);

		if (json)
			json_array_append_new(all, json);
	}
	pins_names_free(names);
	text = json_dumps(all, JSON_COMPACT);
	json_decref(all);
	*ret_length = text ? strlen(text) : 0;
	return text;
}
