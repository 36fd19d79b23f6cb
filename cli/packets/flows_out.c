/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What flows has seen, as text and as JSON: estimates, and how far they can be trusted. */
#include "cli/packets/packets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/base/cli.h"
#include "common/mode.h"
#include "view/view_field.h"

#define UNSEEN_PART 0.8 /* fewer than this part of what was counted: something is not sampled */
#define UNSEEN_LEAST 100

/* By slot, then the largest first. */
static int flows_compare(const void *a, const void *b)
{
	const struct flow_count *one = a, *other = b;

	if (one->slot != other->slot)
		return one->slot < other->slot ? -1 : 1;
	return (other->bytes > one->bytes) - (other->bytes < one->bytes);
}

void flows_sort(struct flows *flows)
{
	struct flow_counts *counts = &flows->counts;
	size_t count = 0;

	for (size_t at = 0; at < counts->capacity; at++)
		if (counts->flows[at].packets > 0)
			counts->flows[count++] = counts->flows[at];
	qsort(counts->flows, count, sizeof(*counts->flows), flows_compare);
	while (count--) {
		struct flows_slave *slave = &flows->slave[counts->flows[count].slot];

		slave->flow = &counts->flows[count];
		slave->flow_count++;
		slave->flow_bytes += slave->flow->bytes;
	}
}

/* Packets that the ring had no room for were like the others. */
static double flows_scale(const struct flows_slave *slave)
{
	uint64_t taken = slave->tap.seen - slave->tap.dropped;

	return taken ? (double)slave->tap.seen / (double)taken : 1;
}

static double flows_estimate(const struct flows_slave *slave)
{
	return (double)slave->samples * slave->flows->one_of * flows_scale(slave);
}

/* An estimate of the whole slave is at most what was counted. */
static double flows_at_most(double estimate, uint64_t counted)
{
	return estimate > (double)counted ? (double)counted / estimate : 1;
}

/* What a flow sent, from its samples. */
struct flows_rate {
	struct tuple tuple;
	uint64_t samples;
	double packets_per_s, bits_per_s;
	double share;	    /* of the slave's bytes */
	double uncertainty; /* half the width of the range of the true rate, with 95 % probability
			     */
};

static struct flows_rate flows_rate(const struct flows_slave *slave, const struct flow_count *flow)
{
	const struct flows *flows = slave->flows;
	double scale = flows_scale(slave), sampled = 1 / (flows->one_of * scale);
	double packets = scale * flows_at_most(flows_estimate(slave), slave->packets);
	double bytes = scale * flows_at_most((double)slave->sampled_bytes / sampled, slave->bytes);

	return (struct flows_rate){
		.tuple = flow->tuple,
		.samples = flow->samples,
		.packets_per_s = flow->packets * packets / flows->seconds,
		.bits_per_s = 8 * flow->bytes * bytes / flows->seconds,
		.share = flow->bytes / slave->flow_bytes,
		.uncertainty = 1.96 * sqrt((1 - sampled) / (double)flow->samples),
	};
}

/* Why the samples do not show everything; NULL if they do, as far as can be told. */
static const char *flows_unseen(const struct flows_slave *slave)
{
	const struct flows *flows = slave->flows;
	double counted = (double)slave->packets;

	if (slave->has_left)
		return "left during the measurement";
	if (flows->direction == TAP_IN && flows->pins->slaves[slave->slot].rx_hook == XBOND_RX_XDP)
		return "it receives through XDP, which bypasses the sampling: most "
		       "flows are missing";
	if (flows->direction == TAP_OUT && flows->pins->table->flags & XBOND_F_XDP_TX)
		return "frames that XDP programs send through the bond are not sampled";
	if (counted > UNSEEN_LEAST && flows_estimate(slave) < UNSEEN_PART * counted)
		return "fewer packets were sampled than counted: some bypass the "
		       "sampling";
	return NULL;
}

void flows_judge(struct flows *flows, unsigned int slot)
{
	struct flows_slave *slave = &flows->slave[slot];

	slave->packets_per_s = slave->has_left ? -1 : (double)slave->packets / flows->seconds;
	slave->bits_per_s = slave->has_left ? -1 : 8 * (double)slave->bytes / flows->seconds;
	slave->unseen = flows_unseen(slave);
}

static void flows_print_flows(const struct flows_slave *slave)
{
	const struct flows *flows = slave->flows;
	char text[TUPLE_TEXT];

	for (size_t i = 0; i < slave->flow_count && i < flows->top; i++) {
		struct flows_rate rate = flows_rate(slave, &slave->flow[i]);

		printf("%12.3f %10.0f %6.1f%%", 1e-6 * rate.bits_per_s, rate.packets_per_s,
		       100 * rate.share);
		if (flows->one_of > 1 || slave->tap.dropped)
			printf(" %4.0f%%", 100 * rate.uncertainty);
		else
			printf("     -");
		printf("  %s\n", tuple_format(&slave->flow[i].tuple, text));
	}
}

static void flows_print_slave(const struct flows_slave *slave)
{
	char name[XBOND_NAME_SIZE];

	cli_name(slave->name, name);
	if (slave->has_left) {
		printf("\n%s: %s\n", name, slave->unseen);
		return;
	}
	printf("\n%s: %.3f Mbit/s, %.0f packets/s, %zu flow%s\n", name, 1e-6 * slave->bits_per_s,
	       slave->packets_per_s, slave->flow_count, slave->flow_count == 1 ? "" : "s");
	if (slave->unseen)
		printf("  %s\n", slave->unseen);
	flows_print_flows(slave);
}

