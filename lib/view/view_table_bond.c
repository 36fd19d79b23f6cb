/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is shown of a bond as a whole; its options, too, and those of its slaves. */
#include <stdio.h>
#include <string.h>

#include "bpf/slots.h"
#include "common/clock.h"
#include "common/mac.h"
#include "common/mode.h"
#include "common/readings.h"
#include "options/option_set.h"
#include "options/values.h"
#include "view/view_bond.h"
#include "view/view_field.h"
#include "view/view_json.h"

/* Options */

static json_t *view_list_json(const struct option_spec *option, const struct option_value *value)
{
	char text[OPTION_ADDRESS_SIZE];
	json_t *json = json_array();

	for (unsigned int i = 0; i < option_address_count(value); i++)
		json_array_append_new(json, json_string(option_address_at(option, value, i, text)));
	return json;
}

static json_t *view_option_json(const struct option_spec *option, const struct option_value *value)
{
	char text[OPTION_TEXT_SIZE];

	if (option_is_list(option))
		return view_list_json(option, value);
	option_format(option, value, text, sizeof(text));
	if (option->type == OPTION_BOOL)
		return json_boolean(value->number);
	if (option->type == OPTION_IFNAME)
		return json_value_text(value->name);
	if (option->type == OPTION_MAC)
		return json_value_mac(value->mac);
	if (option->type == OPTION_ADDRESS && !value->host.family)
		return json_null();
	if (option->type == OPTION_INT)
		return json_integer((int32_t)value->number);
	if (option->type == OPTION_UINT && text[strspn(text, "0123456789")] == '\0')
		return json_integer(value->number);
	return json_string(text);
}

json_t *view_read_options(const struct view_place *place)
{
	bool of_bond = place->slot == XBOND_DROPS_OF_BOND;
	json_t *json = json_object();

	for (unsigned int id = 0; id < OPT_COUNT; id++) {
		const struct option_spec *option = option_at(id);
		struct option_value value;

		if (option->scope != (of_bond ? OPTION_BOND : OPTION_SLAVE) ||
		    option->home == OPTION_NOWHERE)
			continue;
		values_read(view_pins(place), option, of_bond ? 0 : place->slot, &value);
		json_object_set_new(json, option->name, view_option_json(option, &value));
	}
	return json;
}

/* What the bond is, and what it does */

static json_t *view_read_name(const struct view_place *place)
{
	return json_value_text(place->source->name);
}

const char *view_mode_word(unsigned int mode)
{
	return mode_find(mode) ? mode_name(mode) : NULL;
}

/* What the bond is made of; the option may have left that to bondd. */
static const char *view_device_word(unsigned int kind)
{
	switch ((enum xbond_device)kind) {
	case XBOND_DEVICE_VETH: return "veth";
	case XBOND_DEVICE_NETKIT: return "netkit";
	case XBOND_DEVICE_TEAM: return "team";
	case XBOND_DEVICE_AUTO:
	case XBOND_DEVICE_PAIR: break;
	}
	return NULL;
}

/* Which option has decided what the option device leaves to bondd. */
static json_t *view_read_device_for(const struct view_place *place)
{
	const struct xbond_bond *bond = place->at;
	const char *name = bond->device == XBOND_DEVICE_AUTO ? option_against_team(bond) : NULL;

	return name ? json_string(name) : json_null();
}

static const char *view_carrier_word(unsigned int carrier)
{
	return carrier > 1 ? NULL : carrier ? "up" : "down";
}

static json_t *view_read_info(const struct view_place *place)
{
	const struct xbond_bond *bond = place->at;
	const char *device = view_device_word(bond->device_kind);
	char mac[MAC_FORMAT_SIZE];

	return json_pack("{s:s, s:s, s:s}", "mode", mode_name(bond->mode), "mac",
			 mac_format(bond->mac, mac), "device", device ? device : "veth");
}

static json_t *view_read_readable(const struct view_place *place)
{
	return json_integer(view_pins(place) != NULL);
}

static json_t *view_read_slave_count(const struct view_place *place)
{
	unsigned int count = 0;

	pins_for_each_member (view_pins(place), slot)
		count++;
	return json_integer(count);
}

static json_t *view_read_up_count(const struct view_place *place)
{
	unsigned int count = 0;

	pins_for_each_member (view_pins(place), slot)
		count += view_pins(place)->slaves[slot].link == XBOND_LINK_UP;
	return json_integer(count);
}

