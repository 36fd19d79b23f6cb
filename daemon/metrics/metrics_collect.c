/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/metrics/metrics_collect.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mode.h"
#include "common/readings.h"
#include "daemon/metrics/metrics_bond.h"
#include "daemon/metrics/metrics_loop.h"
#include "daemon/metrics/metrics_port.h"
#include "view/json_value.h"
#include "view/view_bond.h"

#define BONDD(field) .scope = OF_BONDD, .offset = offsetof(struct metrics_loop, field)
#define BOND(field) .scope = OF_BOND, .offset = offsetof(struct metrics_bond, field)
#define MASTER(field) .scope = OF_MASTER, .offset = offsetof(struct metrics_bond, field)
#define SLAVE(field) .scope = OF_SLAVE, .offset = offsetof(struct metrics_slave, field)

struct metrics_all {
	struct metrics_loop loop;
	struct metrics_bond *bonds;
	size_t count; /* of them */
};

/* bondd(8) has the same list for users; tests/net/test_metrics.py compares them. */

enum metrics_scope { OF_BONDD, OF_BOND, OF_MASTER, OF_SLAVE };

struct metrics_family {
	struct metrics_name name;
	enum metrics_scope scope;
	/*
	 * In the struct of the scope: a double, or for METRICS_INFO the labels, or for
	 * METRICS_HISTOGRAM a struct metrics_histogram.
	 */
	size_t offset;
	/* An array of doubles: how many, and the label that tells them apart. 0: one double. */
	size_t count;
	const char *key;
	const char *(*value_of_key)(unsigned int index);
};

static const char *metrics_monitor_name(unsigned int monitor)
{
	return monitor_name((enum xbond_monitor)monitor);
}

static const char *metrics_drop_name(unsigned int reason)
{
	return drops_name((enum xbond_drop)reason);
}

