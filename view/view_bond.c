/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds the JSON objects of `show` and `stats` from the pinned maps alone. What is unknown
 * becomes null.
 */
#include "view/view_bond.h"

#include <stdio.h>
#include <string.h>

#include "common/mode.h"
#include "common/readings.h"
#include "common/slots.h"
#include "options/option_set.h"
#include "options/options.h"
#include "options/values.h"
#include "view/json_value.h"
#include "view/view_clients.h"
#include "view/view_drops.h"
#include "view/view_failover.h"
#include "view/view_lacp.h"
#include "view/view_load.h"
#include "view/view_loop.h"
#include "view/view_monitors.h"
#include "view/view_policy.h"
#include "view/view_problem.h"
#include "view/view_why.h"

/* The sources of the objects. */
struct source {
	const struct pins *pins;
	const struct lacp_system *lacp; /* NULL: not needed, or not in mode 802.3ad */
};

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

static json_t *view_options_json(const struct pins *pins, enum option_scope scope,
				 unsigned int slot)
{
	json_t *json = json_object();

	for (unsigned int id = 0; id < OPT_COUNT; id++) {
		const struct option_spec *option = option_at(id);
		struct option_value value;

		if (option->scope != scope || option->home == OPTION_NOWHERE)
			continue;
		values_read(pins, option, slot, &value);
		json_object_set_new(json, option->name, view_option_json(option, &value));
	}
	return json;
}

static void view_set_counters(json_t *json, const struct xbond_counters *counters)
{
	json_object_set_new(json, "tx_packets", json_integer((json_int_t)counters->tx_packets));
	json_object_set_new(json, "tx_bytes", json_integer((json_int_t)counters->tx_bytes));
	json_object_set_new(json, "rx_packets", json_integer((json_int_t)counters->rx_packets));
	json_object_set_new(json, "rx_bytes", json_integer((json_int_t)counters->rx_bytes));
	json_object_set_new(json, "rx_dropped", json_integer((json_int_t)counters->rx_dropped));
}

json_t *view_link(uint32_t link)
{
	static const char *const names[] = {
		[XBOND_LINK_DOWN] = "down",
		[XBOND_LINK_UP] = "up",
		[XBOND_LINK_GOING_UP] = "going_up",
		[XBOND_LINK_GOING_DOWN] = "going_down",
	};

	return link < sizeof(names) / sizeof(names[0]) ? json_string(names[link]) : json_null();
}

static json_t *view_duplex_json(uint32_t duplex)
{
	if (duplex > 1)
		return json_null();
	return json_string(duplex ? "full" : "half");
}

static json_t *view_slave_problem(const struct xbond_slave *slave)
{
	const struct view_problem *problem;
	char text[512] = "";
	size_t length = 0;

	for (unsigned int i = 0; (problem = view_problem_at(i)); i++)
		if (slave->trouble & problem->trouble)
			length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s",
						   length ? "; " : "", problem->sentence);
	return length ? json_string(text) : json_null();
}

/*
 * Without carrier there is no speed. The map still has the last speed, which goes on deciding the
 * weight.
 */
static void view_set_speed(json_t *json, const struct xbond_slave *slave)
{
	bool carrier = slave->link == XBOND_LINK_UP || slave->link == XBOND_LINK_GOING_UP;

	json_object_set_new(json, "speed_mbps",
			    carrier ? json_value_number(slave->speed_mbps) : json_null());
	json_object_set_new(json, "duplex",
			    carrier ? view_duplex_json(slave->duplex) : json_null());
}

static json_t *view_attached_json(enum attached attached)
{
	return attached == ATTACHED_UNKNOWN ? json_null() : json_boolean(attached == ATTACHED);
}

static json_t *view_times_json(const struct pins *pins, uint32_t times)
{
	return pins->attached ? json_integer(times) : json_null();
}

