/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verbs about configuration files: check, load and apply, confirm and rollback. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "common/err.h"
#include "common/memory.h"
#include "common/paths.h"
#include "options/config_file.h"
#include "options/names.h"
#include "view/view_json.h"

/*
 * check: reads configuration files as bondd would, and prints every mistake. Needs neither bondd
 * nor root, and looks at no device.
 */

#define STANDARD_INPUT "-"

struct checked {
	const char *path;
	bool is_read;
	struct config_file file;
	struct config_mistakes mistakes;
};

struct check {
	struct checked *list;
	size_t count;
	char **names; /* of bonds, if all files of a directory are checked */
	char **paths; /* likewise */
};

/* The file's name is that of the bond. */
static void check_bond_name(struct checked *checked)
{
	const char *base = paths_base(checked->path);
	size_t length = strlen(base), suffix = strlen(PATHS_CONFIG_SUFFIX);
	char name[NAME_MAX + 1];
	struct err why;

	if (length < suffix || length > NAME_MAX ||
	    strcmp(base + length - suffix, PATHS_CONFIG_SUFFIX) != 0)
		return;
	snprintf(name, sizeof(name), "%.*s", (int)(length - suffix), base);
	if (name_check("bond", name, &why))
		config_mistakes_add(&checked->mistakes,
				    (struct config_place){ checked->path, 0, 0 }, why.text);
}

static void check_file(struct checked *checked, const char *path)
{
	const struct config_stream input = { stdin, "standard input" };
	int r;

	checked->path = path;
	if (strcmp(path, STANDARD_INPUT) != 0) {
		r = config_file_read(&checked->file, path, &checked->mistakes);
		check_bond_name(checked);
	} else {
		r = config_file_read_streams(&checked->file, &input, 1, &checked->mistakes);
	}
	checked->is_read = !r;
}

static void check_slaves_of_two(struct checked *checked, const struct checked *earlier)
{
	for (size_t i = 0; checked->is_read && i < checked->file.slave_count; i++) {
		const struct config_slave *slave = &checked->file.slaves[i];
		char text[MAC_FORMAT_SIZE];
		struct err why;

		if (!earlier->is_read || !config_file_find_slave(&earlier->file, slave))
			continue;
		err_set(&why, EEXIST, "%s is a slave in %s, too; a device can have one bond",
			config_slave_name(slave, text), earlier->path);
		config_mistakes_add(&checked->mistakes, slave->place, why.text);
	}
}

static json_t *check_mistake_json(const struct config_mistake *mistake)
{
	char *path = memory_need(strndup(mistake->text, mistake->path_length));
	json_t *json = json_pack("{s:o, s:o, s:s, s:o}", "file", json_value_text(path), "line",
				 json_value_number((uint64_t)mistake->line), "severity",
				 mistake->is_warning ? "warning" : "error", "text",
				 json_value_text(config_mistake_why(mistake)));

	free(path);
	return json;
}

static json_t *check_json(const struct check *check)
{
	json_t *all = json_array();

	for (size_t i = 0; i < check->count; i++) {
		const struct checked *checked = &check->list[i];
		json_t *mistakes = json_array();

		for (size_t k = 0; k < checked->mistakes.count; k++)
			json_array_append_new(mistakes,
					      check_mistake_json(&checked->mistakes.list[k]));
		json_array_append_new(all, json_pack("{s:o, s:b, s:o, s:I}", "file",
						     json_value_text(checked->path), "ok",
						     !checked->mistakes.errors, "mistakes",
						     mistakes, "left_out",
						     (json_int_t)checked->mistakes.left_out));
	}
	return all;
}

static void check_print(const struct checked *checked)
{
	const struct config_mistakes *mistakes = &checked->mistakes;

	for (size_t i = 0; i < mistakes->count; i++)
		cli_print(stderr, "%s%s", mistakes->list[i].is_warning ? "warning: " : "",
			  mistakes->list[i].text);
	if (mistakes->left_out)
		cli_print(stderr, "%s: and %zu more", checked->path, mistakes->left_out);
	if (!mistakes->errors)
		cli_print(stdout, "%s: no mistakes", checked->path);
}

