/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/metrics/metrics_bond.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mac.h"
#include "common/mode.h"
#include "common/readings.h"
#include "common/slots.h"
#include "daemon/metrics/metrics_port.h"
#include "options/values.h"
#include "rules/buckets.h"
#include "view/json_value.h"
#include "view/view_lacp.h"
#include "view/view_why.h"

#define BYTES_OF_MBIT 125000.0
#define COUNTER_TRIES 3
#define NAME_ESCAPED METRICS_ESCAPED(XBOND_NAME_SIZE)

/* What is read once for all slaves of a bond. */
struct metrics_source {
	const struct pins *pins;
	const struct lacp_system *lacp; /* NULL: not in mode 802.3ad */
	uint64_t members;		/* as it was at first: bondd may change it meanwhile */
	uint32_t weight[XBOND_MAX_SLAVES];
	double share[XBOND_MAX_SLAVES]; /* NAN: the mode has no shares */
};

/* As JSON has the name. */
static void metrics_bond_escape(char ret_text[NAME_ESCAPED], const char *name)
{
	json_t *json = json_value_text(name);
	const char *text = json_string_value(json);

	metrics_text_escape(ret_text, NAME_ESCAPED, text ? text : "");
	json_decref(json);
}

static double metrics_bond_truth(enum attached attached)
{
	return attached == ATTACHED_UNKNOWN ? NAN : attached == ATTACHED;
}

static struct metrics_traffic metrics_bond_traffic(const struct xbond_counters *counters)
{
	return (struct metrics_traffic){
		.tx_packets = (double)counters->tx_packets,
		.tx_bytes = (double)counters->tx_bytes,
		.rx_packets = (double)counters->rx_packets,
		.rx_bytes = (double)counters->rx_bytes,
		.rx_dropped = (double)counters->rx_dropped,
	};
}

/*
 * Of the buckets in force, how many are each slot's. In active-backup the first has all; behind it
 * is the order of succession.
 */
static void metrics_bond_read_shares(struct metrics_source *source)
{
	const struct xbond_table *table = source->pins->table;
	uint32_t copy = __atomic_load_n(&table->active, __ATOMIC_ACQUIRE) & 1;
	const uint8_t *bucket = source->pins->buckets->bucket[copy];
	uint32_t count = table->bucket_count[copy], owned[256] = { 0 };

	if (table->selection == XBOND_SELECT_ACTIVE && count)
		count = 1;
	for (uint32_t i = 0; i < count && i < XBOND_BUCKETS; i++)
		owned[bucket[i]]++;
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		source->share[slot] = count && table->selection != XBOND_SELECT_ALL
					      ? (double)owned[slot] / count
					      : NAN;
}

static void metrics_bond_read_monitors(const struct pins *pins, unsigned int slot,
				       double ret_monitor[XBOND_MONITORS])
{
	const struct xbond_verdict *verdict = pins->monitors ? &pins->monitors[slot] : NULL;

	for (unsigned int i = 0; i < XBOND_MONITORS; i++)
		ret_monitor[i] =
			verdict && verdict->spoken >> i & 1 ? verdict->works >> i & 1 : NAN;
}

static bool metrics_bond_is_in_use(const struct metrics_source *source, unsigned int slot)
{
	json_t *why = view_why(source->pins, source->lacp, slot);
	bool in_use = json_is_null(why);

	json_decref(why);
	return in_use;
}

/* Each number is in one place: those of the bond as a whole, or those of its slaves. */
static void metrics_bond_read_drops(const struct pins *pins, unsigned int slot,
				    double ret_drops[XBOND_DROPS])
{
	uint64_t packets[XBOND_DROPS];

	drops_read(pins, slot, packets);
	for (unsigned int i = 0; i < XBOND_DROPS; i++)
		ret_drops[i] = packets[i] != DROPS_UNKNOWN &&
					       drops_is_of_bond(i) == (slot == XBOND_DROPS_OF_BOND)
				       ? (double)packets[i]
				       : NAN;
}

static void metrics_bond_name_slave(const struct xbond_slave *slave, const char *bond_labels,
				    struct metrics_slave *ret_slave)
{
	char name[NAME_ESCAPED], mac[MAC_FORMAT_SIZE];

