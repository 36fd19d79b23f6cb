/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * policy: loads a policy of the user for a bond, removes it, shows it. bondctl itself loads and
 * pins it. bondd only gives the bond the programs that ask it.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "bpf/slots.h"
#include "cli/base/cli.h"
#include "cli/base/client.h"
#include "cli/base/print.h"
#include "cli/verb_parts.h"
#include "common/pins.h"
#include "view/view_bond.h"
#include "view/view_json.h"

/* What `policy show` prints, from the pins alone. */

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

static int policy_show_add_map(const char *map, const char *pin, const void *arg)
{
	return json_array_append_new((json_t *)(uintptr_t)arg,
				     json_pack("{s:s, s:s}", "name", map, "pin", pin));
}

static json_t *policy_show_maps(const char *dir)
{
	json_t *maps = json_array();
	int r = policy_pin_visit_maps(dir, policy_show_add_map, maps);

	if (r)
		cli_say("cannot list the pins in %s: %s", dir, strerror(-r));
	return maps;
}

static json_t *policy_show_slots(const struct pins *pins)
{
	json_t *slots = json_array();

	pins_for_each_member (pins, slot)
		json_array_append_new(slots,
				      json_pack("{s:i, s:o, s:b}", "slot", (int)slot, "slave",
						json_value_text(pins->slaves[slot].name), "usable",
						slots_have(pins->table->tx_mask, slot)));
	return slots;
}

static json_t *policy_show_json(const struct pins *pins, const char *bond)
{
	json_t *name = view_policy(pins), *policy = json_null();

	if (json_is_string(name))
		policy = json_pack("{s:O, s:o, s:o, s:o}", "name", name, "tc",
				   policy_show_program(pins->dir, XBOND_PIN_POLICY), "xdp",
				   policy_show_program(pins->dir, XBOND_PIN_POLICY_XDP), "maps",
				   policy_show_maps(pins->dir));
	json_decref(name);
	return json_pack("{s:s, s:o, s:b, s:o, s:o}", "bond", bond, "policy", policy, "decides",
			 view_policy_decides(pins), "problem", view_policy_problem(pins), "slots",
			 policy_show_slots(pins));
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
			       field_number(program, "id"), field_text(program, "tag"));
	}
	json_array_foreach (json_object_get(policy, "maps"), at, map)
		printf("map      %s, %s\n", field_text(map, "name"), field_text(map, "pin"));
}

static void policy_show_print(const json_t *json)
{
	const json_t *policy = json_object_get(json, "policy"), *slot;
	const char *problem = field_text_or(json, "problem", NULL);
	size_t at;

	printf("policy   %s\n", json_is_null(policy) ? "none" : field_text(policy, "name"));
	if (problem)
		printf("problem  %s\n", problem);
	if (!json_is_null(policy))
		policy_show_print_policy(policy);
	json_array_foreach (json_object_get(json, "slots"), at, slot)
		printf("slot     %-3lld %s%s\n", field_number(slot, "slot"),
		       field_text(slot, "slave"),
		       field_is_true(slot, "usable") ? "" : " (may not transmit)");
}

struct policy_call {
	const struct cli *cli;
	const char *bond, *path;
	int lock;
	struct pins pins;
};

static bool policy_is_asked(const struct policy_call *call)
{
	return __atomic_load_n(&call->pins.table->flags, __ATOMIC_ACQUIRE) & XBOND_F_POLICY;
}

/* Nobody else waits for bondd, which may be slow. */
static enum cli_exit policy_ask_bondd(const struct policy_call *call)
{
	flock(call->lock, LOCK_UN);
	return cli_request(call->cli, "policy", call->bond, NULL, NULL);
}

/* It is done, whatever bondd answers. A bondd that starts looks for itself. */
static void policy_tell_bondd(const struct policy_call *call)
{
	struct err err;
	int r;

	flock(call->lock, LOCK_UN);
	r = steer_tell_bondd(call->cli->paths.run_dir, &call->pins, "policy", call->bond, &err);
	if (r && r != -ENOTCONN && r != -ECONNRESET)
		cli_say("done, but bondd did not apply it: %s", err.text);
}

