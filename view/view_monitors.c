/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/view_monitors.h"

#include <jansson.h>

#include "common/clock.h"
#include "common/mode.h"
#include "common/pins.h"
#include "options/option_set.h"
#include "options/values.h"
#include "view/json_value.h"
#include "view/view_bfd.h"
#include "view/view_quality.h"

/* What a slave has heard of the targets of the ARP monitor, as JSON. */

static json_t *view_probes_heard_ms(uint64_t heard_ns)
{
	uint64_t now_ns = clock_now_ns();

	if (!heard_ns)
		return json_null();
	return json_integer(now_ns > heard_ns ? (json_int_t)((now_ns - heard_ns) / NS_PER_MS) : 0);
}

/* What the slave itself has heard of the target, or, as a backup, of the active slave's probes. */
static uint64_t view_probes_heard_ns(const struct pins *pins, unsigned int slot, unsigned int at)
{
	const struct xbond_probe_times *times = &pins->probes->times[slot];
	unsigned int active = values_active_slot(pins);
	bool is_backup = active < XBOND_MAX_SLAVES && active != slot;

	return is_backup && times->to_ns[at] > times->from_ns[at] ? times->to_ns[at]
								  : times->from_ns[at];
}

static void view_probes_add_targets(json_t *json, const struct pins *pins, unsigned int slot,
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
					view_probes_heard_ms(
						view_probes_heard_ns(pins, slot, first + i))));
}

/* An array with an object for each target. The map of probes must be there. */
static json_t *view_probes(const struct pins *pins, unsigned int slot)
{
	json_t *json = json_array();

	view_probes_add_targets(json, pins, slot, OPT_ARP_IP_TARGET, 0);
	view_probes_add_targets(json, pins, slot, OPT_NS_IP6_TARGET, XBOND_MAX_TARGETS);
	return json;
}

static json_t *view_monitors_one(const struct pins *pins, unsigned int slot,
				 enum xbond_monitor monitor)
{
	const struct xbond_verdict *verdict = &pins->monitors[slot];
	json_t *json =
		json_pack("{s:s, s:o}", "state", verdict->works >> monitor & 1 ? "up" : "down",
			  "since_ms", json_value_since_ms(verdict->since_ns[monitor]));

	view_quality_add(json, pins, slot, monitor);
	if (monitor == XBOND_MONITOR_ARP && pins->probes)
		json_object_set_new(json, "targets", view_probes(pins, slot));
	return json;
}

json_t *view_monitors(const struct pins *pins, unsigned int slot)
{
	json_t *json;

	if (!pins->monitors)
		return json_null();
	json = json_object();
	for (unsigned int id = 0; id < XBOND_MONITORS; id++)
		if (pins->monitors[slot].spoken >> id & 1)
			json_object_set_new(json, monitor_name((enum xbond_monitor)id),
					    view_monitors_one(pins, slot, (enum xbond_monitor)id));
	if (view_bfd_has_session(pins, slot)) {
		const char *name = monitor_name(XBOND_MONITOR_BFD);

		json_object_set_new(json, name,
				    view_bfd(pins, slot, json_incref(json_object_get(json, name))));
	}
	return json;
}