static const struct metrics_family families[] = {
	{ { METRICS_INFO, "xbond_build", "The version of bondd.", NULL }, BONDD(build) },
	{ { METRICS_GAUGE, "xbond_bonds", "Bonds that have pins.", NULL }, BONDD(bonds) },
	{ { METRICS_HISTOGRAM, "xbond_loop_turn_seconds",
	    "How long turns of bondd's main loop took.", "seconds" },
	  BONDD(turns) },
	{ { METRICS_GAUGE, "xbond_loop_worst_turn_seconds", "The longest turn since bondd started.",
	    "seconds" },
	  BONDD(worst_s) },
	{ { METRICS_GAUGE, "xbond_loop_running_turn_seconds",
	    "How long the current turn has been running; 0: the main loop waits for events.",
	    "seconds" },
	  BONDD(running_s) },

	{ { METRICS_GAUGE, "node_bonding_slaves",
	    "Number of configured slaves per bonding interface.", NULL },
	  MASTER(slave_count) },
	{ { METRICS_GAUGE, "node_bonding_active", "Number of active slaves per bonding interface.",
	    NULL },
	  MASTER(up_count) },

	{ { METRICS_GAUGE, "xbond_bond_readable",
	    "0: its maps are of another version, or damaged; nothing else is known of it.", NULL },
	  BOND(readable) },
	{ { METRICS_INFO, "xbond_bond", "What the bond is.", NULL }, BOND(info) },
	{ { METRICS_GAUGE, "xbond_bond_carrier", "1: the bond has carrier.", NULL },
	  BOND(carrier) },
	{ { METRICS_GAUGE, "xbond_bond_speed_bytes",
	    "The sum of the speeds of the slaves that may transmit.", "bytes" },
	  BOND(speed_bytes) },
	{ { METRICS_GAUGE, "xbond_bond_attached",
	    "0: programs of the bond's pair are not attached.", NULL },
	  BOND(attached) },
	{ { METRICS_COUNTER, "xbond_bond_detached",
	    "How often bondd found programs of the bond's pair detached.", NULL },
	  BOND(detached) },
	{ { METRICS_COUNTER, "xbond_bond_transmit_packets", "Packets sent; a GSO packet is one.",
	    NULL },
	  BOND(traffic.tx_packets) },
	{ { METRICS_COUNTER, "xbond_bond_transmit_bytes", "Bytes sent.", "bytes" },
	  BOND(traffic.tx_bytes) },
	{ { METRICS_COUNTER, "xbond_bond_receive_packets", "Packets received; a GRO packet is one.",
	    NULL },
	  BOND(traffic.rx_packets) },
	{ { METRICS_COUNTER, "xbond_bond_receive_bytes", "Bytes received.", "bytes" },
	  BOND(traffic.rx_bytes) },
	{ { METRICS_COUNTER, "xbond_bond_receive_dropped_packets",
	    "Packets received on slaves that were not to take them, or without the bond's carrier.",
	    NULL },
	  BOND(traffic.rx_dropped) },
	{ { METRICS_COUNTER, "xbond_bond_dropped_packets",
	    "Packets dropped, by reason, that belong to no slave.", NULL },
	  BOND(drops),
	  .count = XBOND_DROPS,
	  .key = "reason",
	  .value_of_key = metrics_drop_name },
	{ { METRICS_HISTOGRAM, "xbond_bond_failover_seconds",
	    "How long it took to take a failed slave out of use.", "seconds" },
	  BOND(failover) },
	{ { METRICS_COUNTER, "xbond_bond_moved_buckets",
	    "Hash buckets that moved from one slave to another.", NULL },
	  BOND(moved_buckets) },
	{ { METRICS_INFO, "xbond_bond_lacp", "The active aggregator's two ends.", NULL },
	  BOND(lacp_info) },
	{ { METRICS_GAUGE, "xbond_bond_lacp_ports", "Selected ports of the active aggregator.",
	    NULL },
	  BOND(ports) },

	{ { METRICS_INFO, "xbond_slave", "What the slave is.", NULL }, SLAVE(info) },
	{ { METRICS_GAUGE, "xbond_slave_up", "1: its link works, and updelay is over.", NULL },
	  SLAVE(up) },
	{ { METRICS_GAUGE, "xbond_slave_active", "1: it is used for transmission.", NULL },
	  SLAVE(active) },
	{ { METRICS_GAUGE, "xbond_slave_in_use", "0: bondctl show says why it is not in use.",
	    NULL },
	  SLAVE(in_use) },
	{ { METRICS_GAUGE, "xbond_slave_drained", "1: the option drain is on.", NULL },
	  SLAVE(drained) },
	{ { METRICS_GAUGE, "xbond_slave_attached", "0: its receive program is not attached.",
	    NULL },
	  SLAVE(attached) },
	{ { METRICS_GAUGE, "xbond_slave_problem",
	    "1: others have changed it in a way that does harm.", NULL },
	  SLAVE(trouble) },
	{ { METRICS_GAUGE, "xbond_slave_monitor_up", "1: the monitor says that the link works.",
	    NULL },
	  SLAVE(monitor),
	  .count = XBOND_MONITORS,
	  .key = "monitor",
	  .value_of_key = metrics_monitor_name },
	{ { METRICS_GAUGE, "xbond_slave_weight",
	    "Its weight, relative to those of the other slaves.", NULL },
	  SLAVE(weight) },
	{ { METRICS_GAUGE, "xbond_slave_share_ratio",
	    "The share of the traffic that it should carry.", "ratio" },
	  SLAVE(share) },
	{ { METRICS_GAUGE, "xbond_slave_speed_bytes", "The speed of its link.", "bytes" },
	  SLAVE(speed_bytes) },
	{ { METRICS_COUNTER, "xbond_slave_transmit_packets", "Packets sent; a GSO packet is one.",
	    NULL },
	  SLAVE(traffic.tx_packets) },
	{ { METRICS_COUNTER, "xbond_slave_transmit_bytes", "Bytes sent.", "bytes" },
	  SLAVE(traffic.tx_bytes) },
	{ { METRICS_COUNTER, "xbond_slave_receive_packets",
	    "Packets received; a GRO packet is one.", NULL },
	  SLAVE(traffic.rx_packets) },
	{ { METRICS_COUNTER, "xbond_slave_receive_bytes", "Bytes received.", "bytes" },
	  SLAVE(traffic.rx_bytes) },
	{ { METRICS_COUNTER, "xbond_slave_receive_dropped_packets",
	    "Packets received that it was not to take, or without the bond's carrier.", NULL },
	  SLAVE(traffic.rx_dropped) },
	{ { METRICS_COUNTER, "xbond_slave_dropped_packets", "Packets dropped, by reason.", NULL },
	  SLAVE(drops),
	  .count = XBOND_DROPS,
	  .key = "reason",
	  .value_of_key = metrics_drop_name },
	{ { METRICS_COUNTER, "xbond_slave_link_failures", "How often its link failed.", NULL },
	  SLAVE(link_failures) },
	{ { METRICS_COUNTER, "xbond_slave_resets",
	    "Losses of carrier that bondd caused by changing the receive hook.", NULL },
	  SLAVE(resets) },
	{ { METRICS_COUNTER, "xbond_slave_detached",
	    "How often bondd found its receive program detached.", NULL },
	  SLAVE(detached) },

	{ { METRICS_GAUGE, "xbond_slave_lacp_actor_state", "State flags of the local port.", NULL },
	  SLAVE(port.actor),
	  .count = METRICS_LACP_FLAGS,
	  .key = "flag",
	  .value_of_key = metrics_port_flag_name },
	{ { METRICS_GAUGE, "xbond_slave_lacp_partner_state",
	    "State flags of the partner's port, as last received.", NULL },
	  SLAVE(port.partner),
	  .count = METRICS_LACP_FLAGS,
	  .key = "flag",
	  .value_of_key = metrics_port_flag_name },
	{ { METRICS_GAUGE, "xbond_slave_lacp_selected",
	    "1: the port is selected for its aggregator.", NULL },
	  SLAVE(port.selected) },
	{ { METRICS_GAUGE, "xbond_slave_lacp_actor_churned",
	    "1: the local port does not get in sync.", NULL },
	  SLAVE(port.actor_churned) },
	{ { METRICS_GAUGE, "xbond_slave_lacp_partner_churned",
	    "1: the partner's port does not get in sync.", NULL },
	  SLAVE(port.partner_churned) },
	{ { METRICS_COUNTER, "xbond_slave_lacp_receive_pdus", "LACPDUs received.", NULL },
	  SLAVE(port.lacpdu_rx) },
	{ { METRICS_COUNTER, "xbond_slave_lacp_transmit_pdus", "LACPDUs sent.", NULL },
	  SLAVE(port.lacpdu_tx) },
	{ { METRICS_COUNTER, "xbond_slave_lacp_receive_markers", "Marker PDUs received.", NULL },
	  SLAVE(port.marker_rx) },
	{ { METRICS_COUNTER, "xbond_slave_lacp_transmit_markers", "Marker PDUs sent.", NULL },
	  SLAVE(port.marker_tx) },
	{ { METRICS_COUNTER, "xbond_slave_lacp_illegal_pdus", "Malformed PDUs received.", NULL },
	  SLAVE(port.illegal_rx) },
	{ { METRICS_COUNTER, "xbond_slave_lacp_stranger_pdus",
	    "LACPDUs of systems that are not lacp_partner.", NULL },
	  SLAVE(port.stranger_rx) },
	{ { METRICS_COUNTER, "xbond_slave_lacp_held_pdus",
	    "LACPDUs that the programs sent without bondd.", NULL },
	  SLAVE(port.answers) },
};

