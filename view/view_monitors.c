/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/view_monitors.h"

#include "common/monitor.h"
#include "view/json_value.h"
#include "view/view_bfd.h"
#include "view/view_probes.h"
#include "view/view_quality.h"

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