static json_t *view_slave_json(const struct source *source, unsigned int slot)
{
	const struct pins *pins = source->pins;
	const struct xbond_slave *slave = &pins->slaves[slot];
	json_t *json = json_object();
	struct xbond_counters counters;

	if (pins_counters(pins, slot, &counters)) {
		json_decref(json);
		return NULL;
	}
	json_object_set_new(json, "name", json_value_text(slave->name));
	json_object_set_new(json, "mii_status", view_link(slave->link));
	json_object_set_new(json, "active", json_boolean(slots_have(values_tx_slots(pins), slot)));
	view_set_speed(json, slave);
	json_object_set_new(json, "mac", json_value_mac(slave->mac));
	json_object_set_new(json, "perm_mac", json_value_mac(slave->perm_mac));
	json_object_set_new(json, "link_failures", json_integer(slave->link_failures));
	json_object_set_new(json, "resets", json_integer(slave->resets));
	json_object_set_new(json, "rx_hook",
			    json_string(slave->rx_hook == XBOND_RX_XDP ? "xdp" : "tc"));
	json_object_set_new(json, "problem", view_slave_problem(slave));
	json_object_set_new(json, "why", view_why(pins, source->lacp, slot));
	json_object_set_new(json, "attached", view_attached_json(attached_slave(pins, slot)));
	json_object_set_new(
		json, "times_detached",
		view_times_json(pins, pins->attached ? pins->attached->detached[slot] : 0));
	json_object_set_new(json, "monitors", view_monitors(pins, slot));
	json_object_set_new(json, "options", view_options_json(pins, OPTION_SLAVE, slot));
	view_set_counters(json, &counters);
	if (source->lacp)
		json_object_set_new(json, "lacp", view_lacp_slave(pins, source->lacp, slot));
	return json;
}

static json_t *view_slaves_json(const struct source *source,
				json_t *(*make)(const struct source *, unsigned int))
{
	json_t *json = json_array();

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		if (!pins_is_member(source->pins, slot) ||
		    !json_array_append_new(json, make(source, slot)))
			continue;
		json_decref(json);
		return NULL;
	}
	return json;
}

static uint64_t view_speed_mbps(const struct pins *pins)
{
	uint64_t slots = values_tx_slots(pins), sum = 0;

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (slots_have(slots, slot))
			sum += pins->slaves[slot].speed_mbps;
	return sum;
}

/* What the bond is made of; the option may have left that to bondd. */
static json_t *view_device_json(uint32_t kind)
{
	switch ((enum xbond_device)kind) {
	case XBOND_DEVICE_VETH: return json_string("veth");
	case XBOND_DEVICE_NETKIT: return json_string("netkit");
	case XBOND_DEVICE_TEAM: return json_string("team");
	case XBOND_DEVICE_AUTO: break;
	}
	return json_null();
}

static void view_set_state(json_t *json, const struct pins *pins, const char *name)
{
	const struct xbond_bond *bond = pins->bond;
	struct option_value active;

	values_read(pins, option_at(OPT_ACTIVE_SLAVE), 0, &active);
	json_object_set_new(json, "name", json_value_text(name));
	json_object_set_new(json, "mode", json_string(mode_name(bond->mode)));
	json_object_set_new(json, "mac", json_value_mac(bond->mac));
	json_object_set_new(json, "device", view_device_json(bond->device_kind));
	json_object_set_new(json, "mtu", json_value_number(bond->mtu));
	json_object_set_new(json, "carrier", json_boolean(bond->carrier));
	json_object_set_new(json, "mii_status", json_string(bond->carrier ? "up" : "down"));
	json_object_set_new(json, "active_slave", json_value_text(active.name));
	json_object_set_new(json, "speed_mbps", json_value_number(view_speed_mbps(pins)));
	json_object_set_new(json, "attached", view_attached_json(attached_pair(pins)));
	json_object_set_new(
		json, "times_detached",
		view_times_json(pins, pins->attached ? pins->attached->detached_bond : 0));
	json_object_set_new(json, "abi_version", json_integer(bond->abi_version));
	json_object_set_new(json, "problem", json_null());
}

