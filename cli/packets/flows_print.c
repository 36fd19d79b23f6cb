/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/base/cli.h"
#include "cli/packets/flows.h"
#include "common/mode.h"
#include "view/json_value.h"

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

/* The flows of the table without holes, in order. It is no hash table any more then. */
static size_t flows_sort(struct flows *flows)
{
	struct flow_counts *counts = &flows->counts;
	size_t count = 0;

	for (size_t at = 0; at < counts->capacity; at++)
		if (counts->flows[at].packets > 0)
			counts->flows[count++] = counts->flows[at];
	qsort(counts->flows, count, sizeof(*counts->flows), flows_compare);
	return count;
}

/* Packets that the ring had no room for were like the others. */
static double flows_scale(const struct flows_slave *slave)
{
	uint64_t taken = slave->tap.seen - slave->tap.dropped;

	return taken ? (double)slave->tap.seen / (double)taken : 1;
}

static double flows_estimate(const struct flows *flows, const struct flows_slave *slave)
{
	return (double)slave->samples * flows->one_of * flows_scale(slave);
}

/* An estimate of the whole slave is at most what was counted. */
static double flows_at_most(double estimate, uint64_t counted)
{
	return estimate > (double)counted ? (double)counted / estimate : 1;
}

/* The factors from the samples of a flow to what the flow sent, in packets and in bytes. */
static double flows_packets_scale(const struct flows *flows, const struct flows_slave *slave)
{
	return flows_scale(slave) * flows_at_most(flows_estimate(flows, slave), slave->packets);
}

static double flows_bytes_scale(const struct flows *flows, const struct flows_slave *slave)
{
	double scale = flows_scale(slave);

	return scale *
	       flows_at_most((double)slave->sampled_bytes * flows->one_of * scale, slave->bytes);
}

/* Half the width of the range in which the true rate of packets is with 95 % probability. */
static double flows_uncertainty(const struct flows *flows, const struct flows_slave *slave,
				uint64_t samples)
{
	double sampled = 1 / (flows->one_of * flows_scale(slave));

	return 1.96 * sqrt((1 - sampled) / (double)samples);
}

/* Why the samples do not show everything; NULL if they do, as far as can be told. */
static const char *flows_unseen(const struct flows *flows, unsigned int slot)
{
	const struct flows_slave *slave = &flows->slave[slot];
	double counted = (double)slave->packets;

	if (slave->has_left)
		return "left while it was measured";
	if (flows->direction == TAP_IN && flows->pins->slaves[slot].rx_hook == XBOND_RX_XDP)
		return "it receives through XDP, before packets are sampled: most flows are "
		       "missing";
	if (flows->direction == TAP_OUT && flows->pins->table->flags & XBOND_F_XDP_TX)
		return "frames that XDP programs send through the bond are not sampled";
	if (counted > UNSEEN_LEAST && flows_estimate(flows, slave) < UNSEEN_PART * counted)
		return "fewer packets were sampled than counted: some bypass the place where "
		       "packets are sampled";
	return NULL;
}

static double flows_bytes_of(const struct flow_count *flow, size_t count)
{
	double bytes = 0;

	for (size_t i = 0; i < count; i++)
		bytes += flow[i].bytes;
	return bytes;
}

static json_t *flows_flow_json(const struct flows *flows, const struct flows_slave *slave,
			       const struct flow_count *flow, double all)
{
	double packets = flow->packets * flows_packets_scale(flows, slave) / flows->seconds;
	double bytes = flow->bytes * flows_bytes_scale(flows, slave) / flows->seconds;

	return json_pack("{s:o, s:f, s:f, s:f, s:f, s:I}", "flow", tuple_json(&flow->tuple),
			 "bits_per_s", 8 * bytes, "packets_per_s", packets, "share",
			 flow->bytes / all, "uncertainty",
			 flows_uncertainty(flows, slave, flow->samples), "samples",
			 (json_int_t)flow->samples);
}

/* A rate of a slave that was there all the time. */
static json_t *flows_rate_json(const struct flows *flows, const struct flows_slave *slave,
			       double count)
{
	return slave->has_left ? json_null() : json_real(count / flows->seconds);
}