void flows_print(const struct flows *flows)
{
	printf("%s, %s: %s in %.1f s", flows->bond, mode_name(flows->mode),
	       flows->direction == TAP_OUT ? "sent" : "received", flows->seconds);
	if (flows->one_of > 1)
		printf(", 1 packet of %u sampled", flows->one_of);
	putchar('\n');
	if (!flows->all_counted)
		puts("There are too many flows: the newest are missing.");
	printf("\n%12s %10s %7s %5s  %s\n", "Mbit/s", "packets/s", "share", "+-", "flow");
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (flows->slave[slot].open)
			flows_print_slave(&flows->slave[slot]);
}

/* The same as JSON. */

static json_t *flows_read_flows(const struct view_place *place)
{
	const struct flows_slave *slave = place->at;
	json_t *list = json_array();

	for (size_t i = 0; i < slave->flow_count && i < slave->flows->top && !slave->has_left;
	     i++) {
		struct flows_rate rate = flows_rate(slave, &slave->flow[i]);

		json_array_append_new(list, view_struct(place->field->table, &rate));
	}
	return list;
}

static json_t *flows_read_slaves(const struct view_place *place)
{
	const struct flows *flows = place->at;
	json_t *list = json_array();

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (flows->slave[slot].open)
			json_array_append_new(
				list, view_struct(place->field->table, &flows->slave[slot]));
	return list;
}

static const char *flows_direction_word(unsigned int direction)
{
	return direction == TAP_OUT ? "out" : direction == TAP_IN ? "in" : NULL;
}

static const struct view_field flows_fields_of_flow[] = {
	{ "flow", VIEW_OBJECT, "What its packets have in common.",
	  VIEW_IN(struct flows_rate, tuple), .table = &tuple_table },
	{ "bits_per_s", VIEW_REAL, "Its rate.", VIEW_IN(struct flows_rate, bits_per_s) },
	{ "packets_per_s", VIEW_REAL, "Likewise.", VIEW_IN(struct flows_rate, packets_per_s) },
	{ "share", VIEW_REAL, "Its part of the bytes of its slave, 0 to 1.",
	  VIEW_IN(struct flows_rate, share) },
	{ "uncertainty", VIEW_REAL,
	  "With a probability of 95 %, the true packet rate differs by no more than this part of "
	  "it.",
	  VIEW_IN(struct flows_rate, uncertainty) },
	{ "samples", VIEW_COUNT, "Its packets that were sampled.",
	  VIEW_IN(struct flows_rate, samples) },
};

static const struct view_table flows_table_of_flow = VIEW_TABLE("flow", flows_fields_of_flow);

static const struct view_field flows_fields_of_slave[] = {
	{ "name", VIEW_TEXT, "The name of the device.", VIEW_IN(struct flows_slave, name) },
	{ "bits_per_s", VIEW_REAL, "Counted, not estimated; null if it left while it was measured.",
	  VIEW_IN(struct flows_slave, bits_per_s), .null = true },
	{ "packets_per_s", VIEW_REAL, "Likewise.", VIEW_IN(struct flows_slave, packets_per_s),
	  .null = true },
	{ "samples", VIEW_COUNT, "Its packets that were sampled.",
	  VIEW_IN(struct flows_slave, samples) },
	{ "samples_dropped", VIEW_COUNT,
	  "Those that the kernel dropped because bondctl was too slow.",
	  VIEW_IN(struct flows_slave, tap.dropped) },
	{ "flows_seen", VIEW_COUNT, "How many flows were seen.",
	  VIEW_IN(struct flows_slave, flow_count) },
	{ "unseen", VIEW_STRING, "Why the samples do not show everything; null if they do.",
	  VIEW_IN(struct flows_slave, unseen), .null = true },
	{ "flows", VIEW_ARRAY, "Its flows, the largest first.", .read = flows_read_flows,
	  .table = &flows_table_of_flow },
};

static const struct view_table flows_table_of_slave = VIEW_TABLE("slave", flows_fields_of_slave);

static const struct view_field flows_fields[] = {
	{ "bond", VIEW_STRING, "The name of the bond.", VIEW_IN(struct flows, bond) },
	{ "mode", VIEW_WORD, "Its mode.", VIEW_IN(struct flows, mode), .word = view_mode_word },
	{ "direction", VIEW_WORD, "Out: packets that it sent.", VIEW_IN(struct flows, direction),
	  .word = flows_direction_word },
	{ "seconds", VIEW_REAL, "How long was measured.", VIEW_IN(struct flows, seconds) },
	{ "one_of", VIEW_COUNT, "One packet of so many was sampled.",
	  VIEW_IN(struct flows, one_of) },
	{ "all_flows_counted", VIEW_TRUTH, "False if there were too many flows to know them all.",
	  VIEW_IN(struct flows, all_counted) },
	{ "slaves", VIEW_ARRAY, "Its slaves.", .read = flows_read_slaves,
	  .table = &flows_table_of_slave },
};

const struct view_table flows_table = VIEW_TABLE("flows", flows_fields);
