/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is shown of bondd and of packets, and what `stats` shows. */
#include "common/clock.h"
#include "common/drops.h"
#include "common/version.h"
#include "view/json_value.h"
#include "view/view_field.h"

/* Packets */

#define PACKETS(member, metric_name, metric_unit, sentence, more)                            \
	{                                                                                    \
#member, VIEW_COUNT, sentence, more, VIEW_IN(struct xbond_counters, member), \
			.metric = { METRICS_COUNTER, metric_name, .unit = metric_unit },     \
	}

static const struct view_field view_packets_of_bond[] = {
	PACKETS(tx_packets, "xbond_bond_transmit_packets", NULL,
		"Packets sent; a GSO packet is one.", "Control packets are not counted."),
	PACKETS(tx_bytes, "xbond_bond_transmit_bytes", "bytes", "Bytes sent.", NULL),
	PACKETS(rx_packets, "xbond_bond_receive_packets", NULL,
		"Packets received; a GRO packet is one.", NULL),
	PACKETS(rx_bytes, "xbond_bond_receive_bytes", "bytes", "Bytes received.", NULL),
	PACKETS(rx_dropped, "xbond_bond_receive_dropped_packets", NULL,
		"Packets received on slaves that were not to take them, or without the bond's "
		"carrier.",
		NULL),
};

static const struct view_field view_packets_of_slave[] = {
	PACKETS(tx_packets, "xbond_slave_transmit_packets", NULL,
		"Packets sent; a GSO packet is one.", "Control packets are not counted."),
	PACKETS(tx_bytes, "xbond_slave_transmit_bytes", "bytes", "Bytes sent.", NULL),
	PACKETS(rx_packets, "xbond_slave_receive_packets", NULL,
		"Packets received; a GRO packet is one.", NULL),
	PACKETS(rx_bytes, "xbond_slave_receive_bytes", "bytes", "Bytes received.", NULL),
	PACKETS(rx_dropped, "xbond_slave_receive_dropped_packets", NULL,
		"Packets received that it was not to take, or without the bond's carrier.", NULL),
};

const struct view_table view_table_packets_of_bond = VIEW_TABLE("packets", view_packets_of_bond);
const struct view_table view_table_packets_of_slave = VIEW_TABLE("packets", view_packets_of_slave);

const void *view_base_packets(const struct view_place *place)
{
	return &place->source->counters[place->slot];
}

json_t *view_read_drops(const struct view_place *place)
{
	bool of_bond = place->slot == XBOND_DROPS_OF_BOND;
	uint64_t packets[XBOND_DROPS];
	json_t *json = json_object();

	drops_read(place->source->pins, place->slot, packets);
	for (unsigned int i = 0; i < XBOND_DROPS; i++)
		if (drops_is_of_bond(i) == of_bond)
			json_object_set_new(json, drops_name(i),
					    packets[i] == DROPS_UNKNOWN
						    ? json_null()
						    : json_integer((json_int_t)packets[i]));
	return json;
}

/* Histograms of failovers and of turns: powers of two of microseconds. */

#define HISTOGRAM_CLASSES 28
_Static_assert(XBOND_FAILOVER_BUCKETS == HISTOGRAM_CLASSES && LOOP_BUCKETS == HISTOGRAM_CLASSES,
	       "the same classes");

struct view_class {
	uint64_t below_us, count;
	double below_ms;
};

static const struct view_field view_class_of_failovers[] = {
	{ "below", VIEW_COUNT, "A power of two, in microseconds.",
	  VIEW_IN(struct view_class, below_us) },
	{ "failovers", VIEW_COUNT, "How many took less than that, but at least half of it.",
	  VIEW_IN(struct view_class, count) },
};

static const struct view_field view_class_of_turns[] = {
	{ "below", VIEW_REAL, "In ms; a power of two of microseconds.",
	  VIEW_IN(struct view_class, below_ms) },
	{ "turns", VIEW_COUNT, "How many took less than that, but at least half of it.",
	  VIEW_IN(struct view_class, count) },
};

const struct view_table view_table_failovers = VIEW_TABLE("failovers", view_class_of_failovers);
static const struct view_table view_table_turns = VIEW_TABLE("turns", view_class_of_turns);

json_t *view_read_histogram(const struct view_place *place)
{
	const void *at = (const char *)place->at + place->field->offset;
	const uint64_t *histogram = at;
	json_t *json = json_array();

	for (unsigned int i = 0; i < HISTOGRAM_CLASSES; i++) {
		struct view_class class = { UINT64_C(1) << i, histogram[i],
					    (double)(UINT64_C(1) << i) / 1e3 };
		struct view_place inner = { place->source, place->slot, &class, NULL };

		if (histogram[i])
			json_array_append_new(json, view_object(place->field->table, &inner));
	}
	return json;
}

json_t *view_read_classes(const struct view_place *place)
{
	const void *at = (const char *)place->at + place->field->offset;
	const void *sum = (const char *)place->at + place->field->index;
	json_t *json = json_array();

	for (unsigned int i = 0; i < HISTOGRAM_CLASSES; i++)
		json_array_append_new(json, json_integer((json_int_t)((const uint64_t *)at)[i]));
	json_array_append_new(json, json_real((double)*(const uint64_t *)sum / 1e9));
	return json;
}

/* bondd */

