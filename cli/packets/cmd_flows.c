/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flows: the largest flows of each slave. The kernel's filter of a packet socket takes a sample of
 * the packets, while this runs and no longer. Needs no bondd.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/packets/packets.h"
#include "common/clock.h"
#include "view/view_field.h"

#define SNAPLEN 192 /* Ethernet, IPv6 with extension headers, ports */
#define SAMPLES_PER_S 20000
#define MEASURE_MS 200 /* how fast packets come, before the sampling */
#define ROOM (1 << 20)
#define MOST_FLOWS (1 << 16)

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

/* An interrupt ends the looking, and what was seen is shown. */
static void flows_look(struct flows *flows, double seconds)
{
	uint64_t begin = clock_now_ns(), length = (uint64_t)(seconds * NS_PER_S);

	cli_catch_interrupts();
	flows_each(flows, flows_begin_slave);
	while (!cli_is_interrupted() && !flows_is_deleted(flows) &&
	       clock_now_ns() - begin < length) {
		flows_wait(flows);
		flows_each(flows, flows_read_slave);
		flows_each(flows, flows_configure_slave);
	}
	flows_each(flows, flows_end_slave);
	flows->seconds = (double)(clock_now_ns() - begin) / NS_PER_S;
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
		flows_each(flows, flows_judge);
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
