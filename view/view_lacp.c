/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds the `lacp` objects. Reads the pinned state of the machines by the core's own accessors,
 * and the pinned hold, which tells what the kernel does while bondd is away. Prints nothing and
 * runs no machine.
 */
#include "view/view_lacp.h"

#include <stdio.h>
#include <string.h>

#include "bpf/heartbeat.h"
#include "common/clock.h"
#include "common/slots.h"
#include "view/json_value.h"
#include "view/lacp_why.h"

#define READ_TRIES 100
#define FLAGS 8
#define WHY_SIZE (LACP_WHY_SIZE + 80)

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

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (port[slot].used && pins_is_member(pins, slot))
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

static json_t *view_lacp_rate_json(bool fast)
{
	return json_string(fast ? "fast" : "slow");
}

static bool view_lacp_is_partner_known(const struct lacp_info *partner)
{
	static const uint8_t zero[LACP_MAC_SIZE];

	return memcmp(partner->system, zero, sizeof(zero)) != 0;
}

static json_t *view_lacp_partner_number(const struct lacp_info *partner, uint16_t number)
{
	return view_lacp_is_partner_known(partner) ? json_integer(number) : json_null();
}

json_t *view_lacp_bond(const struct pins *pins, const struct lacp_system *sys)
{
	static const struct lacp_info nobody;
	int slot = lacp_representative(sys);
	const struct lacp_info *partner = slot < 0 ? &nobody : &sys->port[slot].partner;
	json_t *json = json_object();

	json_object_set_new(json, "active_aggregator",
			    json_value_number(sys->state.active_aggregator));
	json_object_set_new(json, "actor_system", json_value_mac(sys->state.config.system));
	json_object_set_new(json, "actor_sys_prio",
			    json_integer(sys->state.config.system_priority));
	json_object_set_new(json, "actor_key",
			    slot < 0 ? json_null() : json_integer(sys->port[slot].actor.key));
	json_object_set_new(json, "partner_system", json_value_mac(partner->system));
	json_object_set_new(json, "partner_sys_prio",
			    view_lacp_partner_number(partner, partner->system_priority));
	json_object_set_new(json, "partner_key", view_lacp_partner_number(partner, partner->key));
	json_object_set_new(json, "num_ports", json_integer(lacp_num_ports(sys)));
	json_object_set_new(json, "rate", view_lacp_rate_json(pins->bond->lacp_rate));
	json_object_set_new(json, "rate_effective", view_lacp_rate_json(lacp_rate_fast(sys)));
	return json;
}

static json_t *view_lacp_flags_json(uint8_t state)
{
	json_t *names = json_array();

	for (unsigned int bit = 0; bit < FLAGS; bit++)
		if (state & (1u << bit))
			json_array_append_new(names, json_string(lacp_flag_name(bit)));
	return names;
}

static const char *view_lacp_slave_name(const void *context, unsigned int slot)
{
	const struct pins *pins = context;

	return pins->slaves[slot].name[0] ? pins->slaves[slot].name : NULL;
}

static bool view_lacp_is_bondd_away(const struct pins *pins, uint64_t now_ns)
{
	uint64_t beat_ns = __atomic_load_n(&pins->table->lacp_heartbeat_ns, __ATOMIC_RELAXED);

	return heartbeat_is_older(beat_ns, now_ns, XBOND_LACP_AWAY_NS);
}

static uint64_t view_lacp_later(uint64_t left_ns, uint64_t right_ns)
{
	return left_ns > right_ns ? left_ns : right_ns;
}

/* Roughly the time when bondd went away; the sentence is made for that time. */
static uint64_t view_lacp_last_known_ns(const struct pins *pins, const struct lacp_port_state *port)
{
	return view_lacp_later(pins->table->lacp_heartbeat_ns,
			       view_lacp_later(port->heard_ns, port->sent_ns[LACP_TX_LIMIT - 1]));
}

