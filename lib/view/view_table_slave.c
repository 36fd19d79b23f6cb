/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is shown of a slave. */
#include <stdio.h>
#include <string.h>

#include "bpf/slots.h"
#include "common/mac.h"
#include "common/mode.h"
#include "options/values.h"
#include "rules/buckets.h"
#include "view/view_bond.h"
#include "view/view_field.h"
#include "view/view_json.h"

static const struct xbond_slave *view_slave(const struct view_place *place)
{
	return place->at;
}

static const char *view_hook_word(unsigned int hook)
{
	return hook == XBOND_RX_XDP ? "xdp" : hook == XBOND_RX_TC ? "tc" : NULL;
}

static const char *view_duplex_word(unsigned int duplex)
{
	return duplex > 1 ? NULL : duplex ? "full" : "half";
}

static json_t *view_read_info(const struct view_place *place)
{
	bool is_xdp = view_slave(place)->rx_hook == XBOND_RX_XDP;
	char mac[MAC_FORMAT_SIZE];

	return json_pack("{s:s, s:s}", "mac", mac_format(view_slave(place)->mac, mac), "rx_hook",
			 is_xdp ? "xdp" : "tc");
}

static json_t *view_read_active(const struct view_place *place)
{
	return json_boolean(slots_have(values_tx_slots(view_pins(place)), place->slot));
}

/*
 * Without carrier there is no speed. The map still has the last speed, which goes on deciding the
 * weight.
 */
static json_t *view_read_with_carrier(const struct view_place *place)
{
	uint32_t link = view_slave(place)->link;
	bool carrier = link == XBOND_LINK_UP || link == XBOND_LINK_GOING_UP;

	return carrier ? view_member(place->field, place->at) : json_null();
}

static json_t *view_read_problem(const struct view_place *place)
{
	const struct view_problem *problem;
	char text[512] = "";
	size_t length = 0;

	for (unsigned int i = 0; (problem = view_problem_at(i)); i++)
		if (view_slave(place)->trouble & problem->trouble)
			length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s",
						   length ? "; " : "", problem->sentence);
	return length ? json_string(text) : json_null();
}

static json_t *view_read_trouble(const struct view_place *place)
{
	return json_boolean(view_slave(place)->trouble);
}

static json_t *view_read_why(const struct view_place *place)
{
	return view_why(view_pins(place), place->source->lacp, place->slot);
}

static json_t *view_read_in_use(const struct view_place *place)
{
	json_t *why = view_read_why(place);
	bool in_use = json_is_null(why);

	json_decref(why);
	return json_boolean(in_use);
}

static json_t *view_read_attached(const struct view_place *place)
{
	return view_attached(attached_slave(view_pins(place), place->slot));
}

static json_t *view_read_times_detached(const struct view_place *place)
{
	const struct xbond_attached *attached = view_pins(place)->attached;

	return attached ? json_integer(attached->detached[place->slot]) : json_null();
}

static const void *view_base_monitors(const struct view_place *place)
{
	return view_pins(place)->monitors ? place->at : NULL;
}

static json_t *view_read_verdicts(const struct view_place *place)
{
	const struct xbond_verdict *verdict = view_pins(place)->monitors;
	json_t *json = json_object();

	for (unsigned int i = 0; verdict && i < XBOND_MONITORS; i++)
		if (verdict[place->slot].spoken >> i & 1)
			json_object_set_new(json, monitor_name((enum xbond_monitor)i),
					    json_integer(verdict[place->slot].works >> i & 1));
	return json;
}

static json_t *view_read_drained(const struct view_place *place)
{
	return json_boolean(slots_have(view_pins(place)->settings->drain_mask, place->slot));
}

static json_t *view_read_weight(const struct view_place *place)
{
	uint32_t weight[XBOND_MAX_SLAVES], in_force[XBOND_MAX_SLAVES];

	weights_of(view_pins(place), values_tx_slots(view_pins(place)), weight, in_force);
	return json_integer(weight[place->slot]);
}

/*
 * Of the buckets in force, how many are the slave's. In active-backup the first has all; behind it
 * is the order of succession.
 */
static json_t *view_read_share(const struct view_place *place)
{
	const struct xbond_table *table = view_pins(place)->table;
	uint32_t copy = __atomic_load_n(&table->active, __ATOMIC_ACQUIRE) & 1;
	const uint8_t *bucket = view_pins(place)->buckets->bucket[copy];
	uint32_t count = table->bucket_count[copy], owned = 0;

	if (!count || table->selection == XBOND_SELECT_ALL)
		return json_null();
	if (table->selection == XBOND_SELECT_ACTIVE)
		count = 1;
	for (uint32_t i = 0; i < count && i < XBOND_BUCKETS; i++)
		owned += bucket[i] == place->slot;
	return json_real((double)owned / count);
}

