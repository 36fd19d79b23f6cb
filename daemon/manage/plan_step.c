/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/manage/plan_step.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/err.h"
#include "view/json_value.h"

struct plan_step *plan_add(struct plan *plan, enum plan_action action)
{
	struct plan_step *step;

	plan->steps = memory_need(reallocarray(plan->steps, plan->count + 1, sizeof(*step)));
	step = &plan->steps[plan->count++];
	*step = (struct plan_step){ .action = action };
	return step;
}

void plan_free(struct plan *plan)
{
	free(plan->steps);
	*plan = (struct plan){ 0 };
}

static const struct {
	const char *name,
		*sentence; /* sentence: %s is the bond, behind it come names and options */
} plan_actions[] = {
	[PLAN_CREATE] = { "create", "create %s" },
	[PLAN_SET] = { "set", "set %s" },
	[PLAN_SET_SLAVE] = { "set-slave", "set-slave %s" },
	[PLAN_ADD_SLAVE] = { "add-slave", "add-slave %s" },
	[PLAN_DEL_SLAVE] = { "del-slave", "del-slave %s" },
	[PLAN_AWAIT] = { "await", "await, for %s," },
	[PLAN_FORGET] = { "forget", "no longer await, for %s," },
};

static void plan_step_say(FILE *text, const struct plan_step *step, const char *bond)
{
	char value[OPTION_TEXT_SIZE];

	fprintf(text, plan_actions[step->action].sentence, bond); /* NOLINT: of the table above */
	for (size_t i = 0; i < step->slave_count; i++)
		fprintf(text, " %s", step->slaves[i]);
	for (int id = 0; id < OPT_COUNT; id++) {
		if (!step->options.given[id])
			continue;
		option_format(option_at(id), &step->options.value[id], value, sizeof(value));
		fprintf(text, " %s %s", option_at(id)->name, value);
	}
}

static json_t *plan_step_options(const struct plan_step *step)
{
	json_t *options = json_object();
	char value[OPTION_TEXT_SIZE];

	for (int id = 0; id < OPT_COUNT; id++) {
		if (!step->options.given[id])
			continue;
		option_format(option_at(id), &step->options.value[id], value, sizeof(value));
		json_object_set_new(options, option_at(id)->name, json_value_text(value));
	}
	return options;
}

json_t *plan_step_json(const struct plan_step *step, const char *bond)
{
	json_t *slaves = json_array();
	char *said = NULL;
	size_t length;
	FILE *text = memory_need(open_memstream(&said, &length));
	json_t *json;

	for (size_t i = 0; i < step->slave_count; i++)
		json_array_append_new(slaves, json_value_text(step->slaves[i]));
	plan_step_say(text, step, bond);
	fclose(text);
	json = json_pack("{s:s, s:o, s:o, s:o}", "action", plan_actions[step->action].name,
			 "slaves", slaves, "options", plan_step_options(step), "text",
			 json_value_text(said));
	free(said);
	return json;
}
