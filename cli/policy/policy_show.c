/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/policy/policy_show.h"

#include <stdio.h>

#include "cli/policy/policy_pin.h"
#include "common/policy_pins.h"
#include "common/slots.h"
#include "view/json_value.h"
#include "view/view_policy.h"

static json_t *policy_show_program(const char *dir, const char *pin)
{
	struct policy_program program;
	char tag[2 * sizeof(program.tag) + 1];

	if (!policy_program(dir, pin, &program))
		return json_null();
	for (size_t i = 0; i < sizeof(program.tag); i++)
		snprintf(tag + 2 * i, 3, "%02x", program.tag[i]);
	return json_pack("{s:I, s:s}", "id", (json_int_t)program.id, "tag", tag);
}

static void policy_show_add_map(const char *map, const char *pin, void *arg)
{
	json_array_append_new(arg, json_pack("{s:s, s:s}", "name", map, "pin", pin));
}

static json_t *policy_show_maps(const char *dir)
{
	json_t *maps = json_array();

	policy_pin_visit_maps(dir, policy_show_add_map, maps);
	return maps;
}

static json_t *policy_show_slots(const struct pins *pins)
{
	json_t *slots = json_array();

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (pins_is_member(pins, slot))
			json_array_append_new(
				slots, json_pack("{s:i, s:o, s:b}", "slot", (int)slot, "slave",
						 json_value_text(pins->slaves[slot].name), "usable",
						 slots_have(pins->table->tx_mask, slot)));
	return slots;
}

json_t *policy_show_json(const struct pins *pins, const char *bond)
{
	json_t *name = view_policy(pins), *policy = json_null();

	if (json_is_string(name))
		policy = json_pack("{s:O, s:o, s:o, s:o}", "name", name, "tc",
				   policy_show_program(pins->dir, XBOND_PIN_POLICY), "xdp",
				   policy_show_program(pins->dir, XBOND_PIN_POLICY_XDP), "maps",
				   policy_show_maps(pins->dir));
	json_decref(name);
	return json_pack("{s:s, s:o, s:b, s:o, s:o}", "name", bond, "policy", policy, "decides",
			 view_policy_decides(pins), "problem", view_policy_problem(pins), "slots",
			 policy_show_slots(pins));
}

static const char *policy_show_text(const json_t *json, const char *key)
{
	return json_string_value(json_object_get(json, key));
}

static long long policy_show_number(const json_t *json, const char *key)
{
	return (long long)json_integer_value(json_object_get(json, key));
}

static void policy_show_print_policy(const json_t *policy)
{
	static const char *const kinds[] = { "tc", "xdp" };
	const json_t *map;
	size_t at;

	for (size_t i = 0; i < 2; i++) {
		const json_t *program = json_object_get(policy, kinds[i]);

		if (!json_is_null(program))
			printf("program  %-3s  id %lld, tag %s\n", kinds[i],
			       policy_show_number(program, "id"), policy_show_text(program, "tag"));
	}
	json_array_foreach (json_object_get(policy, "maps"), at, map)
		printf("map      %s, %s\n", policy_show_text(map, "name"),
		       policy_show_text(map, "pin"));
}

void policy_show_print(const json_t *json)
{
	const json_t *policy = json_object_get(json, "policy"), *slot;
	const char *problem = policy_show_text(json, "problem");
	size_t at;

	printf("policy   %s\n", json_is_null(policy) ? "none" : policy_show_text(policy, "name"));
	if (problem)
		printf("problem  %s\n", problem);
	if (!json_is_null(policy))
		policy_show_print_policy(policy);
	json_array_foreach (json_object_get(json, "slots"), at, slot)
		printf("slot     %-3lld %s%s\n", policy_show_number(slot, "slot"),
		       policy_show_text(slot, "slave"),
		       json_is_true(json_object_get(slot, "usable")) ? "" : " (may not transmit)");
}
