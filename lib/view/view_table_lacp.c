/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is shown of LACP: of a bond, and of the port of a slave. Reads the pinned state of the
 * machines by the core's own accessors. Runs no machine.
 */
#include <string.h>

#include "bpf/slots.h"
#include "common/mac.h"
#include "view/view_bond.h"
#include "view/view_field.h"
#include "view/view_json.h"

#define READ_TRIES 100
#define FLAGS 8
#define FIRST_FOUND_FLAG 3 /* those before it say what a port was told to do */

/*
 * bondd writes the copy that is not in force. If it wrote twice while we read, we would get a
 * mixture.
 */
static void view_lacp_read_copy(const struct xbond_lacp *lacp, void *ret_copy)
{
	const void *copy;
	int tries = READ_TRIES;

	do {
		copy = &lacp->copy[__atomic_load_n(&lacp->current, __ATOMIC_ACQUIRE) & 1];
		memcpy(ret_copy, copy, sizeof(lacp->copy[0]));
	} while (memcmp(ret_copy, copy, sizeof(lacp->copy[0])) && --tries);
}

static uint64_t view_lacp_ports_of_members(const struct pins *pins,
					   const struct lacp_port_state *port)
{
	uint64_t slots = 0;

	pins_for_each_member (pins, slot)
		if (port[slot].used)
			slots |= slots_bit(slot);
	return slots;
}

void view_lacp_read(const struct pins *pins, struct lacp_system *ret_system)
{
	struct lacp_config config = lacp_config_default();
	typeof(pins->lacp->copy[0]) copy;

	view_lacp_read_copy(pins->lacp, &copy);
	lacp_init(ret_system, &config, NULL, NULL);
	lacp_adopt(ret_system, &copy.system, copy.port,
		   view_lacp_ports_of_members(pins, copy.port));
}

static const char *view_rate_word(unsigned int fast)
{
	return fast > 1 ? NULL : fast ? "fast" : "slow";
}

/* A partner's numbers may be 0, as teamd's key is. */
static json_t *view_of_partner(const struct view_field *field, const struct lacp_info *partner)
{
	return mac_is_zero(partner->system) ? json_null() : view_known(field, partner);
}

/* Of a bond */

static const struct lacp_system *view_lacp(const struct view_place *place)
{
	return place->source->lacp;
}

static const struct lacp_port_state *view_representative(const struct view_place *place)
{
	static const struct lacp_port_state none;
	int slot = lacp_representative(view_lacp(place));

	return slot < 0 ? &none : &view_lacp(place)->port[slot];
}

static json_t *view_read_bond_key(const struct view_place *place)
{
	if (lacp_representative(view_lacp(place)) < 0)
		return json_null();
	return json_integer(view_representative(place)->actor.key);
}

static json_t *view_read_bond_partner(const struct view_place *place)
{
	return view_of_partner(place->field, &view_representative(place)->partner);
}

static json_t *view_read_num_ports(const struct view_place *place)
{
	return json_integer(lacp_num_ports(view_lacp(place)));
}

static json_t *view_read_rate(const struct view_place *place)
{
	return view_member(place->field, view_pins(place)->bond);
}

static json_t *view_read_rate_effective(const struct view_place *place)
{
	return json_string(view_rate_word(lacp_rate_fast(view_lacp(place))));
}

static json_t *view_read_ends(const struct view_place *place)
{
	const struct lacp_port_state *port = view_representative(place);
	char actor[MAC_FORMAT_SIZE], partner[MAC_FORMAT_SIZE];

	return json_pack("{s:s, s:i, s:s, s:i}", "actor_system",
			 mac_format(view_lacp(place)->state.config.system, actor), "actor_key",
			 (int)port->actor.key, "partner_system",
			 mac_format(port->partner.system, partner), "partner_key",
			 (int)port->partner.key);
}

#define PARTNER(name, reader, member, sentence)                                \
	{                                                                      \
		name, VIEW_COUNT, sentence, VIEW_IN(struct lacp_info, member), \
			.read = reader, .max = UINT16_MAX, .null = true        \
	}