static void view_lacp_why_while_away(const struct pins *pins, const struct lacp_system *sys,
				     unsigned int slot, char ret_text[WHY_SIZE])
{
	const struct xbond_hold *hold = &pins->hold[slot];
	const struct xbond_hold_words *words = &hold->words[hold->in_force & 1];
	bool held = words->holding && words->told & LACP_COLLECTING;
	char before[LACP_WHY_SIZE];

	static const char *const ended[] = {
		[XBOND_HOLD_SILENT] = "silent",
		[XBOND_HOLD_OUT_OF_STEP] = "partner's state changed",
		[XBOND_HOLD_PARTNER_CHANGED] = "partner changed",
	};

	if (hold->ended && hold->ended < sizeof(ended) / sizeof(*ended)) {
		snprintf(ret_text, WHY_SIZE, "%s without bondd: %s",
			 pins->bond->lacp_hold ? "hold ended" : "given up", ended[hold->ended]);
	} else if (held) {
		snprintf(ret_text, WHY_SIZE, "held by the kernel without bondd%s: %u answer%s",
			 hold->withheld ? ", collecting only, as the partner does not" : "",
			 hold->answers, hold->answers == 1 ? "" : "s");
	} else {
		lacp_why(sys, slot, view_lacp_last_known_ns(pins, &sys->port[slot]),
			 view_lacp_slave_name, pins, before);
		snprintf(ret_text, WHY_SIZE, "not held without bondd; before: %s", before);
	}
}

json_t *view_lacp_why(const struct pins *pins, const struct lacp_system *sys, unsigned int slot)
{
	/* read after the state, so nothing in the state is later */
	uint64_t now_ns = clock_now_ns();
	char text[WHY_SIZE];

	if (!slots_have(sys->used, slot))
		return json_string("no port yet: bondd has not taken it up");
	if (view_lacp_is_bondd_away(pins, now_ns))
		view_lacp_why_while_away(pins, sys, slot, text);
	else
		lacp_why(sys, slot, now_ns, view_lacp_slave_name, pins, text);
	return json_value_text(text);
}

static void view_lacp_set_partner(json_t *json, const struct lacp_info *partner)
{
	json_object_set_new(json, "partner_state", view_lacp_flags_json(partner->state));
	json_object_set_new(json, "partner_system", json_value_mac(partner->system));
	json_object_set_new(json, "partner_key", view_lacp_partner_number(partner, partner->key));
	json_object_set_new(json, "partner_port", view_lacp_partner_number(partner, partner->port));
	json_object_set_new(json, "partner_sys_prio",
			    view_lacp_partner_number(partner, partner->system_priority));
	json_object_set_new(json, "partner_port_prio",
			    view_lacp_partner_number(partner, partner->port_priority));
}

static void view_lacp_set_machines(json_t *json, const struct lacp_port_state *port)
{
	json_object_set_new(json, "rx_state", json_string(lacp_rx_name(port->rx)));
	json_object_set_new(json, "mux_state", json_string(lacp_mux_name(port->mux)));
	json_object_set_new(json, "selected", json_string(lacp_selected_name(port->selected)));
	json_object_set_new(json, "churn_actor", json_string(lacp_churn_name(port->actor_churn)));
	json_object_set_new(json, "churn_partner",
			    json_string(lacp_churn_name(port->partner_churn)));
}

static void view_lacp_set_counters(json_t *json, const struct lacp_counters *counters)
{
	json_object_set_new(json, "lacpdu_rx", json_integer((json_int_t)counters->lacpdu_rx));
	json_object_set_new(json, "lacpdu_tx", json_integer((json_int_t)counters->lacpdu_tx));
	json_object_set_new(json, "marker_rx", json_integer((json_int_t)counters->marker_rx));
	json_object_set_new(json, "marker_tx", json_integer((json_int_t)counters->marker_tx));
	json_object_set_new(json, "illegal_rx", json_integer((json_int_t)counters->illegal_rx));
	json_object_set_new(json, "stranger_rx", json_integer((json_int_t)counters->stranger_rx));
	json_object_set_new(json, "actor_churns", json_integer((json_int_t)counters->actor_churn));
	json_object_set_new(json, "partner_churns",
			    json_integer((json_int_t)counters->partner_churn));
}

json_t *view_lacp_slave(const struct pins *pins, const struct lacp_system *sys, unsigned int slot)
{
	/* All zero until the slot is a port. */
	const struct lacp_port_state *port = &sys->port[slot];
	json_t *json = json_object();

	json_object_set_new(json, "aggregator_id", json_value_number(port->aggregator));
	json_object_set_new(json, "port_number", json_value_number(port->config.port));
	json_object_set_new(json, "port_prio", json_integer(pins->slaves[slot].actor_port_prio));
	json_object_set_new(json, "actor_key", json_integer(port->actor.key));
	json_object_set_new(json, "actor_state", view_lacp_flags_json(port->actor.state));
	view_lacp_set_partner(json, &port->partner);
	view_lacp_set_machines(json, port);
	view_lacp_set_counters(json, &port->counters);
	json_object_set_new(json, "why", view_lacp_why(pins, sys, slot));
	return json;
}
