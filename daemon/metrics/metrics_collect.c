/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/slots.h"
#include "common/clock.h"
#include "common/memory.h"
#include "daemon/metrics/metrics.h"
#include "view/view_bond.h"
#include "view/view_json.h"

#define KEEP_NS (60 * NS_PER_S) /* longer than scrapers usually pause */

struct metrics_open {
	struct metrics_open *next;
	char name[XBOND_NAME_SIZE];
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
static bool metrics_pins_are_good(struct metrics_open *open)
{
	return pins_are_current(&open->pins) && !pins_open_added(&open->pins, NULL) &&
	       !pins_check(&open->pins, open->name, NULL);
}

static struct metrics_open **metrics_pins_at(struct metrics_pins *all, const char *name)
{
	struct metrics_open **at = &all->open;

	while (*at && strcmp((*at)->name, name))
		at = &(*at)->next;
	return at;
}

static int metrics_pins_open(struct metrics_pins *all, const char *name, struct metrics_open **at)
{
	struct metrics_open *open = memory_need(calloc(1, sizeof(*open)));
	int r = pins_open(&open->pins, all->bpf_dir, name, NULL);

	if (r) {
		free(open);
		return r;
	}
	strncpy(open->name, name, sizeof(open->name) - 1);
	open->next = *at;
	*at = open;
	return 0;
}

static int metrics_pins_find(struct metrics_pins *all, const char *name,
			     const struct pins **ret_pins)
{
	struct metrics_open **at = metrics_pins_at(all, name);
	int r;

	if (*at && !metrics_pins_are_good(*at))
		metrics_pins_close(at);
	at = metrics_pins_at(all, name);
	r = *at ? 0 : metrics_pins_open(all, name, at);
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

/* Metrics */

#define NAME_ESCAPED METRICS_ESCAPED(XBOND_NAME_SIZE)
#define LABELS_SIZE 256

/*
 * All samples of a metric stand together, but they are read bond by bond. So each metric of a table
 * has a text of its own, in the order of the rows.
 */
struct metrics_section {
	struct metrics_text *metric;
	size_t count;
};

struct metrics_all {
	struct metrics_section bondd, bonds, slaves;
};

/* Whose metrics they are: bondd's, a bond's or a slave's. */
struct metrics_holder {
	char bond[NAME_ESCAPED], labels[LABELS_SIZE];
};

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

static void metrics_write_field(struct metrics_text *text, const struct view_field *field,
				const struct view_place *place, const struct metrics_holder *holder)
{
	const struct view_metric *metric = &field->metric;
	json_t *value = view_value(field, place);
	char labels[LABELS_SIZE];

	if (metric->of)
		snprintf(labels, sizeof(labels), "%s=\"%s\"", metric->of, holder->bond);
	metrics_write_value(text, metric, metric->of ? labels : holder->labels, value);
	json_decref(value);
}

static bool metrics_has(const struct view_field *field, const struct view_place *place)
{
	const struct view_source *source = place->source;

	return view_has(field, source) && (source->pins || field->foreign);
}

/* Where the field's table is read. A port that LACP has not taken up yet has no numbers. */
static bool metrics_has_table(const struct view_field *field, struct view_place *place)
{
	if (field->table == &view_table_lacp_slave &&
	    !slots_have(place->source->lacp->used, place->slot))
		return false;
	place->at = field->base(place);
	return place->at;
}

/* place NULL: there is nothing of this table. Returns where the metrics behind it are. */
static struct metrics_text *metrics_write(struct metrics_text *text, const struct view_table *table,
					  const struct view_place *place,
					  const struct metrics_holder *holder)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct view_field *field = &table->fields[i];
		bool has = place && metrics_has(field, place);
		struct view_place inner;

		if (field->metric.name && has)
			metrics_write_field(text, field, place, holder);
		if (field->metric.name)
			text++;
		if (!field->base)
			continue;
		if (has)
			inner = *place;
		has = has && metrics_has_table(field, &inner);
		text = metrics_write(text, field->table, has ? &inner : NULL, holder);
	}
	return text;
}

static void metrics_begin_one(struct metrics_section *section, const struct view_field *field,
			      enum metrics_format format)
{
	struct view_metric metric = field->metric;
	struct metrics_text *text;

	if (!metric.help)
		metric.help = field->means;
	memory_more(section->metric, section->count);
	text = &section->metric[section->count++];
	*text = (struct metrics_text){ .format = format };
	metrics_text_begin(text, &metric);
}

static void metrics_begin(struct metrics_section *section, const struct view_table *table,
			  enum metrics_format format)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct view_field *field = &table->fields[i];

		if (field->metric.name)
			metrics_begin_one(section, field, format);
		if (field->base)
			metrics_begin(section, field->table, format);
	}
}