static const struct view_field view_fields_of_bond[] = {
	{ .means = "The active aggregator's two ends.",
	  .more = "Only in mode 802.3ad, as are all metrics with _lacp_ in their names.",
	  .read = view_read_ends,
	  .metric = { METRICS_INFO, .name = "xbond_bond_lacp",
		      .labels = "actor_system,actor_key,partner_system,partner_key" } },
	{ "active_aggregator", VIEW_COUNT, "The number of the aggregator in use.",
	  VIEW_IN(struct lacp_system, state.active_aggregator), .null = true },
	{ "actor_system", VIEW_MAC, "The address of this system.",
	  VIEW_IN(struct lacp_system, state.config.system), .null = true },
	{ "actor_sys_prio", VIEW_COUNT, "Its priority.",
	  VIEW_IN(struct lacp_system, state.config.system_priority), .max = UINT16_MAX },
	{ "actor_key", VIEW_COUNT, "The key of the aggregator.", .read = view_read_bond_key,
	  .null = true, .max = UINT16_MAX },
	{ "partner_system", VIEW_MAC, "The address of the partner.",
	  VIEW_IN(struct lacp_info, system), .read = view_read_bond_partner, .null = true },
	PARTNER("partner_sys_prio", view_read_bond_partner, system_priority, "Its priority."),
	PARTNER("partner_key", view_read_bond_partner, key, "Its key."),
	{ "num_ports", VIEW_COUNT, "Selected ports of the active aggregator.",
	  .read = view_read_num_ports,
	  .metric = { METRICS_GAUGE, .name = "xbond_bond_lacp_ports" } },
	{ "rate", VIEW_WORD, "The option *lacp_rate*.", VIEW_IN(struct xbond_bond, lacp_rate),
	  .read = view_read_rate, .word = view_rate_word },
	{ "rate_effective", VIEW_WORD, "The rate that the bond requests from the partner.",
	  .read = view_read_rate_effective, .word = view_rate_word },
};

const struct view_table view_table_lacp_bond = VIEW_TABLE("lacp_bond", view_fields_of_bond);

/* Of a slave */

static const struct lacp_port_state *view_port(const struct view_place *place)
{
	return place->at;
}

static json_t *view_read_partner(const struct view_place *place)
{
	return view_of_partner(place->field, &view_port(place)->partner);
}

static json_t *view_read_prio(const struct view_place *place)
{
	return json_integer(view_pins(place)->slaves[place->slot].actor_port_prio);
}

static json_t *view_read_why(const struct view_place *place)
{
	return view_lacp_why(view_pins(place), place->source->lacp, place->slot);
}

static json_t *view_read_flags(const struct view_place *place)
{
	uint8_t state = ((const uint8_t *)place->at)[place->field->offset];
	json_t *names = json_array();

	for (unsigned int bit = 0; bit < FLAGS; bit++)
		if (state & (1u << bit))
			json_array_append_new(names, json_string(lacp_flag_name(bit)));
	return names;
}

/* For the metric. */
static json_t *view_read_flag_bits(const struct view_place *place)
{
	uint8_t state = ((const uint8_t *)place->at)[place->field->offset];
	json_t *bits = json_object();

	_Static_assert(LACP_SYNCHRONIZATION == 1 << FIRST_FOUND_FLAG, "the flags behind it");
	for (unsigned int bit = FIRST_FOUND_FLAG; bit < FLAGS; bit++)
		json_object_set_new(bits, lacp_flag_name(bit), json_integer(state >> bit & 1));
	return bits;
}

static json_t *view_read_answers(const struct view_place *place)
{
	return json_integer(view_pins(place)->hold[place->slot].answers);
}

#define PORT(member) VIEW_IN(struct lacp_port_state, member)
#define PDUS(member, sentence, metric_name)                                                    \
	{                                                                                      \
		.name = #member, .type = VIEW_COUNT, .means = sentence, PORT(counters.member), \
		.metric = { METRICS_COUNTER, .name = metric_name },                            \
	}

