/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/view_probes.h"

#include "common/clock.h"
#include "options/option_address.h"
#include "options/values.h"

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

json_t *view_probes(const struct pins *pins, unsigned int slot)
{
	json_t *json = json_array();

	view_probes_add_targets(json, pins, slot, OPT_ARP_IP_TARGET, 0);
	view_probes_add_targets(json, pins, slot, OPT_NS_IP6_TARGET, XBOND_MAX_TARGETS);
	return json;
}