static void metrics_families_array(struct metrics_text *text, const struct metrics_family *family,
				   const char *labels, const double *value)
{
	char more[METRICS_LABELS_SIZE];

	for (unsigned int i = 0; i < family->count; i++) {
		snprintf(more, sizeof(more), "%s=\"%s\"", family->key, family->value_of_key(i));
		metrics_text_sample(text, &family->name, labels, more, value[i]);
	}
}

static void metrics_families_value(struct metrics_text *text, const struct metrics_family *family,
				   const char *labels, const void *holder)
{
	const void *at = (const char *)holder + family->offset;
	const char *info = at;

	if (family->name.type == METRICS_HISTOGRAM)
		metrics_text_histogram(text, &family->name, labels, at);
	else if (family->name.type == METRICS_INFO)
		metrics_text_sample(text, &family->name, labels, info, *info ? 1 : NAN);
	else if (family->count)
		metrics_families_array(text, family, labels, at);
	else
		metrics_text_sample(text, &family->name, labels, NULL, *(const double *)at);
}

static void metrics_families_bond(struct metrics_text *text, const struct metrics_family *family,
				  const struct metrics_bond *bond)
{
	if (family->scope == OF_MASTER)
		metrics_families_value(text, family, bond->master, bond);
	if (family->scope == OF_BOND)
		metrics_families_value(text, family, bond->labels, bond);
	for (size_t i = 0; family->scope == OF_SLAVE && i < bond->count; i++)
		metrics_families_value(text, family, bond->slaves[i].labels, &bond->slaves[i]);
}

