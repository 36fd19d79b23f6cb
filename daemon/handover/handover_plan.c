/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/handover/handover_plan.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "common/err.h"
#include "daemon/handover/handover_side.h"
#include "options/names.h"

struct handover *handover_new(struct daemon *daemon, bool is_back, json_t *notes)
{
	struct handover *plan = memory_need(calloc(1, sizeof(*plan)));

	plan->devices = memory_need(calloc(HANDOVER_DEVICES_MAX, sizeof(*plan->devices)));
	plan->daemon = daemon;
	plan->notes = notes;
	plan->is_back = is_back;
	plan->options = json_object();
	plan->old_side = is_back ? &handover_side_xbond : &handover_side_kernel;
	plan->new_side = is_back ? &handover_side_kernel : &handover_side_xbond;
	return plan;
}

void handover_free(struct handover *plan)
{
	for (size_t i = 0; i < plan->slave_count; i++)
		json_decref(plan->slaves[i].options);
	json_decref(plan->options);
	netconf_free(&plan->conf);
	free(plan->devices);
	free(plan);
}

void handover_note(struct handover *plan, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (plan->notes)
		json_array_append_new(plan->notes, json_vsprintf(format, args));
	va_end(args);
}

int handover_find_old(const struct handover *plan, size_t index, struct link_info *ret_link)
{
	const struct handover_device *device = &plan->devices[index];
	int r = link_get(&plan->daemon->nl, -1, device->old, ret_link);

	if (r)
		return r;
	return !strcmp(ret_link->kind, device->kind) && (!strcmp(ret_link->name, device->name) ||
							 !strcmp(ret_link->name, device->old_name))
		       ? 0
		       : -ENODEV;
}

json_t *handover_options(const struct option_set *set)
{
	char text[OPTION_TEXT_SIZE];
	json_t *options = json_object();

	for (int id = 0; id < OPT_COUNT; id++) {
		if (!set->given[id])
			continue;
		option_format(option_at(id), &set->value[id], text, sizeof(text));
		json_object_set_new(options, option_at(id)->name, name_to_json(text));
	}
	return options;
}

struct netconf_device *handover_pairs(const struct handover *plan, bool back)
{
	struct netconf_device *pairs = memory_need(calloc(plan->device_count, sizeof(*pairs)));

	for (size_t i = 0; i < plan->device_count; i++) {
		const struct handover_device *device = &plan->devices[i];

		pairs[i] = (struct netconf_device){ device->old, back ? device->old : device->new };
	}
	return pairs;
}
