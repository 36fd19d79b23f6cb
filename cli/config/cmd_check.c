/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check: reads configuration files as bondd would, and prints every mistake. Needs neither bondd
 * nor root, and looks at no device.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "common/err.h"
#include "common/paths.h"
#include "options/config_file.h"
#include "options/names.h"
#include "view/json_value.h"

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
	const char *slash = strrchr(checked->path, '/');
	const char *base = slash ? slash + 1 : checked->path;
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
		fprintf(stderr, "%s%s\n", mistakes->list[i].is_warning ? "warning: " : "",
			mistakes->list[i].text);
	if (mistakes->left_out)
		fprintf(stderr, "%s: and %zu more\n", checked->path, mistakes->left_out);
	if (!mistakes->errors)
		printf("%s: no mistakes\n", checked->path);
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
	config_dir_free(check->names);
	free(check->list);
}

enum cli_exit cmd_check(const struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	struct check check = { .count = (size_t)argc };
	enum cli_exit status;
	struct err err;

	(void)verb;
	if (!argc && check_list_dir(cli, &check, &err))
		return cli_refuse(&err);
	if (!cli->json && !argc && !check.count)
		printf("%s: there is no configuration file\n", cli->paths.config_dir);
	status = check_run(cli, &check, argc ? argv : check.paths);
	check_free(&check);
	return status;
}