/* The active slave receives for bond0's address, whatever its own still is. */
static json_t *view_read_clients(const struct view_place *place)
{
	const struct view_source *source = place->source;
	const struct xbond_bond *bond = source->pins->bond;
	uint64_t told =
		mac_word(place->slot == bond->active_slot ? bond->mac : view_slave(place)->mac);

	return json_integer(client_table_count(source->clients, source->client_count, told));
}

static const void *view_base_port(const struct view_place *place)
{
	return &place->source->lacp->port[place->slot]; /* all zero until the slot is a port */
}

/* AF_XDP sockets, which bondctl adds */

static const struct view_field view_fields_of_socket[] = {
	{ "queue", VIEW_COUNT, "Of the slave.", VIEW_IN(struct view_socket, queue) },
	{ "program", VIEW_TEXT, "The name of a process that has it.",
	  VIEW_IN(struct view_socket, program), .null = true },
	{ "pid", VIEW_COUNT, "The number of that process.", VIEW_IN(struct view_socket, pid),
	  .null = true },
	{ "zero_copy", VIEW_TRUTH, "Does the NIC write into its memory?",
	  VIEW_IN(struct view_socket, zero_copy) },
};

static const struct view_table view_table_socket = VIEW_TABLE("socket", view_fields_of_socket);

json_t *view_read_nothing(const struct view_place *place)
{
	return NULL;
}

static json_t *view_sockets_of(const char *slave, const struct view_socket *sockets, size_t count)
{
	json_t *json = json_array();

	for (size_t i = 0; i < count; i++)
		if (!strcmp(sockets[i].slave, slave))
			json_array_append_new(json, view_struct(&view_table_socket, &sockets[i]));
	return json;
}

void view_add_sockets(json_t *bond, const struct view_socket *sockets, size_t count)
{
	json_t *slaves = json_object_get(bond, "slaves"), *slave;
	size_t at;

	json_array_foreach (slaves, at, slave) {
		const char *name = json_string_value(json_object_get(slave, "name"));

		json_object_set_new(slave, "afxdp_sockets",
				    view_sockets_of(name ? name : "", sockets, count));
	}
}

