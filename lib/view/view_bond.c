/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The JSON objects of `show` and `stats`, from the pinned maps alone, and what bonds and slaves
 * have in common: packets, and the figures of bondd.
 */
#include "view/view_bond.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/mode.h"
#include "common/paths.h"
#include "common/readings.h"
#include "view/view_field.h"
#include "view/view_json.h"

#define COUNTER_TRIES 3

const char *view_link_word(unsigned int link)
{
	static const char *const words[] = {
		[XBOND_LINK_DOWN] = "down",
		[XBOND_LINK_UP] = "up",
		[XBOND_LINK_GOING_UP] = "going_up",
		[XBOND_LINK_GOING_DOWN] = "going_down",
	};

	return link < sizeof(words) / sizeof(words[0]) ? words[link] : NULL;
}

json_t *view_attached(enum attached attached)
{
	return attached == ATTACHED_UNKNOWN ? json_null() : json_boolean(attached == ATTACHED);
}

/* Packets */

#define PACKETS(member, metric_name, metric_unit, sentence, other)                       \
	{                                                                                \
		.name = #member, .type = VIEW_COUNT, .means = sentence, .more = other,   \
		VIEW_IN(struct view_packets, all.member),                                \
		.metric = { METRICS_COUNTER, .name = metric_name, .unit = metric_unit }, \
	}

#define AFXDP(member, metric_name, metric_unit, sentence)                                \
	{                                                                                \
		.name = "afxdp_" #member, .type = VIEW_COUNT, .means = sentence,         \
		VIEW_IN(struct view_packets, afxdp.member),                              \
		.metric = { METRICS_COUNTER, .name = metric_name, .unit = metric_unit }, \
	}
#define AFXDP_ALL(of)                                                                      \
	AFXDP(tx_packets, of "_afxdp_transmit_packets", NULL,                              \
	      "Of the packets sent, those that programs sent by AF_XDP."),                 \
		AFXDP(tx_bytes, of "_afxdp_transmit_bytes", "bytes",                       \
		      "Of the bytes sent, those that programs sent by AF_XDP."),           \
		AFXDP(rx_packets, of "_afxdp_receive_packets", NULL,                       \
		      "Of the packets received, those that programs received by AF_XDP."), \
		AFXDP(rx_bytes, of "_afxdp_receive_bytes", "bytes",                        \
		      "Of the bytes received, those that programs received by AF_XDP.")

static const struct view_field view_packets_of_bond[] = {
	PACKETS(tx_packets, "xbond_bond_transmit_packets", NULL,
		"Packets sent; a GSO packet is one.", "Control packets are not counted."),
	PACKETS(tx_bytes, "xbond_bond_transmit_bytes", "bytes", "Bytes sent.", NULL),
	PACKETS(rx_packets, "xbond_bond_receive_packets", NULL,
		"Packets received; a GRO packet is one.", NULL),
	PACKETS(rx_bytes, "xbond_bond_receive_bytes", "bytes", "Bytes received.", NULL),
	PACKETS(rx_dropped, "xbond_bond_receive_dropped_packets", NULL,
		"Packets that arrived on slaves that do not receive for the bond, or while it had "
		"no carrier.",
		NULL),
	AFXDP_ALL("xbond_bond"),
};

static const struct view_field view_packets_of_slave[] = {
	PACKETS(tx_packets, "xbond_slave_transmit_packets", NULL,
		"Packets sent; a GSO packet is one.", "Control packets are not counted."),
	PACKETS(tx_bytes, "xbond_slave_transmit_bytes", "bytes", "Bytes sent.", NULL),
	PACKETS(rx_packets, "xbond_slave_receive_packets", NULL,
		"Packets received; a GRO packet is one.", NULL),
	PACKETS(rx_bytes, "xbond_slave_receive_bytes", "bytes", "Bytes received.", NULL),
	PACKETS(rx_dropped, "xbond_slave_receive_dropped_packets", NULL,
		"Packets that arrived while it did not receive for the bond, or the bond had no "
		"carrier.",
		NULL),
	AFXDP_ALL("xbond_slave"),
};

const struct view_table view_table_packets_of_bond = VIEW_TABLE("packets", view_packets_of_bond);
const struct view_table view_table_packets_of_slave = VIEW_TABLE("packets", view_packets_of_slave);

const void *view_base_packets(const struct view_place *place)
{
	return &place->source->packets[place->slot];
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

/* Histograms of failovers and of turns. */

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
	  .more = "During a turn the loop cannot react to anything else.",
	  VIEW_IN(struct loop_figures, histogram),
	  .index = offsetof(struct loop_figures, total_ns),
	  .read = view_read_classes,
	  .foreign = true,
	  .metric = { METRICS_HISTOGRAM, .name = "xbond_loop_turn_seconds", .unit = "seconds" } },
	{ .means = "The longest turn since bondd started.",
	  .read = view_read_worst_s,
	  .foreign = true,
	  .metric = { METRICS_GAUGE, .name = "xbond_loop_worst_turn_seconds", .unit = "seconds" } },
	{ .means = "How long the current turn has been running; 0: the main loop waits for events.",
	  .read = view_read_running_s,
	  .foreign = true,
	  .metric = { METRICS_GAUGE, .name = "xbond_loop_running_turn_seconds",
		      .unit = "seconds" } },
};

const struct view_table view_table_loop = VIEW_TABLE("loop", view_fields_of_loop);
static const struct view_table view_table_loop_metrics = VIEW_TABLE(NULL, view_metrics_of_loop);

