/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Watches the traffic of bonds for some seconds. Changes nothing, sends nothing, judges nothing. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/slots.h"
#include "cli/doctor/doctor.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/memory.h"
#include "network/nl.h"

#define WATCH_MEASURE_MS 100
#define WATCH_PACKETS_PER_S 20000 /* of one bond; beyond this, some of its flows are watched */
#define WATCH_ROOM (1 << 20)	  /* of each ring */
#define WATCH_SLAVES 64		  /* bonds with further ones are not watched */

struct watch_slave {
	unsigned int slot;
	int ifindex;
	struct tap sent, received;
	bool sends, receives; /* these taps are open */
	struct xbond_counters before, after;
	uint64_t afxdp_before, afxdp_after;   /* packets that AF_XDP has received */
	uint64_t device_before, device_after; /* frames that the device has received */
};

struct watch_bond {
	const struct doctor_bond *bond; /* while watching only */
	char name[XBOND_NAME_SIZE];
	struct talk talk;
	uint64_t rx_mask;
	bool is_complete; /* all that was to be seen was seen */
	struct watch_slave *slave;
	size_t slave_count;
	struct talk_sums sums[XBOND_MAX_SLAVES];
};

struct doctor_watch {
	unsigned int seconds;
	struct nl nl;
	struct xdp_sockets sockets; /* before */
	struct watch_bond *bond;
	size_t bond_count;
};

static uint64_t watch_rx_mask(const struct doctor_bond *bond)
{
	return __atomic_load_n(&bond->pins.table->rx_mask, __ATOMIC_RELAXED);
}

static uint64_t watch_packets(const struct doctor_bond *bond)
{
	struct xbond_counters counters;
	uint64_t packets = 0;

	doctor_for_each_slave (slave, bond)
		if (!pins_counters(&bond->pins, slave->slot, &counters))
			packets += counters.tx_packets + counters.rx_packets + counters.rx_dropped;
	return packets;
}

static int watch_open_tap(struct tap *tap, const struct doctor_slave *slave,
			  enum tap_direction direction, uint32_t one_of)
{
	struct sock_filter code[TALK_FILTER];
	const struct tap_options options = { .device = slave->device.link->name,
					     .ifindex = slave->device.link->ifindex,
					     .direction = direction,
					     .one_of = 1,
					     .snaplen = TALK_SNAPLEN,
					     .room = WATCH_ROOM,
					     .filter = { TALK_FILTER, code } };
	struct err err;
	int r;

	talk_filter(one_of, code);
	r = tap_open(tap, &options, &err);
	if (r)
		return r;
	r = tap_start(tap, &options);
	if (r)
		tap_close(tap);
	return r;
}

/* Of slaves that do not receive, taps open last and end first: all they see the others see, too. */
static void watch_open_slaves(struct watch_bond *watched, bool receiving, uint32_t one_of)
{
	for (size_t i = 0; i < watched->slave_count; i++) {
		struct watch_slave *slave = &watched->slave[i];
		const struct doctor_slave *fact = &watched->bond->slave[i];

		if (slots_have(watched->rx_mask, slave->slot) != receiving)
			continue;
		slave->receives = !watch_open_tap(&slave->received, fact, TAP_IN, one_of);
		slave->sends = !watch_open_tap(&slave->sent, fact, TAP_OUT, one_of);
		watched->is_complete &= slave->receives && slave->sends;
	}
}

static uint64_t watch_afxdp(const struct doctor_bond *bond, unsigned int slot)
{
	return bond->pins.afxdp ? bond->pins.afxdp->slot[slot].rx_packets : 0;
}

static uint64_t watch_count_device(struct doctor_watch *watch, int ifindex)
{
	struct link_stats stats;

	return link_stats_get(&watch->nl, ifindex, &stats) ? 0 : stats.rx.packets;
}

/* XDP hands frames over before packet sockets see them, and sends without them. */
static bool watch_sees_all(const struct doctor_bond *bond)
{
	if (bond->pins.bond->xdp_tx)
		return false;
	doctor_for_each_slave (slave, bond)
		if (slave->pin->rx_hook == XBOND_RX_XDP || slave->device.link->xdp_id ||
		    slave->device.link->xdp_generic_id)
			return false;
	return true;
}

