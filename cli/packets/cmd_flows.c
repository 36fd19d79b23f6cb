/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flows: the largest flows of each slave. The kernel's filter of a packet socket takes a sample of
 * the packets, while this runs and no longer. Needs no bondd.
 */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/base/captured.h"
#include "cli/base/cli.h"
#include "common/clock.h"
#include "common/mode.h"
#include "view/view_field.h"

/* What was seen, as text and as JSON: estimates, and how far they can be trusted. */

struct flows_slave {
	const struct flows *flows;
	unsigned int slot;
	bool open;
	bool has_left;		    /* while it was measured; its numbers mean nothing then */
	char name[XBOND_NAME_SIZE]; /* when it began; another slave may get the slot */
	uint32_t ifindex;
	struct tap tap;
	/* Counted by the programs in that time; exact, but for frames of others (LACPDUs). */
	uint64_t packets, bytes;
	uint64_t samples, sampled_bytes;
	const struct flow_count *flow; /* by flows_sort(), the largest first */
	size_t flow_count;
	double flow_bytes; /* of all of them, in samples that stand for others */
	/* At the end: */
	double packets_per_s, bits_per_s; /* -1: it has left */
	const char *unseen; /* why the samples do not show everything; NULL: they do */
};

struct flows {
	const struct pins *pins;
	const char *bond;
	uint32_t mode;
	enum tap_direction direction;
	uint32_t one_of; /* one packet of so many was looked at */
	double seconds;
	bool all_counted;
	size_t top;
	struct flows_slave slave[XBOND_MAX_SLAVES];
	struct flow_counts counts;
};

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

/* Gives the slaves their flows, in order. The table has no holes then, and is no hash table. */
static void flows_sort(struct flows *flows)
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

static void flows_print(const struct flows *flows)
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
	{ "name", VIEW_STRING, "The name of the bond.", VIEW_IN(struct flows, bond) },
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

/* The sampling. */

#define SNAPLEN 192 /* Ethernet, IPv6 with extension headers, ports */
#define SAMPLES_PER_S 20000
#define MEASURE_MS 200 /* how fast packets come, before the sampling */
#define ROOM (1 << 20)
#define MOST_FLOWS (1 << 16)
#define SECOND UINT64_C(1000000000)

static void flows_count(const struct flows *flows, unsigned int slot, uint64_t *ret_packets,
			uint64_t *ret_bytes)
{
	struct xbond_counters counters = { 0 };

	pins_program_counters(flows->pins, slot, &counters); /* no capture sees AF_XDP */
	*ret_packets = flows->direction == TAP_OUT ? counters.tx_packets : counters.rx_packets;
	*ret_bytes = flows->direction == TAP_OUT ? counters.tx_bytes : counters.rx_bytes;
}

/*
 * So that the samples are enough, and few enough not to disturb. A count that fell is that of a
 * slot whose slave has left.
 */
static uint32_t flows_choose_rate(const struct flows *flows)
{
	uint64_t before[XBOND_MAX_SLAVES], after, bytes, packets = 0;

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		flows_count(flows, slot, &before[slot], &bytes);
	usleep(MEASURE_MS * 1000);
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		flows_count(flows, slot, &after, &bytes);
		packets += after > before[slot] ? after - before[slot] : 0;
	}
	return (uint32_t)(1 + packets * 1000 / MEASURE_MS / SAMPLES_PER_S);
}

static bool flows_is_deleted(const struct flows *flows)
{
	return __atomic_load_n(&flows->pins->bond->state, __ATOMIC_RELAXED) == XBOND_BOND_DELETING;
}

static struct tap_options flows_tap_options(const struct flows *flows, unsigned int slot)
{
	const struct flows_slave *slave = &flows->slave[slot];

	return (struct tap_options){ .device = slave->name,
				     .ifindex = (int)slave->ifindex,
				     .direction = flows->direction,
				     .one_of = flows->one_of,
				     .snaplen = SNAPLEN,
				     .room = ROOM };
}

/*
 * Opening the sockets of many slaves takes a while, so they have let nothing in yet. First the
 * counters, then the samples: what is sampled is counted, too.
 */
static void flows_begin_slave(struct flows *flows, unsigned int slot)
{
	const struct tap_options options = flows_tap_options(flows, slot);

	flows_count(flows, slot, &flows->slave[slot].packets, &flows->slave[slot].bytes);
	tap_start(&flows->slave[slot].tap, &options);
}

/* What its device sends after it has left is not the bond's. */
static void flows_configure_slave(struct flows *flows, unsigned int slot)
{
	struct flows_slave *slave = &flows->slave[slot];

	if (slave->has_left || (pins_is_member(flows->pins, slot) &&
				flows->pins->slaves[slot].ifindex == slave->ifindex))
		return;
	slave->has_left = true;
	tap_stop(&slave->tap);
}

/*
 * Sampled, then counted, so that what is sampled is counted; then looked for: what was counted
 * before the slave is seen to be there is its own.
 */
static void flows_end_slave(struct flows *flows, unsigned int slot)
{
	struct flows_slave *slave = &flows->slave[slot];
	uint64_t packets, bytes;

	tap_stop(&slave->tap);
	flows_count(flows, slot, &packets, &bytes);
	flows_configure_slave(flows, slot);
	slave->has_left |= packets < slave->packets || bytes < slave->bytes;
	slave->packets = packets - slave->packets;
	slave->bytes = bytes - slave->bytes;
}

static int flows_open_slave(struct flows *flows, unsigned int slot, struct err *err)
{
	struct flows_slave *slave = &flows->slave[slot];
	struct tap_options options;
	int r;

	slave->flows = flows;
	slave->slot = slot;
	slave->ifindex = flows->pins->slaves[slot].ifindex;
	snprintf(slave->name, sizeof(slave->name), "%.*s", XBOND_NAME_SIZE - 1,
		 flows->pins->slaves[slot].name);
	options = flows_tap_options(flows, slot);
	r = tap_open(&slave->tap, &options, err);
	slave->open = !r;
	return r;
}

