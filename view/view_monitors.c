/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/view_monitors.h"

#include "common/clock.h"
#include "common/monitor.h"
#include "options/option_address.h"
#include "options/values.h"

static json_t *view_monitors_since_ms(uint64_t since_ns)
{
	uint64_t now_ns = clock_now_ns();

	return json_integer(now_ns > since_ns ? (json_int_t)((now_ns - since_ns) / NS_PER_MS) : 0);
}

static json_t *view_monitors_heard_ms(uint64_t heard_ns)
{
	return heard_ns ? view_monitors_since_ms(heard_ns) : json_null();
}

/* What the slave itself has heard of the target, or, as a backup, of the active slave's probes. */
static uint64_t view_monitors_heard_ns(const struct pins *pins, unsigned int slot, unsigned int at)
{
	const struct xbond_probe_times *times = &pins->probes->times[slot];
	unsigned int active = values_active_slot(pins);
	bool is_backup = active < XBOND_MAX_SLAVES && active != slot;

	return is_backup && times->to_ns[at] > times->from_ns[at] ? times->to_ns[at]
								  : times->from_ns[at];
}

static void view_monitors_add_targets(json_t *json, const struct pins *pins, unsigned int slot,
				      enum option_id id, unsigned int first)
{
	const struct option_spec *option = option_at(id);
	char text[OPTION_ADDRESS_SIZE];
	struct option_value value;

	values_read(pins, option, 0, &value);
	for (unsigned int i = 0; i < option_address_count(&value); i++)
		json_array_append_new(
			json, json_pack("{s:s, s:o}", "address",
					option_address_at(option, &value, i, text), "last_rx_ms",
					view_monitors_heard_ms(
						view_monitors_heard_ns(pins, slot, first + i))));
}

static json_t *view_monitors_targets(const struct pins *pins, unsigned int slot)
{
	json_t *json = json_array();

	view_monitors_add_targets(json, pins, slot, OPT_ARP_IP_TARGET, 0);
	view_monitors_add_targets(json, pins, slot, OPT_NS_IP6_TARGET, XBOND_MAX_TARGETS);
	return json;
}

json_t *view_monitors(const struct pins *pins, unsigned int slot)
{
	const struct xbond_verdict *verdict;
	json_t *json;

	if (!pins->monitors)
		return json_null();
	verdict = &pins->monitors[slot];
	json = json_object();
	for (unsigned int id = 0; id < XBOND_MONITORS; id++)
		if (verdict->spoken >> id & 1)
			json_object_set_new(
				json, monitor_name((enum xbond_monitor)id),
				json_pack("{s:s, s:o}", "state",
					  verdict->works >> id & 1 ? "up" : "down", "since_ms",
					  view_monitors_since_ms(verdict->since_ns[id])));
	if (pins->probes && json_object_get(json, monitor_name(XBOND_MONITOR_ARP)))
		json_object_set_new(json_object_get(json, monitor_name(XBOND_MONITOR_ARP)),
				    "targets", view_monitors_targets(pins, slot));
	return json;
}