static void watch_begin_bond(struct doctor_watch *watch, const struct doctor_bond *bond,
			     uint64_t packets)
{
	struct watch_bond *watched = &watch->bond[watch->bond_count];
	uint64_t rate = packets * 1000 / WATCH_MEASURE_MS;
	uint32_t one_of = (uint32_t)(1 + rate / WATCH_PACKETS_PER_S);

	*watched = (struct watch_bond){ .bond = bond, .rx_mask = watch_rx_mask(bond) };
	memcpy(watched->name, bond->name, sizeof(watched->name));
	watched->slave = memory_need(calloc(bond->slave_count, sizeof(*watched->slave)));
	talk_init(&watched->talk, bond->pins.bond->mac, bond->slave[0].device.link->mtu);
	watch->bond_count++;
	watched->slave_count = bond->slave_count;
	for (size_t i = 0; i < watched->slave_count; i++) {
		struct watch_slave *slave = &watched->slave[i];

		slave->slot = bond->slave[i].slot;
		slave->ifindex = bond->slave[i].device.link->ifindex;
		pins_counters(&bond->pins, slave->slot, &slave->before);
		slave->afxdp_before = watch_afxdp(bond, slave->slot);
		slave->device_before = watch_count_device(watch, slave->ifindex);
	}
	watched->is_complete = watch_sees_all(bond);
	if (watched->is_complete) {
		watch_open_slaves(watched, true, one_of);
		watch_open_slaves(watched, false, one_of);
	}
}

static bool watch_can(const struct doctor_facts *facts, const struct doctor_bond *bond)
{
	if (!bond->is_open || !doctor_is_asked(facts, bond) || !doctor_is_meant_to_work(bond) ||
	    !bond->slave_count)
		return false;
	doctor_for_each_slave (slave, bond)
		if (!slave->device.link)
			return false;
	return true;
}

static void watch_begin(struct doctor_watch *watch, const struct doctor_facts *facts,
			uint64_t *packets)
{
	size_t slaves = 0;

	for (size_t i = 0; i < facts->bond_count; i++)
		if (watch_can(facts, &facts->bond[i]))
			packets[i] = watch_packets(&facts->bond[i]);
	usleep(WATCH_MEASURE_MS * 1000);
	for (size_t i = 0; i < facts->bond_count; i++) {
		const struct doctor_bond *bond = &facts->bond[i];

		if (!watch_can(facts, bond) || slaves + bond->slave_count > WATCH_SLAVES)
			continue;
		slaves += bond->slave_count;
		watch_begin_bond(watch, bond, watch_packets(bond) - packets[i]);
	}
}

struct watch_reading {
	struct watch_bond *watched;
	const struct watch_slave *slave;
};

static void watch_take_sent(void *context, const struct tap_packet *packet)
{
	const struct watch_reading *reading = context;

	talk_take_sent(&reading->watched->talk, reading->slave->slot, packet);
}

static void watch_take_received(void *context, const struct tap_packet *packet)
{
	const struct watch_reading *reading = context;

	talk_take_received(&reading->watched->talk, reading->slave->slot,
			   slots_have(reading->watched->rx_mask, reading->slave->slot), packet);
}

static void watch_each(struct doctor_watch *watch,
		       void (*call)(struct watch_bond *watched, struct watch_slave *slave))
{
	for (size_t i = 0; i < watch->bond_count; i++)
		for (size_t j = 0; j < watch->bond[i].slave_count; j++)
			call(&watch->bond[i], &watch->bond[i].slave[j]);
}

static void watch_read_sent(struct watch_bond *watched, struct watch_slave *slave)
{
	struct watch_reading reading = { watched, slave };

	if (slave->sends)
		tap_read(&slave->sent, watch_take_sent, &reading);
}

static void watch_read_received(struct watch_bond *watched, struct watch_slave *slave)
{
	struct watch_reading reading = { watched, slave };

	if (slave->receives)
		tap_read(&slave->received, watch_take_received, &reading);
}

/* An answer may come by another slave than its question. */
static void watch_read(struct doctor_watch *watch)
{
	watch_each(watch, watch_read_sent);
	watch_each(watch, watch_read_received);
}

static void watch_stop_idle(struct watch_bond *watched, struct watch_slave *slave)
{
	if (slave->receives && !slots_have(watched->rx_mask, slave->slot))
		tap_stop(&slave->received);
}

static void watch_stop(struct watch_bond *watched, struct watch_slave *slave)
{
	if (slave->sends)
		tap_stop(&slave->sent);
	if (slave->receives)
		tap_stop(&slave->received);
}

static bool watch_close_tap(struct tap *tap)
{
	tap_read_statistics(tap);
	tap_close(tap);
	return !tap->dropped;
}

static void watch_close(struct watch_bond *watched, struct watch_slave *slave)
{
	if (slave->sends)
		watched->is_complete &= watch_close_tap(&slave->sent);
	if (slave->receives)
		watched->is_complete &= watch_close_tap(&slave->received);
}

/* What others decided or did meanwhile would be taken for a fault. */
static void watch_end_bond(struct doctor_watch *watch, struct watch_bond *watched,
			   uint64_t until_ns)
{
	for (size_t i = 0; i < watched->slave_count; i++) {
		struct watch_slave *slave = &watched->slave[i];

		pins_counters(&watched->bond->pins, slave->slot, &slave->after);
		slave->afxdp_after = watch_afxdp(watched->bond, slave->slot);
		slave->device_after = watch_count_device(watch, slave->ifindex);
	}
	watched->is_complete &= watch_rx_mask(watched->bond) == watched->rx_mask;
	if (watched->is_complete)
		talk_sum(&watched->talk, until_ns, watched->sums);
	watched->bond = NULL;
	talk_done(&watched->talk);
}