static json_t *view_read_active_slave(const struct view_place *place)
{
	struct option_value active;

	values_read(view_pins(place), option_at(OPT_ACTIVE_SLAVE), 0, &active);
	return json_value_text(active.name);
}

static json_t *view_read_speed(const struct view_place *place)
{
	uint64_t slots = values_tx_slots(view_pins(place)), sum = 0;

	slots_for_each (slots, slot)
		sum += view_pins(place)->slaves[slot].speed_mbps;
	return place->field->null ? json_value_number(sum) : json_integer((json_int_t)sum);
}

static json_t *view_read_attached(const struct view_place *place)
{
	return view_attached(attached_pair(view_pins(place)));
}

static json_t *view_read_times_detached(const struct view_place *place)
{
	const struct xbond_attached *attached = view_pins(place)->attached;

	return attached ? json_integer(attached->detached_bond) : json_null();
}

static json_t *view_read_abi_version(const struct view_place *place)
{
	return json_integer(view_pins(place) ? view_pins(place)->bond->abi_version
					     : place->source->abi);
}

static json_t *view_problem_left(const struct pins *pins)
{
	char left[RESTORED_TEXT_SIZE];

	return *restored_left_of(pins, left)
		       ? json_sprintf(
				 "slaves that were removed are not yet as they were before (%s)",
				 left)
		       : json_null();
}

static json_t *view_read_problem(const struct view_place *place)
{
	if (view_pins(place))
		return view_problem_left(view_pins(place));
	return json_sprintf("it was made with ABI version %u, and this program supports version "
			    "%d; it continues under its own programs, as without bondd",
			    place->source->abi, XBOND_ABI_VERSION);
}

static json_t *view_read_bondd(const struct view_place *place)
{
	return json_boolean(place->source->bondd);
}

static json_t *view_read_policy(const struct view_place *place)
{
	return view_policy(view_pins(place));
}

static json_t *view_read_clients_refused(const struct view_place *place)
{
	const struct xbond_receivers *receivers = view_pins(place)->receivers;

	return json_integer(receivers ? receivers->refused : 0);
}

/* Failovers, and what moves by load */

static const char *view_source_word(unsigned int source)
{
	switch ((enum xbond_carrier_source)source) {
	case XBOND_CARRIER_POLL: return "poll";
	case XBOND_CARRIER_TRACEPOINT: return "tracepoint";
	case XBOND_CARRIER_FENTRY: return "fentry";
	case XBOND_CARRIER_UNKNOWN: break;
	}
	return NULL;
}

/* Without bondd nobody watches links that no packet meets. */
static json_t *view_read_carrier_source(const struct view_place *place)
{
	const struct xbond_failover *figures = view_pins(place)->failover;

	return figures && place->source->bondd ? view_member(place->field, figures) : json_null();
}

static json_t *view_read_last_duration_us(const struct view_place *place)
{
	const struct xbond_failover *figures = place->at;

	return figures->count ? json_integer((json_int_t)(figures->last_ns / 1000)) : json_null();
}

static json_t *view_read_waiting(const struct view_place *place)
{
	const struct xbond_moves *moves = place->at;
	json_int_t waiting = 0;

	for (unsigned int bucket = 0; bucket < XBOND_BUCKETS; bucket++)
		waiting += moves->to[bucket] && moves->partner[bucket] < XBOND_BUCKETS;
	return json_integer(waiting);
}

static json_t *view_read_since_round_s(const struct view_place *place)
{
	const struct xbond_moves *moves = place->at;

	if (!moves->rounds)
		return json_null();
	return json_integer((json_int_t)((clock_now_ns() - moves->round_ns) / NS_PER_S));
}

static const void *view_base_failover(const struct view_place *place)
{
	return view_pins(place)->failover;
}

static const void *view_base_rebalance(const struct view_place *place)
{
	return view_pins(place)->table->flags & XBOND_F_LOADS ? view_pins(place)->moves : NULL;
}

static const void *view_base_lacp(const struct view_place *place)
{
	return place->source->lacp;
}

