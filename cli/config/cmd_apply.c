/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load, apply, confirm and rollback. bondd reads the files and does the work, so that it is
 * finished whatever happens to bondctl; here is what is asked for, and what is printed.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/client.h"

#define APPLY_WAIT_S 600 /* for all bonds of a machine */
#define APPLY_CONFIRM_MAX_S 86400

/* Takes the reference. *ret_result: a new one. */
static enum cli_exit apply_ask(const struct cli *cli, json_t *request, json_t **ret_result)
{
	json_t *reply = NULL;
	struct err err;
	int r = request ? client_call(cli->paths.run_dir, request, APPLY_WAIT_S, &reply, &err)
			: err_set(&err, EINVAL,
				  "the request contains text that is not UTF-8; use other names");

	json_decref(request);
	if (r) {
		cli_say("%s", err.text);
		return r == -ENOTCONN || r == -ECONNRESET ? CLI_NO_BONDD : CLI_REFUSED;
	}
	*ret_result = json_incref(json_object_get(reply, "result"));
	json_decref(reply);
	return CLI_DONE;
}

static json_t *apply_request(const struct cli *cli, const struct verb *verb, const char *bond,
			     unsigned long long confirm)
{
	return json_pack("{s:s, s:s*, s:s, s:b, s:b, s:I}", "method", verb->name, "bond", bond,
			 "config_dir", cli->paths.config_dir, "dry_run",
			 cli_flag(cli, verb, "--dry-run") != NULL, "interrupt",
			 cli_flag(cli, verb, "--interrupt") != NULL, "confirm",
			 (json_int_t)confirm);
}

static void apply_print_steps(const json_t *result)
{
	const char *bond = json_string_value(json_object_get(result, "bond"));
	const json_t *steps = json_object_get(result, "steps"), *step;
	size_t at;

	json_array_foreach (steps, at, step)
		printf("%s\n", json_string_value(json_object_get(step, "text")));
	if (!json_array_size(steps))
		printf("%s: nothing to do\n", bond);
	else if (json_is_true(json_object_get(result, "dry_run")))
		printf("%s: not done, because of --dry-run\n", bond);
}

static void apply_print(const json_t *result)
{
	const char *bond = json_string_value(json_object_get(result, "bond"));
	const json_t *left = json_object_get(result, "goes_back_in_s"), *note;
	size_t at;

	if (json_is_null(json_object_get(result, "error")))
		apply_print_steps(result);
	if (json_is_integer(left))
		printf("%s: will be rolled back in %lld s, unless 'bondctl confirm %s' is called "
		       "before\n",
		       bond, (long long)json_integer_value(left), bond);
	fflush(stdout);
	json_array_foreach (json_object_get(result, "notes"), at, note)
		fprintf(stderr, "%s\n", json_string_value(note));
}

static enum cli_exit apply_judge(const json_t *results, bool tells_change)
{
	enum cli_exit status = CLI_DONE;
	const json_t *result;
	size_t at;

	json_array_foreach (results, at, result) {
		const char *error = json_string_value(json_object_get(result, "error"));

		if (error) {
			cli_say("%s", error);
			status = CLI_REFUSED;
		} else if (status == CLI_DONE && tells_change &&
			   json_array_size(json_object_get(result, "steps"))) {
			status = CLI_CHANGED;
		}
	}
	return status;
}

static enum cli_exit apply_show(const struct cli *cli, json_t *results, bool tells_change)
{
	enum cli_exit status = apply_judge(results, tells_change), printed = CLI_DONE;
	const json_t *result;
	size_t at;

	if (cli->json)
		printed = cli_print_json(json_incref(results));
	else
		json_array_foreach (results, at, result)
			apply_print(result);
	if (!cli->json && !json_array_size(results))
		printf("%s: there is no configuration file\n", cli->paths.config_dir);
	json_decref(results);
	return printed == CLI_DONE ? status : printed;
}

enum cli_exit cmd_apply(const struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	bool tells_change = cli_flag(cli, verb, "--changed-status") != NULL;
	unsigned long long confirm = 0;
	json_t *results = NULL;
	enum cli_exit status;

	status = cli_number(cli, verb, "--confirm", APPLY_CONFIRM_MAX_S, &confirm);
	if (status == CLI_DONE)
		status = apply_ask(cli, apply_request(cli, verb, argc ? argv[0] : NULL, confirm),
				   &results);
	return status == CLI_DONE ? apply_show(cli, results, tells_change) : status;
}

enum cli_exit cmd_confirm(const struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	const char *done = strcmp(verb->name, "confirm") != 0 ? "went back" : "confirmed";
	json_t *names = NULL;
	const json_t *name;
	enum cli_exit status;
	size_t at;

	status = apply_ask(
		cli, json_pack("{s:s, s:s*}", "method", verb->name, "bond", argc ? argv[0] : NULL),
		&names);
	if (status != CLI_DONE)
		return status;
	json_array_foreach (names, at, name)
		if (!cli->json)
			printf("%s: %s\n", json_string_value(name), done);
	if (!json_array_size(names)) {
		cli_say("no bond waits for 'bondctl confirm': either nothing was applied with "
			"--confirm, or it was rolled back already");
		status = CLI_REFUSED;
	}
	json_decref(names);
	return status;
}
