/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * show, stats and list: read the pinned maps, with or without bondd. A user who may not read the
 * maps asks bondd. Without BOND they go over all bonds; a damaged bond causes a warning, and the
 * others are still shown.
 */
#include <errno.h>
#include <stdio.h>

#include "cli/base/ask.h"
#include "cli/base/cli.h"
#include "cli/base/client.h"
#include "cli/show/text.h"
#include "options/names.h"
#include "view/view_bond.h"

struct seen {
	json_t *view;
	bool forced_counted;
};

/* One way of showing a bond. */
struct look {
	const char *method; /* the method of bondd; NULL: only the name is needed */
	json_t *(*view)(const struct cli *cli, const struct pins *pins, const char *name);
	json_t *(*foreign)(const struct cli *cli, const char *name,
			   uint32_t abi); /* for a bond of another ABI version; may be NULL */
	void (*head)(void);
	void (*text)(const struct seen *seen);
};

static json_t *show_view_for_show(const struct cli *cli, const struct pins *pins, const char *name)
{
	return view_bond(pins, name, pins_bondd_alive(pins) && client_present(cli->paths.run_dir));
}

static json_t *show_view_for_stats(const struct cli *cli, const struct pins *pins, const char *name)
{
	struct loop_figures loop;
	bool is_known = pins_bondd_alive(pins) && !loop_read(cli->paths.run_dir, &loop);

	return view_stats(pins, name, is_known ? &loop : NULL);
}

static json_t *show_view_for_list(const struct cli *cli, const struct pins *pins, const char *name)
{
	(void)cli;
	(void)pins;
	return json_string(name);
}

static json_t *show_foreign_for_show(const struct cli *cli, const char *name, uint32_t abi)
{
	return view_foreign(name, abi, client_present(cli->paths.run_dir));
}

static json_t *show_foreign_for_list(const struct cli *cli, const char *name, uint32_t abi)
{
	(void)cli;
	(void)abi;
	return json_string(name);
}

static void show_no_head(void)
{
}

static void show_text_for_show(const struct seen *seen)
{
	text_bond(seen->view, seen->forced_counted);
}

static void show_text_for_stats(const struct seen *seen)
{
	text_stats(seen->view);
}

static void show_text_for_list(const struct seen *seen)
{
	puts(json_string_value(seen->view));
}

static const struct look look_show = { "show", show_view_for_show, show_foreign_for_show,
				       show_no_head, show_text_for_show };
static const struct look look_stats = { "stats", show_view_for_stats, NULL, text_stats_head,
					show_text_for_stats };
static const struct look look_list = { NULL, show_view_for_list, show_foreign_for_list,
				       show_no_head, show_text_for_list };

static bool show_is_forbidden(int r)
{
	return r == -EPERM || r == -EACCES;
}

static int show_see_by_pins(const struct cli *cli, const struct look *look, const char *name,
			    struct seen *ret_seen, struct err *err)
{
	struct pins pins;
	int r = pins_open(&pins, cli->paths.bpf_dir, name, err);

	if (r == -EPROTO && look->foreign) {
		ret_seen->view = look->foreign(cli, name, pins_abi(cli->paths.bpf_dir, name, err));
		ret_seen->forced_counted = false;
		return 0;
	}
	if (r)
		return r;
	ret_seen->view = look->view(cli, &pins, name);
	ret_seen->forced_counted = pins.table->flags & XBOND_F_FORCE_COUNTED;
	pins_close(&pins);
	return ret_seen->view
		       ? 0
		       : err_set(err, EIO, "cannot read the counters of %s; try again", name);
}

static int show_see_by_bondd(const struct cli *cli, const struct look *look, const char *name,
			     struct seen *ret_seen, struct err *err)
{
	if (look->method)
		return ask_view(cli->paths.run_dir, look->method, name, &ret_seen->view,
				&ret_seen->forced_counted, err);
	ret_seen->view = json_string(name);
	return 0;
}

/* Prints the text; returns the JSON, which the caller prints. */
static int show_look_at(const struct cli *cli, const struct look *look, const char *name,
			bool first, json_t **ret_view, struct err *err)
{
	struct seen seen;
	int r = show_see_by_pins(cli, look, name, &seen, err);

	if (show_is_forbidden(r))
		r = show_see_by_bondd(cli, look, name, &seen, err);
	if (r)
		return r;
	if (!cli->json && first)
		look->head();
	if (!cli->json)
		look->text(&seen);
	*ret_view = seen.view;
	return 0;
}

static int show_find_names(const struct cli *cli, char ***ret_names, struct err *err)
{
	int r = pins_names(ret_names, cli->paths.bpf_dir, err);

	return show_is_forbidden(r) ? ask_names(cli->paths.run_dir, ret_names, err) : r;
}

static enum cli_exit show_look_at_one(const struct cli *cli, const struct look *look,
				      const char *name)
{
	struct err err;
	json_t *view;

	if (name_check("bond", name, &err))
		return cli_refuse(&err);
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

	if (show_find_names(cli, &names, &err))
		return cli_refuse(&err);
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
	(void)verb;
	return argc ? show_look_at_one(cli, &look_show, argv[0])
		    : show_look_at_all(cli, &look_show);
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
