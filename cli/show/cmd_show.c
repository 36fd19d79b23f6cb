/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * show, stats and list. Without BOND they go over all bonds; a damaged bond causes a warning, and
 * the others are still shown.
 */
#include <errno.h>
#include <stdio.h>

#include "cli/base/terminal.h"
#include "cli/show/show.h"

#define SHOW_NONE "there are no bonds; 'bondctl create' makes one"

/* One way of showing bonds. */
struct look {
	const struct sight *sight;
	void (*between)(void); /* before all but the first; may be NULL */
	const char *none;      /* what is said if there are no bonds; may be NULL */
	void (*text)(const struct seen *seen);
};

static void show_empty_line(void)
{
	putchar('\n');
}

static void show_text(const struct seen *seen)
{
	text_bond(seen);
}

static void show_text_details(const struct seen *seen)
{
	text_details_bond(seen);
}

static void show_text_proc(const struct seen *seen)
{
	proc_print(seen->view);
}

static void show_text_stats(const struct seen *seen)
{
	text_stats(seen->view);
}

static void show_text_list(const struct seen *seen)
{
	puts(json_string_value(seen->view));
}

static const struct look look_show = { &sight_show, show_empty_line, SHOW_NONE, show_text };
static const struct look look_details = { &sight_show, show_empty_line, SHOW_NONE,
					  show_text_details };
static const struct look look_proc = { &sight_known, NULL, NULL, show_text_proc };
static const struct look look_stats = { &sight_stats, show_empty_line, SHOW_NONE, show_text_stats };
static const struct look look_list = { &sight_list, NULL, NULL, show_text_list };

/* Prints the text; returns the JSON, which the caller prints. */
static int show_look_at(const struct cli *cli, const struct look *look, const char *name,
			bool first, json_t **ret_view, struct err *err)
{
	struct seen seen;
	int r = see_bond(cli, look->sight, name, &seen, err);

	if (r)
		return r;
	if (!cli->json && !first && look->between)
		look->between();
	if (!cli->json)
		look->text(&seen);
	*ret_view = seen.view;
	return 0;
}

static enum cli_exit show_look_at_one(const struct cli *cli, const struct look *look,
				      const char *name)
{
	struct err err;
	json_t *view;

	if (show_look_at(cli, look, name, true, &view, &err))
		return cli_refuse(&err);
	if (cli->json)
		return cli_print_json(view);
	json_decref(view);
	return CLI_DONE;
}

static enum cli_exit show_look_at_all(const struct cli *cli, const struct look *look)
{
	enum cli_exit status = CLI_DONE;
	json_t *views, *view;
	struct err err;
	char **names;
	int r;

	if (see_names(cli, &names, &err))
		return cli_refuse(&err);
	if (!*names && !cli->json && look->none)
		puts(look->none);
	views = json_array();
	for (char **name = names; *name; name++) {
		r = show_look_at(cli, look, *name, json_array_size(views) == 0, &view, &err);
		if (!r)
			json_array_append_new(views, view);
		else if (r != -ENOENT) /* -ENOENT: it was deleted in between */
			status = cli_refuse(&err);
	}
	pins_names_free(names);
	if (!cli->json)
		json_decref(views);
	else if (cli_print_json(views))
		status = CLI_REFUSED;
	return status;
}

enum cli_exit cmd_show(const struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	const struct look *look = &look_show;

	if (cli_flag(cli, verb, "--proc") && cli->json)
		return cli_usage(verb, "--proc prints no JSON");
	if (cli_flag(cli, verb, "--proc") && cli_flag(cli, verb, "--details"))
		return cli_usage(verb, "--proc and --details exclude each other");
	if (cli_flag(cli, verb, "--proc"))
		look = &look_proc;
	if (look == &look_proc)
		text_wrap_end();
	else if (cli_flag(cli, verb, "--details"))
		look = &look_details;
	style_init();
	return argc ? show_look_at_one(cli, look, argv[0]) : show_look_at_all(cli, look);
}

enum cli_exit cmd_stats(const struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	(void)verb;
	return argc ? show_look_at_one(cli, &look_stats, argv[0])
		    : show_look_at_all(cli, &look_stats);
}

enum cli_exit cmd_list(const struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	(void)verb;
	(void)argc;
	(void)argv;
	return show_look_at_all(cli, &look_list);
}