static json_t *flows_slave_json(const struct flows *flows, unsigned int slot,
				const struct flow_count *flow, size_t count)
{
	const struct flows_slave *slave = &flows->slave[slot];
	const char *unseen = flows_unseen(flows, slot);
	double all = flows_bytes_of(flow, count);
	json_t *list = json_array();

	for (size_t i = 0; i < count && i < flows->top && !slave->has_left; i++)
		json_array_append_new(list, flows_flow_json(flows, slave, &flow[i], all));
	return json_pack("{s:o, s:o, s:o, s:I, s:I, s:I, s:o, s:o}", "name",
			 json_value_text(slave->name), "bits_per_s",
			 flows_rate_json(flows, slave, 8 * (double)slave->bytes), "packets_per_s",
			 flows_rate_json(flows, slave, (double)slave->packets), "samples",
			 (json_int_t)slave->samples, "samples_dropped",
			 (json_int_t)slave->tap.dropped, "flows_seen", (json_int_t)count, "unseen",
			 unseen ? json_string(unseen) : json_null(), "flows", list);
}

static void flows_print_flows(const struct flows *flows, const struct flows_slave *slave,
			      const struct flow_count *flow, size_t count)
{
	double packets = flows_packets_scale(flows, slave) / flows->seconds;
	double bytes = flows_bytes_scale(flows, slave) / flows->seconds;
	double all = flows_bytes_of(flow, count);
	char text[TUPLE_TEXT];

	for (size_t i = 0; i < count && i < flows->top; i++, flow++) {
		printf("%12.3f %10.0f %6.1f%%", 8e-6 * flow->bytes * bytes, flow->packets * packets,
		       100 * flow->bytes / all);
		if (flows->one_of > 1 || slave->tap.dropped)
			printf(" %4.0f%%", 100 * flows_uncertainty(flows, slave, flow->samples));
		else
			printf("     -");
		printf("  %s\n", tuple_format(&flow->tuple, text));
	}
}

static void flows_print_slave(const struct flows *flows, unsigned int slot,
			      const struct flow_count *flow, size_t count)
{
	const struct flows_slave *slave = &flows->slave[slot];
	const char *unseen = flows_unseen(flows, slot);
	char name[XBOND_NAME_SIZE];

	cli_name(slave->name, name);
	if (slave->has_left) {
		printf("\n%s: %s\n", name, unseen);
		return;
	}
	printf("\n%s: %.3f Mbit/s, %.0f packets/s, %zu flow%s\n", name,
	       8e-6 * (double)slave->bytes / flows->seconds,
	       (double)slave->packets / flows->seconds, count, count == 1 ? "" : "s");
	if (unseen)
		printf("  %s\n", unseen);
	flows_print_flows(flows, slave, flow, count);
}

/* The flows of a slot among the sorted ones. */
static size_t flows_count_of(const struct flow_count *flow, const struct flow_count *end,
			     unsigned int slot)
{
	size_t count = 0;

	while (flow + count < end && flow[count].slot == slot)
		count++;
	return count;
}

void flows_print(struct flows *flows)
{
	const struct flow_count *flow = flows->counts.flows, *end = flow + flows_sort(flows);

	printf("%s, %s: %s in %.1f s", flows->bond, mode_name(flows->pins->bond->mode),
	       flows->direction == TAP_OUT ? "sent" : "received", flows->seconds);
	if (flows->one_of > 1)
		printf(", 1 packet of %u sampled", flows->one_of);
	putchar('\n');
	if (flows->counts.unnoted)
		puts("There are too many flows: the last ones to come are missing.");
	printf("\n%12s %10s %7s %5s  %s\n", "Mbit/s", "packets/s", "share", "+-", "flow");
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		size_t count = flows_count_of(flow, end, slot);

		if (flows->slave[slot].open)
			flows_print_slave(flows, slot, flow, count);
		flow += count;
	}
}

json_t *flows_json(struct flows *flows)
{
	const struct flow_count *flow = flows->counts.flows, *end = flow + flows_sort(flows);
	json_t *slaves = json_array();

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		size_t count = flows_count_of(flow, end, slot);

		if (flows->slave[slot].open)
			json_array_append_new(slaves, flows_slave_json(flows, slot, flow, count));
		flow += count;
	}
	return json_pack("{s:s, s:s, s:s, s:f, s:I, s:b, s:o}", "name", flows->bond, "mode",
			 mode_name(flows->pins->bond->mode), "direction",
			 flows->direction == TAP_OUT ? "out" : "in", "seconds", flows->seconds,
			 "one_of", (json_int_t)flows->one_of, "all_flows_counted",
			 !flows->counts.unnoted, "slaves", slaves);
}