static const struct view_field view_fields_of_slave[] = {
	{ .means = "What the slave is.",
	  .read = view_read_info,
	  .metric = { METRICS_INFO, .name = "xbond_slave", .labels = "mac,rx_hook" } },
	{ "name", VIEW_TEXT, "The name of the device.", VIEW_IN(struct xbond_slave, name) },
	{ "mii_status", VIEW_WORD,
	  "Its link: going_up while updelay runs, going_down while downdelay runs. Without bondd, "
	  "a slave that has lost carrier since then is down; *since_ms* of its monitor *carrier* "
	  "is then 0, and *active*, *speed_mbps*, *active_slave* and *carrier* are as the programs "
	  "decide.",
	  VIEW_IN(struct xbond_slave, link), .word = view_link_word,
	  .metric = { METRICS_GAUGE, .name = "xbond_slave_up",
		      .help = "1: its link works, and updelay is over.", .is = "up" } },
	{ "active", VIEW_TRUTH, "Is the slave in use for transmission?", .read = view_read_active,
	  .metric = { METRICS_GAUGE, .name = "xbond_slave_active",
		      .help = "1: it is used for transmission." } },
	{ "speed_mbps", VIEW_COUNT, "Its speed; null without carrier.",
	  VIEW_IN(struct xbond_slave, speed_mbps), .read = view_read_with_carrier, .null = true,
	  .more = "In bytes per second.",
	  .metric = { METRICS_GAUGE, .name = "xbond_slave_speed_bytes",
		      .help = "The speed of its link.", .unit = "bytes",
		      .scale = VIEW_BYTES_OF_MBIT } },
	{ "duplex", VIEW_WORD, "Its duplex; null without carrier.",
	  VIEW_IN(struct xbond_slave, duplex), .word = view_duplex_word,
	  .read = view_read_with_carrier, .null = true },
	{ "mac", VIEW_MAC, "Its MAC address.", VIEW_IN(struct xbond_slave, mac), .null = true },
	{ "perm_mac", VIEW_MAC, "Its permanent MAC address.", VIEW_IN(struct xbond_slave, perm_mac),
	  .null = true },
	{ "link_failures", VIEW_COUNT, "How often its link failed.",
	  VIEW_IN(struct xbond_slave, link_failures),
	  .metric = { METRICS_COUNTER, .name = "xbond_slave_link_failures" } },
	{ "resets", VIEW_COUNT, "Losses of carrier that bondd caused by changing the receive hook.",
	  VIEW_IN(struct xbond_slave, resets),
	  .metric = { METRICS_COUNTER, .name = "xbond_slave_resets" } },
	{ "rx_hook", VIEW_WORD, "The hook at which it receives.",
	  VIEW_IN(struct xbond_slave, rx_hook), .word = view_hook_word },
	{ "problem", VIEW_TEXT,
	  "What is wrong with its device because others have changed it: a sentence.",
	  .read = view_read_problem, .null = true },
	{ .means = "1: others have changed it in a way that does harm.",
	  .more = "*bondctl show* says what it is.",
	  .read = view_read_trouble,
	  .metric = { METRICS_GAUGE, .name = "xbond_slave_problem" } },
	{ "why", VIEW_TEXT,
	  "Why the slave is not in use, or only in part: a sentence; null if it is in use.",
	  .read = view_read_why, .null = true },
	{ .means = "0: bondctl show says why it is not in use.",
	  .more = "Backups and drained slaves are not in use either.",
	  .read = view_read_in_use,
	  .metric = { METRICS_GAUGE, .name = "xbond_slave_in_use" } },
	{ "attached", VIEW_TRUTH, "Is its receive program attached?", .read = view_read_attached,
	  .null = true, .more = "It receives nothing then.",
	  .metric = { METRICS_GAUGE, .name = "xbond_slave_attached",
		      .help = "0: its receive program is not attached." } },
	{ "times_detached", VIEW_COUNT, "How often bondd found it detached.",
	  .read = view_read_times_detached, .null = true,
	  .metric = { METRICS_COUNTER, .name = "xbond_slave_detached",
		      .help = "How often bondd found its receive program detached." } },
	{ "monitors", VIEW_OBJECT,
	  "A member for each link monitor that has a verdict on the slave. Null until a bondd of "
	  "this "
	  "version has adopted the bond.",
	  .table = &view_table_monitors, .base = view_base_monitors, .null = true },
	{ .means = "1: the monitor says that the link works.",
	  .more = "There is a line for each monitor that has a verdict: carrier, arp, bfd, "
		  "flaps, silence, errors.",
	  .read = view_read_verdicts,
	  .metric = { METRICS_GAUGE, .name = "xbond_slave_monitor_up", .labels = "monitor" } },
	{ "options", VIEW_OPTIONS, "See *xbond.conf*(5).", .read = view_read_options },
	{ .means = "1: the option drain is on.",
	  .read = view_read_drained,
	  .metric = { METRICS_GAUGE, .name = "xbond_slave_drained" } },
	{ .means = "Its weight, relative to those of the other slaves.",
	  .more = "If the option is *auto*: the speed in Mbit/s, or 1.",
	  .read = view_read_weight,
	  .metric = { METRICS_GAUGE, .name = "xbond_slave_weight" } },
	{ .means = "The share of the traffic that it should carry.",
	  .more = "From 0 to 1. Not in mode broadcast.",
	  .read = view_read_share,
	  .metric = { METRICS_GAUGE, .name = "xbond_slave_share_due_ratio", .unit = "ratio" } },
	{ .type = VIEW_FIELDS, .table = &view_table_packets_of_slave, .base = view_base_packets },
	{ "afxdp_sockets", VIEW_ARRAY,
	  "AF_XDP sockets on it, in the namespace of bondctl. Only *bondctl show* for root has it, "
	  "and only where the kernel lists such sockets (CONFIG_XDP_SOCKETS_DIAG).",
	  .read = view_read_nothing, .table = &view_table_socket, .optional = true },
	{ .means = "Packets dropped, by reason.",
	  .more = "*bondctl-stats*(8) lists the reasons.",
	  .read = view_read_drops,
	  .metric = { METRICS_COUNTER, .name = "xbond_slave_dropped_packets",
		      .labels = "reason" } },
	{ "clients", VIEW_COUNT,
	  "How many neighbours were told to send to this slave. A neighbour counts once for each "
	  "address of the bond, IPv4 or IPv6, and for each VLAN.",
	  .read = view_read_clients, .needs = MODE_RECEIVES },
	{ "lacp", VIEW_OBJECT, "What LACP does on its port.", .table = &view_table_lacp_slave,
	  .base = view_base_port, .needs = MODE_LACP },
};

const struct view_table view_table_slave = VIEW_TABLE("slave", view_fields_of_slave);