/* The complete text. */
static void metrics_families_write(struct metrics_text *text, const struct metrics_all *all)
{
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		const struct metrics_family *family = &families[i];

		metrics_text_begin(text, &family->name);
		if (family->scope == OF_BONDD)
			metrics_families_value(text, family, NULL, &all->loop);
		for (size_t bond = 0; bond < all->count; bond++)
			metrics_families_bond(text, family, &all->bonds[bond]);
	}
	metrics_text_finish(text);
}

static size_t metrics_collect_count(char **names)
{
	size_t count = 0;

	while (names[count])
		count++;
	return count;
}

/* False: it has gone, or cannot be counted. */
static bool metrics_collect_bond(struct metrics_pins *all, const char *name,
				 struct metrics_bond *ret_bond)
{
	const struct pins *pins = NULL;
	int r = metrics_pins_find(all, name, &pins);

	return r != -ENOENT && !metrics_bond_read(pins, name, ret_bond);
}

static int metrics_collect_all(struct metrics_pins *pins, const char *run_dir,
			       struct metrics_all *ret_all)
{
	char **names;
	int r = metrics_pins_names(pins, &names);

	*ret_all = (struct metrics_all){ 0 };
	if (r)
		return r;
	metrics_loop_read(run_dir, &ret_all->loop);
	ret_all->bonds =
		memory_need(calloc(metrics_collect_count(names) + 1, sizeof(*ret_all->bonds)));
	for (char **name = names; *name; name++)
		if (metrics_collect_bond(pins, *name, &ret_all->bonds[ret_all->count]))
			ret_all->count++;
	pins_names_free(names);
	ret_all->loop.bonds = (double)ret_all->count;
	return 0;
}

static void metrics_collect_done(struct metrics_all *all)
{
	for (size_t i = 0; i < all->count; i++)
		metrics_bond_done(&all->bonds[i]);
	free(all->bonds);
}

char *metrics_collect_text(struct metrics_pins *pins, const char *run_dir,
			   enum metrics_format format, size_t *ret_length)
{
	struct metrics_text text = { .format = format };
	struct metrics_all all;
	int r = metrics_collect_all(pins, run_dir, &all);

	if (!r)
		metrics_families_write(&text, &all);
	metrics_collect_done(&all);
	*ret_length = text.length;
	return text.bytes;
}

/* NULL: it has gone. */
static json_t *metrics_collect_bond_json(struct metrics_pins *all, const char *name,
					 const struct loop_figures *loop)
{
	const struct pins *pins;
	int r = metrics_pins_find(all, name, &pins);

	if (r == -EPROTO)
		return view_foreign(name, metrics_pins_abi(all, name), true);
	return r ? NULL : view_bond(pins, name, pins_bondd_alive(pins), loop);
}

char *metrics_collect_json(struct metrics_pins *pins, const char *run_dir, size_t *ret_length)
{
	json_t *all = json_array();
	struct loop_figures loop;
	bool is_known = !loop_read(run_dir, &loop);
	char **names, *text;

	if (metrics_pins_names(pins, &names)) {
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