static const struct view_field view_fields_of_port[] = {
	{ .means = "State flags of the local port.",
	  .more = "They are synchronization, collecting, distributing, defaulted, expired.",
	  PORT(actor.state),
	  .read = view_read_flag_bits,
	  .metric = { METRICS_GAUGE, .name = "xbond_slave_lacp_actor_state", .labels = "flag" } },
	{ .means = "State flags of the partner's port, as last received.",
	  PORT(partner.state),
	  .read = view_read_flag_bits,
	  .metric = { METRICS_GAUGE, .name = "xbond_slave_lacp_partner_state", .labels = "flag" } },
	{ "aggregator_id", VIEW_COUNT, "The number of its aggregator.", PORT(aggregator),
	  .null = true },
	{ "port_number", VIEW_COUNT, "Its number.", PORT(config.port), .null = true },
	{ "port_prio", VIEW_COUNT, "Its priority.", .read = view_read_prio, .max = UINT16_MAX },
	{ "actor_key", VIEW_COUNT, "Its key.", PORT(actor.key), .max = UINT16_MAX },
	{ "actor_state", VIEW_WORDS, "Its state flags.", PORT(actor.state), .read = view_read_flags,
	  .word = lacp_flag_name },
	{ "partner_state", VIEW_WORDS, "Those of the partner's port, as last received.",
	  PORT(partner.state), .read = view_read_flags, .word = lacp_flag_name },
	{ "partner_system", VIEW_MAC, "The address of the partner.", PORT(partner.system),
	  .null = true },
	PARTNER("partner_key", view_read_partner, key, "The key of its port."),
	PARTNER("partner_port", view_read_partner, port, "The number of its port."),
	PARTNER("partner_sys_prio", view_read_partner, system_priority, "Its priority."),
	PARTNER("partner_port_prio", view_read_partner, port_priority, "The priority of its port."),
	{ "rx_state", VIEW_WORD, "The state of the Receive machine.", PORT(rx),
	  .word = lacp_rx_name },
	{ "mux_state", VIEW_WORD, "The state of the Mux machine.", PORT(mux),
	  .word = lacp_mux_name },
	{ "selected", VIEW_WORD, "Whether it is selected for its aggregator.", PORT(selected),
	  .word = lacp_selected_name,
	  .metric = { METRICS_GAUGE, .name = "xbond_slave_lacp_selected",
		      .help = "1: the port is selected for its aggregator.", .is = "selected" } },
	{ "actor_churn", VIEW_WORD, "Churned: the port does not get in sync.", PORT(actor_churn),
	  .word = lacp_churn_name,
	  .metric = { METRICS_GAUGE, .name = "xbond_slave_lacp_actor_churned",
		      .help = "1: the local port does not get in sync.", .is = "churned" } },
	{ "partner_churn", VIEW_WORD, "The same of the partner's port.", PORT(partner_churn),
	  .word = lacp_churn_name,
	  .metric = { METRICS_GAUGE, .name = "xbond_slave_lacp_partner_churned",
		      .help = "1: the partner's port does not get in sync.", .is = "churned" } },
	PDUS(lacpdu_rx, "LACPDUs received.", "xbond_slave_lacp_receive_pdus"),
	PDUS(lacpdu_tx, "LACPDUs sent.", "xbond_slave_lacp_transmit_pdus"),
	PDUS(marker_rx, "Marker PDUs received.", "xbond_slave_lacp_receive_markers"),
	PDUS(marker_tx, "Marker PDUs sent.", "xbond_slave_lacp_transmit_markers"),
	PDUS(illegal_rx, "Malformed PDUs received.", "xbond_slave_lacp_illegal_pdus"),
	PDUS(stranger_rx, "LACPDUs of systems that are not lacp_partner.",
	     "xbond_slave_lacp_stranger_pdus"),
	{ .means = "LACPDUs that the programs sent without bondd.",
	  .read = view_read_answers,
	  .metric = { METRICS_COUNTER, .name = "xbond_slave_lacp_held_pdus" } },
	{ "actor_churns", VIEW_COUNT, "How often the port was churned.",
	  PORT(counters.actor_churn) },
	{ "partner_churns", VIEW_COUNT, "How often the partner's port was churned.",
	  PORT(counters.partner_churn) },
	{ "why", VIEW_TEXT,
	  "What the port is doing and, if it carries no traffic, why: a sentence.",
	  .read = view_read_why },
};

const struct view_table view_table_lacp_slave = VIEW_TABLE("lacp_slave", view_fields_of_port);