static const struct loop_figures *view_loop(const struct view_place *place)
{
	return place->at;
}

const void *view_base_loop(const struct view_place *place)
{
	return place->source->loop;
}

static uint64_t view_running_ns(const struct loop_figures *loop)
{
	uint64_t now_ns = clock_now_ns(), began_ns = loop->began_ns;

	return began_ns && now_ns > began_ns ? now_ns - began_ns : 0;
}

static json_t *view_read_worst_ms(const struct view_place *place)
{
	uint64_t running_ns = view_running_ns(view_loop(place));
	uint64_t worst_ns = view_loop(place)->worst_ns;

	return json_real((double)(running_ns > worst_ns ? running_ns : worst_ns) / 1e6);
}

static json_t *view_read_worst_own_ms(const struct view_place *place)
{
	return json_real((double)view_loop(place)->worst_own_ns / 1e6);
}

static json_t *view_read_worst_s(const struct view_place *place)
{
	return json_real((double)view_loop(place)->worst_ns / 1e9);
}

static json_t *view_read_running_s(const struct view_place *place)
{
	return json_real((double)view_running_ns(view_loop(place)) / 1e9);
}

static json_t *view_read_build(const struct view_place *place)
{
	(void)place;
	return json_pack("{s:s}", "version", xbond_version);
}

static json_t *view_read_bonds(const struct view_place *place)
{
	return json_integer(place->source->bonds);
}

static const struct view_field view_fields_of_loop[] = {
	{ "worst_ms", VIEW_REAL, "The longest turn.", .read = view_read_worst_ms },
	{ "worst_work", VIEW_TEXT, "The work of that turn.",
	  VIEW_IN(struct loop_figures, worst_work), .null = true },
	{ "worst_own_ms", VIEW_REAL, "The longest turn, not counting the time it waited for a CPU.",
	  .read = view_read_worst_own_ms },
	{ "turns", VIEW_COUNT, "The number of turns.", VIEW_IN(struct loop_figures, turns) },
	{ "histogram_ms", VIEW_ARRAY, "How many turns took how long; no class is empty.",
	  VIEW_IN(struct loop_figures, histogram), .read = view_read_histogram,
	  .table = &view_table_turns },
};

static const struct view_field view_metrics_of_loop[] = {
	{ .means = "How long turns of bondd's main loop took.",
	  .means_of = "During a turn the loop cannot react to anything else.",
	  VIEW_IN(struct loop_figures, histogram),
	  .index = offsetof(struct loop_figures, total_ns),
	  .read = view_read_classes,
	  .foreign = true,
	  .metric = { METRICS_HISTOGRAM, "xbond_loop_turn_seconds", .unit = "seconds" } },
	{ .means = "The longest turn since bondd started.",
	  .read = view_read_worst_s,
	  .foreign = true,
	  .metric = { METRICS_GAUGE, "xbond_loop_worst_turn_seconds", .unit = "seconds" } },
	{ .means = "How long the current turn has been running; 0: the main loop waits for events.",
	  .read = view_read_running_s,
	  .foreign = true,
	  .metric = { METRICS_GAUGE, "xbond_loop_running_turn_seconds", .unit = "seconds" } },
};

const struct view_table view_table_loop = VIEW_TABLE("loop", view_fields_of_loop);
static const struct view_table view_table_loop_metrics = VIEW_TABLE(NULL, view_metrics_of_loop);

static const struct view_field view_fields_of_bondd[] = {
	{ .means = "The version of bondd.",
	  .read = view_read_build,
	  .foreign = true,
	  .metric = { METRICS_INFO, "xbond_build", .labels = "version" } },
	{ .means = "Bonds that have pins.",
	  .read = view_read_bonds,
	  .foreign = true,
	  .metric = { METRICS_GAUGE, "xbond_bonds" } },
	{ .type = VIEW_FIELDS,
	  .table = &view_table_loop_metrics,
	  .base = view_base_loop,
	  .foreign = true },
};

const struct view_table view_table_bondd = VIEW_TABLE(NULL, view_fields_of_bondd);

/* What `stats` shows */

static json_t *view_read_name(const struct view_place *place)
{
	return json_value_text(place->slot == XBOND_DROPS_OF_BOND
				       ? place->source->name
				       : place->source->pins->slaves[place->slot].name);
}

static const struct view_field view_stats_of_slave[] = {
	{ "name", VIEW_TEXT, .read = view_read_name },
	{ "counters", VIEW_OBJECT, .table = &view_table_packets_of_slave,
	  .base = view_base_packets },
	{ "drops", VIEW_OBJECT, .read = view_read_drops },
};

static const struct view_table view_table_slave_stats = VIEW_TABLE("slave", view_stats_of_slave);

static const struct view_field view_stats_of_bond[] = {
	{ "name", VIEW_TEXT, .read = view_read_name },
	{ "counters", VIEW_OBJECT, .table = &view_table_packets_of_slave,
	  .base = view_base_packets },
	{ "drops", VIEW_OBJECT, .read = view_read_drops },
	{ "slaves", VIEW_ARRAY, .read = view_read_slaves, .table = &view_table_slave_stats },
	{ "loop", VIEW_OBJECT, .table = &view_table_loop, .base = view_base_loop, .null = true },
};

const struct view_table view_table_stats = VIEW_TABLE("stats", view_stats_of_bond);