static int flows_open(struct flows *flows, struct err *err)
{
	int r = 0;

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES && !r; slot++)
		if (pins_is_member(flows->pins, slot))
			r = flows_open_slave(flows, slot, err);
	return r;
}

struct flows_reading {
	struct flows *flows;
	unsigned int slot;
};

static void flows_take(void *context, const struct tap_packet *packet)
{
	const struct flows_reading *reading = context;
	struct flows *flows = reading->flows;
	struct captured captured;
	struct tuple tuple;

	if (!captured_take(CAPTURED_ETHERNET, packet->bytes, packet->kept, packet->length,
			   packet->vlan_tci, &captured))
		return;
	tuple_of(&captured, &tuple);
	flow_counts_add(&flows->counts, &tuple, reading->slot, captured.length, flows->one_of);
	flows->slave[reading->slot].samples++;
	flows->slave[reading->slot].sampled_bytes += captured.length;
}

static void flows_read_slave(struct flows *flows, unsigned int slot)
{
	struct flows_reading reading = { flows, slot };

	tap_read(&flows->slave[slot].tap, flows_take, &reading);
}

static void flows_wait(const struct flows *flows)
{
	struct pollfd fds[XBOND_MAX_SLAVES];
	nfds_t count = 0;

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (flows->slave[slot].open)
			fds[count++] = (struct pollfd){ flows->slave[slot].tap.fd, POLLIN, 0 };
	poll(fds, count, TAP_RETIRE_MS);
}

static void flows_each(struct flows *flows, void (*call)(struct flows *flows, unsigned int slot))
{
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (flows->slave[slot].open)
			call(flows, slot);
}

static void flows_close_slave(struct flows *flows, unsigned int slot)
{
	tap_read_statistics(&flows->slave[slot].tap);
	tap_close(&flows->slave[slot].tap);
}

/*
 * Packets on their way to the place where they are sampled were counted before, and frames that
 * others send are not counted at all. If every packet was sampled, the slave has sent those.
 */
static void flows_settle_slave(struct flows *flows, unsigned int slot)
{
	struct flows_slave *slave = &flows->slave[slot];

	if (flows->one_of > 1 || slave->has_left)
		return;
	if (slave->packets < slave->samples)
		slave->packets = slave->samples;
	if (slave->bytes < slave->sampled_bytes)
		slave->bytes = slave->sampled_bytes;
}

static void flows_judge_slave(struct flows *flows, unsigned int slot)
{
	struct flows_slave *slave = &flows->slave[slot];

	slave->packets_per_s = slave->has_left ? -1 : (double)slave->packets / flows->seconds;
	slave->bits_per_s = slave->has_left ? -1 : 8 * (double)slave->bytes / flows->seconds;
	slave->unseen = flows_unseen(slave);
}

/* An interrupt ends the looking, and what was seen is shown. */
static void flows_look(struct flows *flows, double seconds)
{
	uint64_t begin = clock_now_ns(), length = (uint64_t)(seconds * SECOND);

	cli_catch_interrupts();
	flows_each(flows, flows_begin_slave);
	while (!cli_is_interrupted() && !flows_is_deleted(flows) &&
	       clock_now_ns() - begin < length) {
		flows_wait(flows);
		flows_each(flows, flows_read_slave);
		flows_each(flows, flows_configure_slave);
	}
	flows_each(flows, flows_end_slave);
	flows->seconds = (double)(clock_now_ns() - begin) / SECOND;
	usleep(3 * TAP_RETIRE_MS * 1000);
	flows_each(flows, flows_read_slave);
	flows_each(flows, flows_settle_slave);
	flows_sort(flows);
	flows->all_counted = !flows->counts.unnoted;
}

static int flows_measure(struct flows *flows, double seconds, struct err *err)
{
	int r;

	flow_counts_init(&flows->counts, MOST_FLOWS);
	flows->one_of = flows_choose_rate(flows);
	r = flows_open(flows, err);
	if (!r)
		flows_look(flows, seconds);
	flows_each(flows, flows_close_slave);
	if (!r)
		flows_each(flows, flows_judge_slave);
	if (flows_is_deleted(flows))
		return err_set(err, ENOENT, "%s was deleted during the measurement", flows->bond);
	return r;
}

static enum cli_exit flows_run(const struct cli *cli, struct flows *flows, double seconds)
{
	enum cli_exit status = CLI_DONE;
	struct err err;

	if (flows_measure(flows, seconds, &err))
		status = cli_refuse(&err);
	else if (cli->json)
		status = cli_print_json(view_struct(&flows_table, flows));
	else
		flows_print(flows);
	flow_counts_done(&flows->counts);
	return status;
}

enum cli_exit cmd_flows(const struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	unsigned long long seconds = 3, top = 10;
	struct flows flows = { .bond = argv[0],
			       .direction = cli_flag(cli, verb, "--rx") ? TAP_IN : TAP_OUT };
	enum cli_exit status;
	struct pins pins;

	(void)argc;
	if (cli_number(cli, verb, "--seconds", 3600, &seconds) ||
	    cli_number(cli, verb, "--top", MOST_FLOWS, &top))
		return CLI_USAGE;
	if (cli_open(cli, argv[0], &pins))
		return CLI_REFUSED;
	flows.pins = &pins;
	flows.mode = pins.bond->mode;
	flows.top = top;
	status = flows_run(cli, &flows, (double)seconds);
	pins_close(&pins);
	return status;
}