static void watch_look(struct doctor_watch *watch)
{
	uint64_t end_ns = clock_now_ns() + watch->seconds * NS_PER_S, until_ns;

	while (clock_now_ns() < end_ns) {
		usleep(TAP_RETIRE_MS * 1000);
		watch_read(watch);
	}
	watch_each(watch, watch_stop_idle);
	watch_each(watch, watch_stop);
	until_ns = clock_unix_ns();
	usleep(3 * TAP_RETIRE_MS * 1000);
	watch_read(watch);
	watch_each(watch, watch_close);
	for (size_t i = 0; i < watch->bond_count; i++)
		watch_end_bond(watch, &watch->bond[i], until_ns);
}

struct doctor_watch *doctor_watch_new(const struct doctor_facts *facts, unsigned int seconds)
{
	struct doctor_watch *watch = memory_need(calloc(1, sizeof(*watch)));
	uint64_t *packets = memory_need(calloc(facts->bond_count + 1, sizeof(*packets)));

	if (nl_init(&watch->nl)) {
		free(packets);
		free(watch);
		return NULL;
	}
	watch->seconds = seconds;
	xdp_sockets_read(&watch->sockets);
	watch->bond = memory_need(calloc(facts->bond_count + 1, sizeof(*watch->bond)));
	watch_begin(watch, facts, packets);
	if (watch->bond_count)
		watch_look(watch);
	free(packets);
	nl_done(&watch->nl);
	return watch;
}

void doctor_watch_free(struct doctor_watch *watch)
{
	for (size_t i = 0; watch && i < watch->bond_count; i++)
		free(watch->bond[i].slave);
	if (watch) {
		free(watch->bond);
		xdp_sockets_free(&watch->sockets);
	}
	free(watch);
}

static uint64_t watch_growth(uint64_t before, uint64_t after)
{
	return after > before ? after - before : 0;
}

static void watch_tell_slave(const struct watch_bond *watched, const struct watch_slave *seen,
			     struct doctor_seen *ret_seen)
{
	ret_seen->is_known = true;
	ret_seen->talks_are_known = watched->is_complete;
	ret_seen->sent = watch_growth(seen->before.tx_packets, seen->after.tx_packets);
	ret_seen->received = watch_growth(seen->before.rx_packets, seen->after.rx_packets);
	ret_seen->dropped = watch_growth(seen->before.rx_dropped, seen->after.rx_dropped);
	ret_seen->sent_bytes = watch_growth(seen->before.tx_bytes, seen->after.tx_bytes);
	ret_seen->received_bytes = watch_growth(seen->before.rx_bytes, seen->after.rx_bytes);
	ret_seen->by_afxdp = watch_growth(seen->afxdp_before, seen->afxdp_after);
	ret_seen->at_device = watch_growth(seen->device_before, seen->device_after);
	ret_seen->talk = watched->sums[seen->slot];
}

/* Of the sockets that were there before, too. */
static uint64_t watch_missed(const struct xdp_sockets *before, const struct xdp_sockets *after,
			     uint32_t ifindex)
{
	uint64_t missed = 0;

	for (size_t i = 0; i < after->count; i++)
		for (size_t j = 0; j < before->count; j++)
			if (after->socket[i].ifindex == ifindex &&
			    after->socket[i].inode == before->socket[j].inode)
				missed += watch_growth(before->socket[j].missed,
						       after->socket[i].missed);
	return missed;
}

static void watch_tell_missed(const struct doctor_watch *watch, const struct doctor_facts *facts,
			      struct doctor_bond *bond)
{
	for (unsigned int i = 0; i < bond->slave_count; i++)
		if (bond->slave[i].device.link)
			bond->slave[i].seen.missed = watch_missed(&watch->sockets, &facts->sockets,
								  bond->slave[i].pin->ifindex);
}

static void watch_tell_bond(const struct watch_bond *watched, struct doctor_bond *bond)
{
	for (size_t i = 0; i < watched->slave_count; i++)
		for (unsigned int j = 0; j < bond->slave_count; j++)
			if (bond->slave[j].slot == watched->slave[i].slot &&
			    (int)bond->slave[j].pin->ifindex == watched->slave[i].ifindex)
				watch_tell_slave(watched, &watched->slave[i], &bond->slave[j].seen);
}

void doctor_watch_tell(const struct doctor_watch *watch, struct doctor_facts *facts)
{
	for (size_t i = 0; watch && i < watch->bond_count; i++)
		doctor_for_each_open (bond, facts)
			if (!strcmp(watch->bond[i].name, bond->name))
				watch_tell_bond(&watch->bond[i], bond);
	for (size_t i = 0; watch && i < facts->bond_count; i++)
		watch_tell_missed(watch, facts, &facts->bond[i]);
	if (watch && watch->bond_count)
		facts->watched_s = watch->seconds;
}