static int check_list_dir(const struct cli *cli, struct check *check, struct err *err)
{
	const char *dir = cli->paths.config_dir;
	size_t count = 0;
	int r = config_dir_bonds(dir, &check->names, err);

	if (r)
		return r;
	while (check->names[count])
		count++;
	check->paths = memory_need(calloc(count + 1, sizeof(*check->paths)));
	for (size_t i = 0; i < count; i++)
		check->paths[i] = memory_text("%s/%s" PATHS_CONFIG_SUFFIX, dir, check->names[i]);
	check->count = count;
	return 0;
}

static enum cli_exit check_run(const struct cli *cli, struct check *check, char **paths)
{
	enum cli_exit status = CLI_DONE;

	check->list = memory_need(calloc(check->count + 1, sizeof(*check->list)));
	for (size_t i = 0; i < check->count; i++) {
		check_file(&check->list[i], paths[i]);
		for (size_t k = 0; k < i; k++)
			check_slaves_of_two(&check->list[i], &check->list[k]);
		config_mistakes_sort(&check->list[i].mistakes);
		if (check->list[i].mistakes.errors)
			status = CLI_REFUSED;
		if (!cli->json)
			check_print(&check->list[i]);
	}
	if (cli->json && cli_print_json(check_json(check)) != CLI_DONE)
		status = CLI_REFUSED;
	return status;
}

static void check_free(struct check *check)
{
	for (size_t i = 0; check->list && i < check->count; i++) {
		config_mistakes_free(&check->list[i].mistakes);
		if (check->list[i].is_read)
			config_file_free(&check->list[i].file);
	}
	for (size_t i = 0; check->paths && check->names[i]; i++)
		free(check->paths[i]);
	free(check->paths);
	memory_free_texts(check->names);
	free(check->list);
}

enum cli_exit cmd_check(const struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	struct check check = { .count = (size_t)argc };
	enum cli_exit status;
	struct err err;

	if (!argc && check_list_dir(cli, &check, &err))
		return cli_refuse(&err);
	if (!cli->json && !argc && !check.count)
		printf("%s: there is no configuration file\n", cli->paths.config_dir);
	status = check_run(cli, &check, argc ? argv : check.paths);
	check_free(&check);
	return status;
}

/*
 * load, apply, confirm and rollback. bondd reads the files and does the work, so that it is
 * finished whatever happens to bondctl; here is what is asked for, and what is printed.
 */

#define APPLY_WAIT_S 600 /* for all bonds of a machine */
#define APPLY_CONFIRM_MAX_S 86400

/* Takes the reference. *ret_result: a new one. */
static enum cli_exit apply_ask(const struct cli *cli, json_t *request, json_t **ret_result)
{
	json_t *reply = NULL;
	enum cli_exit status = cli_ask(cli, request, APPLY_WAIT_S, &reply);

	*ret_result = json_incref(json_object_get(reply, "result"));
	json_decref(reply);
	return status;
}

/* What is not wished for is not said: an older bondd may not know the word. */
static json_t *apply_request(const struct cli *cli, const struct verb *verb, const char *bond,
			     unsigned long long confirm)
{
	json_t *request = json_pack("{s:s, s:s*, s:s}", "method", verb->name, "bond", bond,
				    "config_dir", cli->paths.config_dir);

	if (cli_flag(cli, verb, "--dry-run"))
		json_object_set_new(request, "dry_run", json_true());
	if (cli_flag(cli, verb, "--interrupt"))
		json_object_set_new(request, "interrupt", json_true());
	if (confirm)
		json_object_set_new(request, "confirm", json_integer((json_int_t)confirm));
	return request;
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
		cli_print(stderr, "%s", json_string_value(note));
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