static void view_set_loop(json_t *json, const struct loop_figures *loop)
{
	json_object_set_new(json, "loop", loop ? view_loop(loop) : json_null());
}

json_t *view_bond(const struct pins *pins, const char *name, bool bondd,
		  const struct loop_figures *loop)
{
	struct source source = { .pins = pins };
	struct xbond_counters counters;
	struct lacp_system lacp;
	json_t *slaves, *json;

	if (mode_has(pins->bond->mode, MODE_LACP)) {
		view_lacp_read(pins, &lacp);
		source.lacp = &lacp;
	}
	slaves = view_slaves_json(&source, view_slave_json);
	if (!slaves || pins_bond_counters(pins, &counters)) {
		json_decref(slaves);
		return NULL;
	}
	json = json_object();
	view_set_state(json, pins, name);
	json_object_set_new(json, "bondd", json_boolean(bondd));
	json_object_set_new(json, "options", view_options_json(pins, OPTION_BOND, 0));
	view_set_counters(json, &counters);
	view_set_failover(json, pins, bondd);
	json_object_set_new(json, "policy", view_policy(pins));
	view_set_load(json, pins);
	view_set_loop(json, loop);
	if (mode_has(pins->bond->mode, MODE_RECEIVES))
		view_set_clients(json, slaves, pins);
	json_object_set_new(json, "slaves", slaves);
	if (source.lacp)
		json_object_set_new(json, "lacp", view_lacp_bond(pins, source.lacp));
	return json;
}

json_t *view_foreign(const char *name, uint32_t abi, bool bondd)
{
	static const char *const unknown[] = { "mode",
					       "mac",
					       "device",
					       "mtu",
					       "carrier",
					       "mii_status",
					       "active_slave",
					       "speed_mbps",
					       "attached",
					       "times_detached",
					       "options",
					       "tx_packets",
					       "tx_bytes",
					       "rx_packets",
					       "rx_bytes",
					       "rx_dropped",
					       "carrier_source",
					       "failover",
					       "policy",
					       "rebalance",
					       "loop" };
	json_t *json = json_object();

	json_object_set_new(json, "name", json_value_text(name));
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		json_object_set_new(json, unknown[i], json_null());
	json_object_set_new(json, "bondd", json_boolean(bondd));
	json_object_set_new(json, "slaves", json_array());
	json_object_set_new(json, "abi_version", json_integer(abi));
	json_object_set_new(
		json, "problem",
		json_sprintf("it was made with ABI version %u, and this program supports version "
			     "%d; it continues under its own programs, as without bondd",
			     abi, XBOND_ABI_VERSION));
	return json;
}

static json_t *view_stats_json(const char *name, const struct xbond_counters *counters,
			       json_t *drops)
{
	json_t *values = json_object();

	view_set_counters(values, counters);
	return json_pack("{s:o, s:o, s:o}", "name", json_value_text(name), "counters", values,
			 "drops", drops);
}

static json_t *view_slave_stats_json(const struct source *source, unsigned int slot)
{
	struct xbond_counters counters;

	if (pins_counters(source->pins, slot, &counters))
		return NULL;
	return view_stats_json(source->pins->slaves[slot].name, &counters,
			       view_drops(source->pins, slot));
}

json_t *view_stats(const struct pins *pins, const char *name, const struct loop_figures *loop)
{
	struct source source = { .pins = pins };
	json_t *slaves = view_slaves_json(&source, view_slave_stats_json);
	struct xbond_counters counters;
	json_t *json;

	if (!slaves || pins_bond_counters(pins, &counters)) {
		json_decref(slaves);
		return NULL;
	}
	json = view_stats_json(name, &counters, view_drops(pins, XBOND_DROPS_OF_BOND));
	json_object_set_new(json, "slaves", slaves);
	view_set_loop(json, loop);
	return json;
}