static uint32_t policy_now(const struct policy_call *call)
{
	struct policy_program program;

	policy_program(call->pins.dir, XBOND_PIN_POLICY, &program);
	return program.id;
}

/* Unless somebody has loaded another one meanwhile. */
static void policy_take_back(const struct policy_call *call, uint32_t id)
{
	struct err err;

	if (!flock(call->lock, LOCK_EX) && policy_now(call) == id &&
	    policy_unpin(call->pins.dir, &err))
		cli_say("the policy is still loaded: %s", err.text);
}

/*
 * The first policy of a bond needs bondd. Without it nothing is changed. Another policy takes the
 * place of the first by itself; bondd is told all the same, for its log.
 */
static enum cli_exit policy_put(const struct policy_call *call, const struct policy_file *file)
{
	enum cli_exit status = CLI_DONE;
	bool asked = policy_is_asked(call);
	struct err err;
	uint32_t id;

	if (policy_pin(file, call->pins.dir, &err))
		return cli_refuse(&err);
	id = policy_now(call);
	if (asked)
		policy_tell_bondd(call);
	if (!asked || !policy_is_asked(call))
		status = policy_ask_bondd(call);
	if (status != CLI_DONE && !asked)
		policy_take_back(call, id);
	return status;
}

static enum cli_exit policy_unload(const struct policy_call *call)
{
	struct err err;

	if (!policy_is_loaded(call->pins.dir)) {
		err_set(&err, ENOENT, "%s has no policy", call->bond);
		return cli_refuse(&err);
	}
	if (policy_unpin(call->pins.dir, &err))
		return cli_refuse(&err);
	policy_tell_bondd(call);
	return CLI_DONE;
}

/*
 * Two that change the policy of one bond come one after the other, and a policy that was loaded for
 * a bond that was made anew meanwhile would read the question of the old one. file: NULL to unload
 * it.
 */
static enum cli_exit policy_change(struct policy_call *call, const struct policy_file *file)
{
	enum cli_exit status;
	struct err err;

	call->lock = steer_lock(&call->pins, call->bond, &err);
	if (call->lock < 0)
		return cli_refuse(&err);
	status = file ? policy_put(call, file) : policy_unload(call);
	close(call->lock);
	return status;
}

/* The kernel may take long to check it. Others can change the bond meanwhile. */
static enum cli_exit policy_load(struct policy_call *call)
{
	struct policy_file file;
	enum cli_exit status;
	struct err err, why;

	if (policy_file_load(&file, call->path, call->pins.dir, &why)) {
		err_set(&err, EINVAL, "policy '%s' refused: %s", call->path, why.text);
		status = cli_refuse(&err);
	} else {
		status = policy_change(call, &file);
	}
	policy_file_close(&file);
	return status;
}

static enum cli_exit policy_show(struct policy_call *call)
{
	json_t *json = policy_show_json(&call->pins, call->bond);

	if (call->cli->json)
		return cli_print_json(json);
	policy_show_print(json);
	json_decref(json);
	return CLI_DONE;
}

static enum cli_exit policy_run(struct policy_call *call, const char *what)
{
	struct err err;

	if (!strcmp(what, "show"))
		return policy_show(call);
	if (steer_check(&call->pins, call->bond, &err))
		return cli_refuse(&err);
	return !strcmp(what, "load") ? policy_load(call) : policy_change(call, NULL);
}

enum cli_exit cmd_policy(const struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	struct policy_call call = { .cli = cli, .bond = argv[1], .path = argv[2] };
	bool is_load = !strcmp(argv[0], "load");
	enum cli_exit status;

	if (!is_load && strcmp(argv[0], "unload") && strcmp(argv[0], "show"))
		return cli_usage(verb, "'%s' is not allowed; allowed: load, unload, show", argv[0]);
	if (argc != (is_load ? 3 : 2))
		return cli_usage(verb,
				 is_load ? "policy load needs BOND and FILE" : "unexpected '%s'",
				 argv[argc - 1]);
	if (cli_open(cli, call.bond, &call.pins))
		return CLI_REFUSED;
	status = policy_run(&call, argv[0]);
	pins_close(&call.pins);
	return status;
}