static void metrics_end(struct metrics_section *section, struct metrics_text *text)
{
	for (size_t i = 0; i < section->count; i++)
		metrics_text_take(text, &section->metric[i]);
	free(section->metric);
}

/* As JSON has the name. */
static void metrics_escape_name(char ret_text[NAME_ESCAPED], const char *name)
{
	json_t *json = json_value_text(name);
	const char *text = json_string_value(json);

	metrics_text_escape(ret_text, NAME_ESCAPED, text ? text : "");
	json_decref(json);
}

static void metrics_add_slaves(struct metrics_all *all, const struct view_source *source,
			       struct metrics_holder *holder)
{
	const struct pins *pins = source->pins;
	char slave[NAME_ESCAPED];

	for (unsigned int slot = 0; pins && slot < XBOND_MAX_SLAVES; slot++) {
		struct view_place place = { source, slot, &pins->slaves[slot], NULL };

		if (!pins_is_member(pins, slot))
			continue;
		metrics_escape_name(slave, pins->slaves[slot].name);
		snprintf(holder->labels, sizeof(holder->labels), "bond=\"%s\",slave=\"%s\"",
			 holder->bond, slave);
		metrics_write(all->slaves.metric, &view_table_slave, &place, holder);
	}
}

/* False: it has gone, or cannot be counted. */
static bool metrics_add_bond(struct metrics_all *all, struct metrics_pins *open, const char *name)
{
	struct view_source source = { .name = name };
	struct view_place place = { &source, XBOND_DROPS_OF_BOND, NULL, NULL };
	struct metrics_holder holder;
	struct lacp_system lacp;
	int r = metrics_pins_find(open, name, &source.pins);

	if (r == -ENOENT || (source.pins && view_source_fill(&source, &lacp)))
		return false;
	metrics_escape_name(holder.bond, name);
	snprintf(holder.labels, sizeof(holder.labels), "bond=\"%s\"", holder.bond);
	place.at = source.pins ? source.pins->bond : NULL;
	metrics_write(all->bonds.metric, &view_table_bond, &place, &holder);
	metrics_add_slaves(all, &source, &holder);
	return true;
}

static void metrics_add_bondd(struct metrics_all *all, const char *run_dir, unsigned int bonds)
{
	struct view_source source = { .bonds = bonds };
	struct view_place place = { .source = &source };
	struct metrics_holder holder = { 0 };
	struct loop_figures loop;

	if (!loop_read(run_dir, &loop))
		source.loop = &loop;
	metrics_write(all->bondd.metric, &view_table_bondd, &place, &holder);
}

static char *metrics_collect_text(struct metrics_pins *pins, const char *run_dir,
				  enum metrics_format format, size_t *ret_length)
{
	struct metrics_text text = { .format = format };
	struct metrics_all all = { 0 };
	unsigned int bonds = 0;
	char **names;

	if (pins_names(&names, pins->bpf_dir, NULL))
		return NULL;
	metrics_begin(&all.bondd, &view_table_bondd, format);
	metrics_begin(&all.bonds, &view_table_bond, format);
	metrics_begin(&all.slaves, &view_table_slave, format);
	for (char **name = names; *name; name++)
		bonds += metrics_add_bond(&all, pins, *name);
	memory_free_texts(names);
	metrics_add_bondd(&all, run_dir, bonds);
	metrics_end(&all.bondd, &text);
	metrics_end(&all.bonds, &text);
	metrics_end(&all.slaves, &text);
	metrics_text_finish(&text);
	*ret_length = text.length;
	return text.bytes;
}

/* NULL: it has gone. */
static json_t *metrics_collect_bond_json(struct metrics_pins *all, const char *name,
					 const struct loop_figures *loop)
{
	const struct pins *pins = NULL;
	int r = metrics_pins_find(all, name, &pins);
	uint32_t abi;

	if (r == -EPROTO) {
		pins_abi(all->bpf_dir, name, &abi, NULL);
		return view_foreign(name, abi, true);
	}
	return r || !pins ? NULL : view_bond(pins, name, pins_bondd_alive(pins), loop);
}

static char *metrics_collect_json(struct metrics_pins *pins, const char *run_dir,
				  size_t *ret_length)
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
	memory_free_texts(names);
	text = json_dumps(all, JSON_COMPACT | JSON_VALUE_REALS);
	json_decref(all);
	*ret_length = text ? strlen(text) : 0;
	return text;
}

char *metrics_collect(struct metrics_pins *pins, const char *run_dir, enum metrics_format format,
		      size_t *ret_length)
{
	*ret_length = 0;
	if (format == METRICS_JSON)
		return metrics_collect_json(pins, run_dir, ret_length);
	return metrics_collect_text(pins, run_dir, format, ret_length);
}