	metrics_bond_escape(name, slave->name);
	snprintf(ret_slave->labels, sizeof(ret_slave->labels), "%s,slave=\"%s\"", bond_labels,
		 name);
	snprintf(ret_slave->info, sizeof(ret_slave->info), "mac=\"%s\",rx_hook=\"%s\"",
		 mac_format(slave->mac, mac), slave->rx_hook == XBOND_RX_XDP ? "xdp" : "tc");
}

static void metrics_bond_read_state(const struct metrics_source *source, unsigned int slot,
				    struct metrics_slave *ret_slave)
{
	const struct pins *pins = source->pins;
	const struct xbond_slave *slave = &pins->slaves[slot];
	bool carrier = slave->link == XBOND_LINK_UP || slave->link == XBOND_LINK_GOING_UP;

	ret_slave->up = slave->link == XBOND_LINK_UP;
	ret_slave->active = slots_have(values_tx_slots(pins), slot);
	ret_slave->in_use = metrics_bond_is_in_use(source, slot);
	ret_slave->drained = slots_have(pins->settings->drain_mask, slot);
	ret_slave->attached = metrics_bond_truth(attached_slave(pins, slot));
	ret_slave->trouble = slave->trouble != 0;
	ret_slave->weight = source->weight[slot];
	ret_slave->share = source->share[slot];
	ret_slave->speed_bytes =
		carrier && slave->speed_mbps ? slave->speed_mbps * BYTES_OF_MBIT : NAN;
	metrics_bond_read_monitors(pins, slot, ret_slave->monitor);
}

static int metrics_bond_read_slave(const struct metrics_source *source, unsigned int slot,
				   const struct metrics_bond *bond, struct metrics_slave *ret_slave)
{
	const struct pins *pins = source->pins;
	const struct xbond_slave *slave = &pins->slaves[slot];
	struct xbond_counters counters;
	int r = pins_counters(pins, slot, &counters);

	if (r)
		return r;
	metrics_bond_name_slave(slave, bond->labels, ret_slave);
	metrics_bond_read_state(source, slot, ret_slave);
	ret_slave->traffic = metrics_bond_traffic(&counters);
	ret_slave->link_failures = slave->link_failures;
	ret_slave->resets = slave->resets;
	ret_slave->detached = pins->attached ? pins->attached->detached[slot] : NAN;
	metrics_bond_read_drops(pins, slot, ret_slave->drops);
	metrics_port_read(pins, source->lacp, slot, ret_slave);
	return 0;
}

static int metrics_bond_read_slaves(const struct metrics_source *source, struct metrics_bond *bond)
{
	const struct xbond_slave *slaves = source->pins->slaves;
	int r = 0;

	bond->slave_count = slots_count(source->members);
	bond->slaves = memory_need(calloc(slots_count(source->members) + 1, sizeof(*bond->slaves)));
	for (unsigned int slot = 0; !r && slot < XBOND_MAX_SLAVES; slot++) {
		struct metrics_slave *slave = &bond->slaves[bond->count];

		if (!slots_have(source->members, slot))
			continue;
		r = metrics_bond_read_slave(source, slot, bond, slave);
		bond->count++;
		bond->up_count += slave->up;
		bond->speed_bytes += slave->active * slaves[slot].speed_mbps * BYTES_OF_MBIT;
	}
	return r;
}

/*
 * When a slave leaves, its counts move to the sum of those that have left. A sum that was read in
 * that moment is not right, and a counter that goes back counts as one that began again.
 */
static int metrics_bond_read_counters(const struct pins *pins, struct metrics_bond *ret_bond)
{
	struct xbond_counters retired, sum;
	int tries = COUNTER_TRIES, r;

	do {
		retired = pins->bond->retired;
		r = pins_bond_counters(pins, &sum);
	} while (!r && memcmp(&retired, &pins->bond->retired, sizeof(retired)) && --tries);
	ret_bond->traffic = metrics_bond_traffic(&sum);
	return r;
}

static void metrics_bond_read_failover(const struct xbond_failover *figures,
				       struct metrics_histogram *ret_histogram)
{
	_Static_assert(XBOND_FAILOVER_BUCKETS == METRICS_BUCKETS, "the same classes");

