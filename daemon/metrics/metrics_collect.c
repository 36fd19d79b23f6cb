/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/clock.h"
#include "common/memory.h"
#include "common/slots.h"
#include "daemon/metrics/metrics.h"
#include "view/view_bond.h"
#include "view/view_json.h"

#define KEEP_NS (60 * NS_PER_S) /* longer than scrapers usually pause */

struct metrics_open {
	struct metrics_open *next;
	char name[XBOND_NAME_SIZE];
	/* Of the directory: another one is there after an upgrade of the maps. */
	dev_t device;
	ino_t inode;
	uint64_t used_ns;
	struct pins pins;
};

struct metrics_pins {
	const char *bpf_dir;
	struct metrics_open *open;
};

struct metrics_pins *metrics_pins_new(const char *bpf_dir)
{
	struct metrics_pins *all = memory_need(calloc(1, sizeof(*all)));

	all->bpf_dir = bpf_dir;
	return all;
}

static void metrics_pins_close(struct metrics_open **at)
{
	struct metrics_open *open = *at;

	*at = open->next;
	pins_close(&open->pins);
	free(open);
}

void metrics_pins_free(struct metrics_pins *all)
{
	while (all && all->open)
		metrics_pins_close(&all->open);
	free(all);
}

/* The content of the maps may have changed in any way. */
static bool metrics_pins_are_good(struct metrics_open *open, const struct stat *dir)
{
	return open->device == dir->st_dev && open->inode == dir->st_ino &&
	       !pins_open_added(&open->pins, NULL) && !pins_check(&open->pins, open->name, NULL);
}

static struct metrics_open **metrics_pins_at(struct metrics_pins *all, const char *name)
{
	struct metrics_open **at = &all->open;

	while (*at && strcmp((*at)->name, name))
		at = &(*at)->next;
	return at;
}

static int metrics_pins_open(struct metrics_pins *all, const char *name, const struct stat *dir,
			     struct metrics_open **at)
{
	struct metrics_open *open = memory_need(calloc(1, sizeof(*open)));
	int r = pins_open(&open->pins, all->bpf_dir, name, NULL);

	if (r) {
		free(open);
		return r;
	}
	strncpy(open->name, name, sizeof(open->name) - 1);
	open->device = dir->st_dev;
	open->inode = dir->st_ino;
	open->next = *at;
	*at = open;
	return 0;
}

/* If the directory is exchanged between the two looks at it, the next answer finds that out. */
static int metrics_pins_find(struct metrics_pins *all, const char *name,
			     const struct pins **ret_pins)
{
	struct metrics_open **at = metrics_pins_at(all, name);
	char path[PATH_MAX];
	struct stat dir;
	int r;

	pins_path(path, sizeof(path), all->bpf_dir, name);
	if (stat(path, &dir))
		return -errno;
	if (*at && !metrics_pins_are_good(*at, &dir))
		metrics_pins_close(at);
	at = metrics_pins_at(all, name);
	r = *at ? 0 : metrics_pins_open(all, name, &dir, at);
	if (r)
		return r;
	(*at)->used_ns = clock_now_ns();
	*ret_pins = &(*at)->pins;
	return 0;
}

bool metrics_pins_close_unused(struct metrics_pins *all)
{
	uint64_t now_ns = clock_now_ns();
	struct metrics_open **at = &all->open;

	while (*at) {
		if (now_ns - (*at)->used_ns > KEEP_NS)
			metrics_pins_close(at);
		else
			at = &(*at)->next;
	}
	return all->open;
}

/* Reading */

#define NAME_ESCAPED METRICS_ESCAPED(XBOND_NAME_SIZE)
#define LABELS_SIZE 256

/* Whose metrics they are: bondd's, a bond's or a slave's, by the table that they were read by. */
struct metrics_holder {
	const struct view_table *table;
	char bond[NAME_ESCAPED], slave[NAME_ESCAPED];
	json_t *values; /* by the name of the metric */
};

struct metrics_all {
	struct metrics_holder *holders;
	size_t count, room;
};

/* As JSON has the name. */
static void metrics_escape_name(char ret_text[NAME_ESCAPED], const char *name)
{
	json_t *json = json_value_text(name);
	const char *text = json_string_value(json);

	metrics_text_escape(ret_text, NAME_ESCAPED, text ? text : "");
	json_decref(json);
}