static const struct view_field view_fields_of_failover[] = {
	{ "last_duration_us", VIEW_COUNT,
	  "The time in microseconds from the loss until the programs' table no longer had the "
	  "slave. If only a link event or the poll reports a loss, the time starts when bondd "
	  "notices it.",
	  .read = view_read_last_duration_us, .null = true },
	{ "count", VIEW_COUNT, "Their number.", VIEW_IN(struct xbond_failover, count) },
	{ "histogram_us", VIEW_ARRAY, "How long they took. Empty classes are left out.",
	  VIEW_IN(struct xbond_failover, histogram), .read = view_read_histogram,
	  .table = &view_table_failovers },
	{ .means = "How long it took to take a failed slave out of use.",
	  .more = "From the loss, as far as it is known, until the programs' table no longer "
		  "had the slave.",
	  VIEW_IN(struct xbond_failover, histogram),
	  .index = offsetof(struct xbond_failover, sum_ns),
	  .read = view_read_classes,
	  .metric = { METRICS_HISTOGRAM, .name = "xbond_bond_failover_seconds",
		      .unit = "seconds" } },
	{ .means = "Hash buckets that moved from one slave to another.",
	  .more = "The flows in them move, too. A bond in a mode that hashes has 4096.",
	  VIEW_IN(struct xbond_failover, moved_buckets),
	  .metric = { METRICS_COUNTER, .name = "xbond_bond_moved_buckets" } },
};

static const struct view_field view_fields_of_rebalance[] = {
	{ "rounds", VIEW_COUNT, "Intervals in which buckets were chosen.",
	  VIEW_IN(struct xbond_moves, rounds) },
	{ "moved", VIEW_COUNT, "Buckets that have moved.", VIEW_IN(struct xbond_moves, finished) },
	{ "given_up", VIEW_COUNT, "Buckets that stayed because they had no pause.",
	  VIEW_IN(struct xbond_moves, given_up) },
	{ "waiting", VIEW_COUNT, "Buckets that wait for a pause.", .read = view_read_waiting },
	{ "since_round_s", VIEW_COUNT, "Seconds since the last round.",
	  .read = view_read_since_round_s, .null = true },
};

static const struct view_table view_table_failover =
	VIEW_TABLE("failover", view_fields_of_failover);
static const struct view_table view_table_rebalance =
	VIEW_TABLE("rebalance", view_fields_of_rebalance);

#define NODE(metric_name, number, sentence)                                       \
	{                                                                         \
		.means = sentence, .read = number,                                \
		.metric = { METRICS_GAUGE, .name = metric_name, .of = "master" }, \
	}