	ret_histogram->known = figures;
	for (unsigned int i = 0; figures && i < METRICS_BUCKETS; i++)
		ret_histogram->bucket[i] = (double)figures->histogram[i];
	ret_histogram->sum_s = figures ? (double)figures->sum_ns / 1e9 : NAN;
}

static const char *metrics_bond_device(uint32_t kind)
{
	if (kind == XBOND_DEVICE_TEAM)
		return "team";
	return kind == XBOND_DEVICE_NETKIT ? "netkit" : "veth";
}

static void metrics_bond_read_info(const struct xbond_bond *pin, struct metrics_bond *ret_bond)
{
	char mac[MAC_FORMAT_SIZE];

	snprintf(ret_bond->info, sizeof(ret_bond->info), "mode=\"%s\",mac=\"%s\",device=\"%s\"",
		 mode_name(pin->mode), mac_format(pin->mac, mac),
		 metrics_bond_device(pin->device_kind));
}

static uint64_t metrics_bond_members(const struct pins *pins)
{
	uint64_t members = 0;

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (pins_is_member(pins, slot))
			members |= slots_bit(slot);
	return members;
}

static int metrics_bond_read_pins(const struct pins *pins, struct metrics_bond *ret_bond)
{
	struct metrics_source source = { .pins = pins, .members = metrics_bond_members(pins) };
	uint32_t in_force[XBOND_MAX_SLAVES];
	struct lacp_system lacp;
	int r;

	if (mode_has(pins->bond->mode, MODE_LACP)) {
		view_lacp_read(pins, &lacp);
		source.lacp = &lacp;
	}
	weights_of(pins, values_tx_slots(pins), source.weight, in_force);
	metrics_bond_read_shares(&source);
	metrics_bond_read_info(pins->bond, ret_bond);
	metrics_port_read_bond(source.lacp, ret_bond);
	ret_bond->carrier = pins->bond->carrier != 0;
	ret_bond->attached = metrics_bond_truth(attached_pair(pins));
	ret_bond->detached = pins->attached ? pins->attached->detached_bond : NAN;
	metrics_bond_read_failover(pins->failover, &ret_bond->failover);
	metrics_bond_read_drops(pins, XBOND_DROPS_OF_BOND, ret_bond->drops);
	ret_bond->moved_buckets = pins->failover ? (double)pins->failover->moved_buckets : NAN;
	r = metrics_bond_read_counters(pins, ret_bond);
	return r ? r : metrics_bond_read_slaves(&source, ret_bond);
}

/* There is a bond of that name, but nothing else is known of it. */
static void metrics_bond_read_nothing(struct metrics_bond *ret_bond)
{
	ret_bond->slave_count = ret_bond->up_count = ret_bond->carrier = NAN;
	ret_bond->speed_bytes = ret_bond->attached = ret_bond->detached = ret_bond->ports = NAN;
	ret_bond->moved_buckets = NAN;
	for (unsigned int i = 0; i < XBOND_DROPS; i++)
		ret_bond->drops[i] = NAN;
	ret_bond->traffic = (struct metrics_traffic){ NAN, NAN, NAN, NAN, NAN };
}

static void metrics_bond_read_name(const char *name, struct metrics_bond *ret_bond)
{
	char escaped[NAME_ESCAPED];

	metrics_bond_escape(escaped, name);
	snprintf(ret_bond->labels, sizeof(ret_bond->labels), "bond=\"%s\"", escaped);
	snprintf(ret_bond->master, sizeof(ret_bond->master), "master=\"%s\"", escaped);
}

int metrics_bond_read(const struct pins *pins, const char *name, struct metrics_bond *ret_bond)
{
	int r = 0;

	*ret_bond = (struct metrics_bond){ .readable = pins != NULL };
	metrics_bond_read_name(name, ret_bond);
	if (pins)
		r = metrics_bond_read_pins(pins, ret_bond);
	else
		metrics_bond_read_nothing(ret_bond);
	if (r)
		metrics_bond_done(ret_bond);
	return r;
}

void metrics_bond_done(struct metrics_bond *bond)
{
	free(bond->slaves);
	bond->slaves = NULL;
}