static const struct view_field view_fields_of_bondd[] = {
	{ .means = "The version of bondd.",
	  .read = view_read_build,
	  .foreign = true,
	  .metric = { METRICS_INFO, .name = "xbond_build", .labels = "version" } },
	{ .means = "Bonds that have pins.",
	  .read = view_read_bonds,
	  .foreign = true,
	  .metric = { METRICS_GAUGE, .name = "xbond_bonds" } },
	{ .type = VIEW_FIELDS,
	  .table = &view_table_loop_metrics,
	  .base = view_base_loop,
	  .foreign = true },
};

const struct view_table view_table_bondd = VIEW_TABLE(NULL, view_fields_of_bondd);

/* Slaves */

json_t *view_read_slaves(const struct view_place *place)
{
	const struct pins *pins = place->source->pins;
	struct view_place inner = *place;
	json_t *json = json_array();

	for (unsigned int slot = 0; pins && slot < XBOND_MAX_SLAVES; slot++) {
		if (!pins_is_member(pins, slot))
			continue;
		inner.slot = slot;
		inner.at = &pins->slaves[slot];
		json_array_append_new(json, view_object(place->field->table, &inner));
	}
	return json;
}

/* What `stats` shows */

static json_t *view_read_name(const struct view_place *place)
{
	return json_value_text(place->slot == XBOND_DROPS_OF_BOND
				       ? place->source->name
				       : place->source->pins->slaves[place->slot].name);
}

static const struct view_field view_stats_of_slave[] = {
	{ "name", VIEW_TEXT, "The name of the device.", .read = view_read_name },
	{ "counters", VIEW_OBJECT, "Its packets, as in SHOW.",
	  .table = &view_table_packets_of_slave, .base = view_base_packets },
	{ "drops", VIEW_DROPS, "Packets that were dropped, by reason.", .read = view_read_drops },
};

static const struct view_table view_table_slave_stats = VIEW_TABLE("slave", view_stats_of_slave);

static const struct view_field view_stats_of_bond[] = {
	{ "name", VIEW_TEXT, "The name of its device.", .read = view_read_name },
	{ "counters", VIEW_OBJECT, "Its packets, as in SHOW.", .table = &view_table_packets_of_bond,
	  .base = view_base_packets },
	{ "drops", VIEW_DROPS, "Packets that were dropped and belong to no slave, by reason.",
	  .read = view_read_drops, .index = XBOND_DROPS_OF_BOND },
	{ "slaves", VIEW_ARRAY, "Its slaves.", .read = view_read_slaves,
	  .table = &view_table_slave_stats },
	{ "loop", VIEW_OBJECT, "The main loop of bondd (see THE MAIN LOOP).",
	  .table = &view_table_loop, .base = view_base_loop, .null = true },
};

const struct view_table view_table_stats = VIEW_TABLE("stats", view_stats_of_bond);

/* Objects of whole bonds */

static void view_read_afxdp(struct view_source *source)
{
	const struct xbond_afxdp *afxdp = source->pins->afxdp;
	struct xbond_counters *sum = &source->packets[XBOND_DROPS_OF_BOND].afxdp;

	*sum = afxdp->retired;
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		source->packets[slot].afxdp = afxdp->slot[slot];
		pins_add_counters(sum, &source->packets[slot].afxdp);
	}
}

/*
 * When a slave leaves, its counts move to the sum of those that have left. A sum that was read in
 * that moment is not right, and a counter that goes back counts as one that began again.
 */
static int view_read_counters(struct view_source *source)
{
	struct view_packets *of_bond = &source->packets[XBOND_DROPS_OF_BOND];
	const struct pins *pins = source->pins;
	struct xbond_counters before, after;
	int tries = COUNTER_TRIES, r;

	do {
		pins_retired_counters(pins, &before);
		if (pins->afxdp) /* first: it is a part of the others, which grow meanwhile */
			view_read_afxdp(source);
		r = pins_bond_counters(pins, &of_bond->all);
		pins_retired_counters(pins, &after);
	} while (!r && memcmp(&before, &after, sizeof(before)) && --tries);
	for (unsigned int slot = 0; !r && slot < XBOND_MAX_SLAVES; slot++)
		if (pins_is_member(pins, slot))
			r = pins_counters(pins, slot, &source->packets[slot].all);
	return r;
}

int view_source_fill(struct view_source *source, struct lacp_system *room)
{
	if (mode_has(source->pins->bond->mode, MODE_LACP)) {
		view_lacp_read(source->pins, room);
		source->lacp = room;
	}
	return view_read_counters(source);
}

json_t *view_bond(const struct pins *pins, const char *name, bool bondd,
		  const struct loop_figures *loop)
{
	struct view_source source = { .pins = pins, .name = name, .bondd = bondd, .loop = loop };
	struct view_place place = { &source, XBOND_DROPS_OF_BOND, pins->bond, NULL };
	struct client_entry *clients = NULL;
	struct lacp_system lacp;
	json_t *json = NULL;

	if (mode_has(pins->bond->mode, MODE_RECEIVES))
		source.client_count = client_table_read(pins->clients_fd, &clients);
	source.clients = clients;
	if (!view_source_fill(&source, &lacp))
		json = view_object(&view_table_bond, &place);
	free(clients);
	return json;
}

json_t *view_foreign(const char *name, uint32_t abi, bool bondd)
{
	struct view_source source = { .name = name, .abi = abi, .bondd = bondd };
	struct view_place place = { &source, XBOND_DROPS_OF_BOND, &source, NULL };

	return view_object(&view_table_bond, &place);
}

json_t *view_stats(const struct pins *pins, const char *name, const struct loop_figures *loop)
{
	struct view_source source = { .pins = pins, .name = name, .loop = loop };
	struct view_place place = { &source, XBOND_DROPS_OF_BOND, pins->bond, NULL };

	return view_read_counters(&source) ? NULL : view_object(&view_table_stats, &place);
}