/* A port that LACP has not taken up yet has no numbers. */
static bool metrics_has_table(const struct view_table *table, const struct view_place *place)
{
	return table != &view_table_lacp_slave ||
	       slots_have(place->source->lacp->used, place->slot);
}

static void metrics_read(json_t *values, const struct view_table *table,
			 const struct view_place *place)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct view_field *field = &table->fields[i];
		struct view_place inner = *place;

		if (!view_has(field, place->source) || (!place->source->pins && !field->foreign))
			continue;
		if (field->metric.name)
			json_object_set_new(values, field->metric.name, view_value(field, place));
		inner.at = field->base ? field->base(place) : NULL;
		if (inner.at && metrics_has_table(field->table, place))
			metrics_read(values, field->table, &inner);
	}
}

static struct metrics_holder *metrics_add(struct metrics_all *all, const struct view_table *table,
					  const struct view_place *place)
{
	struct metrics_holder *holder;

	if (all->count == all->room) {
		all->room = 2 * all->room + 16;
		all->holders =
			memory_need(realloc(all->holders, all->room * sizeof(*all->holders)));
	}
	holder = &all->holders[all->count++];
	*holder = (struct metrics_holder){ .table = table, .values = json_object() };
	if (place->source->name)
		metrics_escape_name(holder->bond, place->source->name);
	metrics_read(holder->values, table, place);
	return holder;
}

static void metrics_add_slaves(struct metrics_all *all, const struct view_source *source)
{
	const struct pins *pins = source->pins;

	for (unsigned int slot = 0; pins && slot < XBOND_MAX_SLAVES; slot++) {
		struct view_place place = { source, slot, &pins->slaves[slot], NULL };
		struct metrics_holder *holder;

		if (!pins_is_member(pins, slot))
			continue;
		holder = metrics_add(all, &view_table_slave, &place);
		metrics_escape_name(holder->slave, pins->slaves[slot].name);
	}
}

/* False: it has gone, or cannot be counted. */
static bool metrics_add_bond(struct metrics_all *all, struct metrics_pins *open, const char *name)
{
	struct view_source source = { .name = name };
	struct view_place place = { &source, XBOND_DROPS_OF_BOND, NULL, NULL };
	struct lacp_system lacp;
	int r = metrics_pins_find(open, name, &source.pins);

	if (r == -ENOENT || (source.pins && view_source_fill(&source, &lacp)))
		return false;
	place.at = source.pins ? source.pins->bond : NULL;
	metrics_add(all, &view_table_bond, &place);
	metrics_add_slaves(all, &source);
	return true;
}

static void metrics_add_bondd(struct metrics_all *all, const char *run_dir, unsigned int bonds)
{
	struct view_source source = { .bonds = bonds };
	struct view_place place = { .source = &source };
	struct loop_figures loop;

	if (!loop_read(run_dir, &loop))
		source.loop = &loop;
	metrics_add(all, &view_table_bondd, &place);
}

/* Writing */

static double metrics_number(const struct view_metric *metric, const json_t *value)
{
	if (json_is_string(value))
		return !strcmp(json_string_value(value), metric->is);
	if (json_is_boolean(value))
		return json_is_true(value);
	if (!json_is_number(value))
		return NAN;
	return json_number_value(value) * (metric->scale > 0 ? metric->scale : 1);
}

/* The members of the object as labels. */
static void metrics_info_labels(const json_t *info, char ret_text[LABELS_SIZE])
{
	size_t length = 0;
	const json_t *value;
	const char *name;

	ret_text[0] = '\0';
	json_object_foreach ((json_t *)info, name, value) {
		const char *comma = length ? "," : "";

		if (json_is_string(value))
			length += (size_t)snprintf(ret_text + length, LABELS_SIZE - length,
						   "%s%s=\"%s\"", comma, name,
						   json_string_value(value));
		else
			length += (size_t)snprintf(ret_text + length, LABELS_SIZE - length,
						   "%s%s=\"%lld\"", comma, name,
						   json_integer_value(value));
	}
}

static void metrics_write_histogram(struct metrics_text *text, const struct view_metric *metric,
				    const char *labels, const json_t *value)
{
	struct metrics_histogram histogram = { .known = json_is_array(value) };

	for (size_t i = 0; i < METRICS_BUCKETS; i++)
		histogram.bucket[i] = json_number_value(json_array_get(value, i));
	histogram.sum_s = json_number_value(json_array_get(value, METRICS_BUCKETS));
	metrics_text_histogram(text, metric, labels, &histogram);
}