static const struct view_field view_fields_of_bond[] = {
	NODE("node_bonding_slaves", view_read_slave_count,
	     "Number of configured slaves per bonding interface."),
	NODE("node_bonding_active", view_read_up_count,
	     "Number of active slaves per bonding interface."),
	{ .means = "0: its maps are of another version, or damaged; nothing else is known of it.",
	  .read = view_read_readable,
	  .foreign = true,
	  .metric = { METRICS_GAUGE, .name = "xbond_bond_readable" } },
	{ .means = "What the bond is.",
	  .more = "_device_ is veth, netkit or team.",
	  .read = view_read_info,
	  .metric = { METRICS_INFO, .name = "xbond_bond", .labels = "mode,mac,device" } },
	{ "name", VIEW_TEXT, "The name of its device.", .read = view_read_name, .foreign = true },
	{ "mode", VIEW_WORD, "Its mode.", VIEW_IN(struct xbond_bond, mode),
	  .word = view_mode_word },
	{ "mac", VIEW_MAC, "The MAC address of its device.", VIEW_IN(struct xbond_bond, mac),
	  .null = true },
	{ "device", VIEW_WORD, "What the bond is made of.", VIEW_IN(struct xbond_bond, device_kind),
	  .word = view_device_word, .null = true },
	{ "device_for", VIEW_TEXT, "The option for which *device auto* is not a team.",
	  .read = view_read_device_for, .null = true },
	{ "mtu", VIEW_COUNT, "The MTU of its device.", VIEW_IN(struct xbond_bond, mtu),
	  .null = true },
	{ "carrier", VIEW_TRUTH, "Does the bond have carrier?", VIEW_IN(struct xbond_bond, carrier),
	  .metric = { METRICS_GAUGE, .name = "xbond_bond_carrier",
		      .help = "1: the bond has carrier." } },
	{ "mii_status", VIEW_WORD, "The same, as the kernel's bonding driver says it.",
	  VIEW_IN(struct xbond_bond, carrier), .word = view_carrier_word },
	{ "active_slave", VIEW_TEXT, "The active slave; null in modes that have none.",
	  .read = view_read_active_slave, .null = true },
	{ "speed_mbps", VIEW_COUNT,
	  "The sum of the speeds of the slaves that may transmit; in active-backup, the speed of "
	  "the active slave.",
	  .read = view_read_speed, .null = true },
	{ .means = "The sum of the speeds of the slaves that may transmit.",
	  .more = "In bytes per second.",
	  .read = view_read_speed,
	  .metric = { METRICS_GAUGE, .name = "xbond_bond_speed_bytes", .unit = "bytes",
		      .scale = VIEW_BYTES_OF_MBIT } },
	{ "attached", VIEW_TRUTH, "Are the programs by which the bond transmits attached?",
	  .read = view_read_attached, .null = true,
	  .metric = { METRICS_GAUGE, .name = "xbond_bond_attached",
		      .help = "0: programs of the bond's pair are not attached." } },
	{ "times_detached", VIEW_COUNT, "How often bondd found one of them detached.",
	  .read = view_read_times_detached, .null = true,
	  .metric = { METRICS_COUNTER, .name = "xbond_bond_detached",
		      .help = "How often bondd found programs of the bond's pair detached." } },
	{ "abi_version", VIEW_COUNT,
	  "The version of its maps. If bondctl does not know it, *problem* says so, *slaves* is "
	  "empty, and everything else is null.",
	  .read = view_read_abi_version, .foreign = true },
	{ "problem", VIEW_TEXT,
	  "A sentence, if bondctl does not know that version, or while removed slaves are not yet "
	  "restored; otherwise null.",
	  .read = view_read_problem, .null = true, .foreign = true },
	{ "bondd", VIEW_TRUTH, "Is bondd running, and does it answer?", .read = view_read_bondd,
	  .foreign = true },
	{ "options", VIEW_OPTIONS, "See *xbond.conf*(5).", .read = view_read_options },
	{ .type = VIEW_FIELDS, .table = &view_table_packets_of_bond, .base = view_base_packets },
	{ .means = "Packets dropped, by reason, that belong to no slave.",
	  .more = "The drops of slaves are not in it.",
	  .read = view_read_drops,
	  .metric = { METRICS_COUNTER, .name = "xbond_bond_dropped_packets", .labels = "reason" } },
	{ "carrier_source", VIEW_WORD,
	  "How bondd learns of link changes when there is no traffic (see FAILOVER in "
	  "*xbond*(7)). Null without bondd.",
	  VIEW_IN(struct xbond_failover, carrier_source), .word = view_source_word,
	  .read = view_read_carrier_source, .null = true },
	{ "failover", VIEW_OBJECT,
	  "Failovers: slaves that were up and were taken out of use because a link monitor found a "
	  "fault. Null until a bondd of this version has adopted the bond.",
	  .table = &view_table_failover, .base = view_base_failover, .null = true },
	{ "policy", VIEW_TEXT, "The name of the loaded policy; null: there is none.",
	  .read = view_read_policy, .null = true },
	{ "rebalance", VIEW_OBJECT,
	  "Buckets that move by load. Null while this is off (*rebalance_interval*, "
	  "*tlb_dynamic_lb*).",
	  .table = &view_table_rebalance, .base = view_base_rebalance, .null = true },
	{ "loop", VIEW_OBJECT, "The main loop of bondd (see THE MAIN LOOP).",
	  .table = &view_table_loop, .base = view_base_loop, .null = true },
	{ "clients_refused", VIEW_COUNT,
	  "How often a neighbour was not assigned to a slave, because more than 256 came in one "
	  "second or the map was full. It sends to the bond's address, and counts each time that "
	  "it "
	  "asks.",
	  .read = view_read_clients_refused, .needs = MODE_RECEIVES },
	{ "slaves", VIEW_ARRAY, "Its slaves.", .read = view_read_slaves, .table = &view_table_slave,
	  .foreign = true },
	{ "awaited", VIEW_WORDS,
	  "Slaves of its configuration file that it does not have yet, by name or MAC address. "
	  "bondd is waiting for them. Only *bondctl show* has it, and only while bondd answers.",
	  .read = view_read_nothing, .optional = true, .foreign = true },
	{ "lacp", VIEW_OBJECT, "What LACP does for the bond.", .table = &view_table_lacp_bond,
	  .base = view_base_lacp, .needs = MODE_LACP },
};

const struct view_table view_table_bond = VIEW_TABLE("bond", view_fields_of_bond);