static void metrics_write_each(struct metrics_text *text, const struct view_metric *metric,
			       const char *labels, const json_t *values)
{
	char more[LABELS_SIZE];
	const json_t *value;
	const char *key;

	json_object_foreach ((json_t *)values, key, value) {
		snprintf(more, sizeof(more), "%s=\"%s\"", metric->labels, key);
		metrics_text_sample(text, metric, labels, more, metrics_number(metric, value));
	}
}

static void metrics_write_value(struct metrics_text *text, const struct view_metric *metric,
				const char *labels, const json_t *value)
{
	char more[LABELS_SIZE];

	if (metric->type == METRICS_HISTOGRAM) {
		metrics_write_histogram(text, metric, labels, value);
	} else if (metric->type == METRICS_INFO) {
		metrics_info_labels(value, more);
		metrics_text_sample(text, metric, labels, more, *more ? 1 : NAN);
	} else if (metric->labels) {
		metrics_write_each(text, metric, labels, value);
	} else {
		metrics_text_sample(text, metric, labels, NULL, metrics_number(metric, value));
	}
}

static void metrics_write_holder(struct metrics_text *text, const struct view_metric *metric,
				 const struct metrics_holder *holder)
{
	const json_t *value = json_object_get(holder->values, metric->name);
	char labels[LABELS_SIZE] = "";

	if (*holder->slave)
		snprintf(labels, sizeof(labels), "bond=\"%s\",slave=\"%s\"", holder->bond,
			 holder->slave);
	else if (*holder->bond)
		snprintf(labels, sizeof(labels), "%s=\"%s\"", metric->of ? metric->of : "bond",
			 holder->bond);
	metrics_write_value(text, metric, labels, value);
}

/* All samples of a metric stand together. top: the table that has this one in it. */
static void metrics_write(struct metrics_text *text, const struct metrics_all *all,
			  const struct view_table *top, const struct view_table *table)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct view_field *field = &table->fields[i];
		struct view_metric metric = field->metric;

		if (!metric.help)
			metric.help = field->means;
		if (metric.name)
			metrics_text_begin(text, &metric);
		for (size_t at = 0; metric.name && at < all->count; at++)
			if (all->holders[at].table == top)
				metrics_write_holder(text, &metric, &all->holders[at]);
		if (field->base)
			metrics_write(text, all, top, field->table);
	}
}

static void metrics_free_all(struct metrics_all *all)
{
	for (size_t i = 0; i < all->count; i++)
		json_decref(all->holders[i].values);
	free(all->holders);
}

char *metrics_collect_text(struct metrics_pins *pins, const char *run_dir,
			   enum metrics_format format, size_t *ret_length)
{
	struct metrics_text text = { .format = format };
	struct metrics_all all = { 0 };
	unsigned int bonds = 0;
	char **names;

	*ret_length = 0;
	if (pins_names(&names, pins->bpf_dir, NULL))
		return NULL;
	for (char **name = names; *name; name++)
		bonds += metrics_add_bond(&all, pins, *name);
	pins_names_free(names);
	metrics_add_bondd(&all, run_dir, bonds);
	metrics_write(&text, &all, &view_table_bondd, &view_table_bondd);
	metrics_write(&text, &all, &view_table_bond, &view_table_bond);
	metrics_write(&text, &all, &view_table_slave, &view_table_slave);
	metrics_text_finish(&text);
	metrics_free_all(&all);
	*ret_length = text.length;
	return text.bytes;
}

/* NULL: it has gone. */
static json_t *metrics_collect_bond_json(struct metrics_pins *all, const char *name,
					 const struct loop_figures *loop)
{
	const struct pins *pins = NULL;
	int r = metrics_pins_find(all, name, &pins);

	if (r == -EPROTO)
		return view_foreign(name, pins_abi(all->bpf_dir, name, NULL), true);
	return r || !pins ? NULL : view_bond(pins, name, pins_bondd_alive(pins), loop);
}

char *metrics_collect_json(struct metrics_pins *pins, const char *run_dir, size_t *ret_length)
{
	json_t *all = json_array();
	struct loop_figures loop;
	bool is_known = !loop_read(run_dir, &loop);
	char **names, *text;

	if (pins_names(&names, pins->bpf_dir, NULL)) {
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
