/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * show, stats and list. Without BOND they go over all bonds; a damaged bond causes a warning, and
 * the others are still shown.
 */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/client.h"
#include "cli/base/picture.h"
#include "cli/base/print.h"
#include "cli/show/show.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/mac.h"
#include "common/memory.h"
#include "common/paths.h"
#include "common/readings.h"
#include "network/link.h"
#include "network/xdp_sockets.h"
#include "options/config_file.h"
#include "view/view_bond.h"

#define LOOKS 4
#define LOOK_AGAIN_MS 50

/*
 * Asks bondd for what the pinned maps would tell, for members of the group xbond who cannot read
 * them: after opening the maps was refused.
 */

static int ask(const char *run_dir, json_t *request, json_t **ret_result, struct err *err)
{
	json_t *reply = NULL;
	struct err why;
	int r = client_call(run_dir, request, CLIENT_WAIT_S, &reply, &why);

	json_decref(request);
	if (r == -EREMOTEIO)
		return err_set(err, -r, "%s", why.text);
	if (r)
		return err_set(err, -r,
			       "permission denied: run as root, or as a member of the group xbond "
			       "while bondd runs (%s)",
			       why.text);
	*ret_result = json_incref(json_object_get(reply, "result"));
	json_decref(reply);
	return *ret_result ? 0
			   : err_set(err, EPROTO, "bondd is older than this bondctl: run as root");
}

static int ask_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted names with NULL at the end; release them with memory_free_texts(). */
static int ask_names(const char *run_dir, char ***ret_names, struct err *err)
{
	json_t *list = NULL, *name;
	char **names;
	size_t at;
	int r = ask(run_dir, json_pack("{s:s}", "method", "list"), &list, err);

	if (r)
		return r;
	names = memory_need(calloc(json_array_size(list) + 1, sizeof(*names)));
	json_array_foreach (list, at, name)
		if (json_is_string(name))
			names[at] = memory_need(strdup(json_string_value(name)));
	qsort(names, json_array_size(list), sizeof(*names), ask_compare);
	json_decref(list);
	*ret_names = names;
	return r;
}

/* method: "show" or "stats". *ret_view is a new reference. */
static int ask_view(const char *run_dir, const char *method, const char *name, json_t **ret_view,
		    bool *ret_forced_counted, struct err *err)
{
	json_t *result = NULL;
	int r = ask(run_dir, json_pack("{s:s, s:s}", "method", method, "bond", name), &result, err);

	if (r)
		return r;
	*ret_view = json_incref(json_object_get(result, "view"));
	*ret_forced_counted = field_is_true(result, "forced_counted");
	json_decref(result);
	return *ret_view ? 0 : err_set(err, EPROTO, "cannot understand bondd's answer");
}

/* A bond that waits for `bondctl confirm`. The maps do not have that; bondd has a file of it. */

/* Seconds until the bond goes back, rounded up; 0: it does not, or nobody may know. */
static unsigned int going_back_s(const struct paths *paths, const char *bond)
{
	char path[PATH_MAX];
	json_t *json;
	uint64_t at_us, now_us = clock_boot_us();

	snprintf(path, sizeof(path), "%s/%s.rollback", paths->run_dir, bond);
	json = json_load_file(path, 0, NULL);
	if (!json)
		return 0;
	at_us = (uint64_t)field_number(json, "at_us");
	json_decref(json);
	return at_us > now_us ? (unsigned int)((at_us - now_us + US_PER_S - 1) / US_PER_S) : 0;
}

/* The figures of bondd's main loop, in *room; NULL if they are not known. */
static const struct loop_figures *see_loop(const struct cli *cli, const struct pins *pins,
					   struct loop_figures *room)
{
	return pins_bondd_alive(pins) && !loop_read(cli->paths.run_dir, room) ? room : NULL;
}

static enum view_bondd see_bondd(const struct cli *cli, const struct pins *pins)
{
	return picture_bondd(pins, client_present(cli->paths.run_dir));
}

/* Nothing where the kernel does not tell. */
static void see_add_sockets(const struct pins *pins, json_t *view)
{
	struct view_socket *seen;
	struct xdp_sockets found;
	size_t count = 0;

	if (!view || link_is_elsewhere(pins->table->netns_cookie) || xdp_sockets_read(&found))
		return;
	xdp_sockets_find_owners(&found);
	seen = memory_need(calloc(found.count + 1, sizeof(*seen)));
	for (size_t i = 0; i < found.count; i++) {
		const struct xdp_socket *socket = &found.socket[i];

		pins_for_each_member (pins, slot) {
			if (pins->slaves[slot].ifindex != socket->ifindex)
				continue;
			seen[count] = (struct view_socket){ .slave = pins->slaves[slot].name,
							    .queue = socket->queue,
							    .zero_copy = socket->zero_copy,
							    .pid = (uint32_t)socket->pid };
			memcpy(seen[count++].program, socket->program, sizeof(socket->program));
		}
	}
	view_add_sockets(view, seen, count);
	free(seen);
	xdp_sockets_free(&found);
}

/* Does the configuration name a slave that the bond does not have? */
static bool see_lacks_slaves(const struct cli *cli, const struct pins *pins, const char *name)
{
	struct config_file file;
	char path[PATH_MAX];
	bool lacks = false;

	if (config_dir_path(path, sizeof(path), cli->paths.config_dir, name) ||
	    config_file_read_or_err(&file, path, NULL))
		return false;
	cli_name_slaves(pins, &file);
	for (size_t i = 0; i < file.slave_count && !lacks; i++)
		lacks = config_slave_slot(&file.slaves[i], pins) < 0;
	config_file_free(&file);
	return lacks;
}

/* bondd is asked only if there may be some. */
static void see_add_awaited(const struct cli *cli, const struct pins *pins, const char *name,
			    json_t *view)
{
	json_t *awaited = see_lacks_slaves(cli, pins, name)
				  ? client_awaited(cli->paths.run_dir, name)
				  : json_array();

	if (view && awaited)
		json_object_set(view, "awaited", awaited);
	json_decref(awaited);
}

static json_t *see_show(const struct cli *cli, const struct pins *pins, const char *name)
{
	enum view_bondd bondd = see_bondd(cli, pins);
	struct picture *picture = picture_take(pins, bondd);
	struct loop_figures loop;
	json_t *view = view_bond(picture_pins(picture), name, bondd == VIEW_BONDD_IS_HERE,
				 see_loop(cli, pins, &loop));

	see_add_sockets(picture_pins(picture), view);
	if (bondd == VIEW_BONDD_IS_HERE)
		see_add_awaited(cli, pins, name, view);
	picture_free(picture);
	return view;
}

static json_t *see_stats(const struct cli *cli, const struct pins *pins, const char *name)
{
	struct loop_figures loop;

	return view_stats(pins, name, see_loop(cli, pins, &loop));
}

static json_t *see_name(const struct cli *cli, const struct pins *pins, const char *name)
{
	return json_string(name);
}

static json_t *see_foreign(const struct cli *cli, const char *name, uint32_t abi)
{
	return view_foreign(name, abi, client_present(cli->paths.run_dir));
}

static json_t *see_foreign_name(const struct cli *cli, const char *name, uint32_t abi)
{
	return json_string(name);
}

static const struct sight sight_show = { "show", see_show, see_foreign };
static const struct sight sight_stats = { "stats", see_stats, NULL };
static const struct sight sight_list = { NULL, see_name, see_foreign_name };
const struct sight sight_known = { "show", see_show, NULL };

/* Only bondd can tell then. */
static bool see_is_blind(const struct cli *cli, int r)
{
	return r == -EPERM || r == -EACCES ||
	       ((!r || r == -ENOENT) && !pins_on_bpffs(cli->paths.bpf_dir));
}

/* That bondd could not be asked is said by what is missing here. */
static int see_say_hidden(const struct cli *cli, int r, struct err *err)
{
	const char *bondd = r == -ENOTCONN ? VIEW_BONDD_STOPPED
			    : r == -EACCES ? "this user may not ask bondd"
					   : VIEW_BONDD_SILENT;

	if (!r || r == -EREMOTEIO || r == -EPROTO || pins_on_bpffs(cli->paths.bpf_dir))
		return r;
	return err_set(err, ENOTCONN, "cannot see the bonds: " PINS_HIDDEN ", and %s",
		       cli->paths.bpf_dir, bondd);
}

/* A bond that is just being made or deleted has some of its pins. */
static int see_open(const struct cli *cli, const char *name, struct pins *ret_pins, struct err *err)
{
	int r = pins_open(ret_pins, cli->paths.bpf_dir, name, err);

	for (int look = 1; r == -EBADMSG && look < LOOKS; look++) {
		usleep(LOOK_AGAIN_MS * 1000);
		r = pins_open(ret_pins, cli->paths.bpf_dir, name, err);
	}
	return r;
}

static int see_by_pins(const struct cli *cli, const struct sight *sight, const char *name,
		       struct seen *ret_seen, struct err *err)
{
	uint32_t abi, state;
	struct pins pins;
	int r = see_open(cli, name, &pins, err);

	ret_seen->view = NULL;
	if (r == -EPROTO && sight->foreign) {
		pins_abi(cli->paths.bpf_dir, name, &abi, err);
		ret_seen->view = sight->foreign(cli, name, abi);
		ret_seen->forced_counted = false;
		ret_seen->bondd = VIEW_BONDD_IS_HERE;
		return 0;
	}
	if (r)
		return r;
	do { /* what is found detached may be so because the bond is deleted meanwhile */
		state = pins.bond->state;
		json_decref(ret_seen->view);
		ret_seen->view = sight->view(cli, &pins, name);
	} while (__atomic_load_n(&pins.bond->state, __ATOMIC_RELAXED) != state);
	ret_seen->forced_counted = pins.table->flags & XBOND_F_FORCE_COUNTED;
	ret_seen->bondd = see_bondd(cli, &pins);
	pins_close(&pins);
	return ret_seen->view
		       ? 0
		       : err_set(err, EIO, "cannot read the counters of %s; try again", name);
}

/* bondd describes a bond of another ABI version, too. */
static int see_refuse_foreign(struct seen *seen, const char *name, struct err *err)
{
	int r;

	if (!json_is_null(json_object_get(seen->view, "options")))
		return 0;
	r = err_set(err, EPROTO, "%s: %s", name, field_text(seen->view, "problem"));
	json_decref(seen->view);
	return r;
}

static int see_by_bondd(const struct cli *cli, const struct sight *sight, const char *name,
			struct seen *ret_seen, struct err *err)
{
	int r;

	ret_seen->forced_counted = false;
	ret_seen->bondd = VIEW_BONDD_IS_HERE;
	if (!sight->method) {
		ret_seen->view = json_string(name);
		return 0;
	}
	r = ask_view(cli->paths.run_dir, sight->method, name, &ret_seen->view,
		     &ret_seen->forced_counted, err);
	return r || sight->foreign ? r : see_refuse_foreign(ret_seen, name, err);
}

/* The other views have no "mac". */
static bool see_is_down(const json_t *view, const char *name)
{
	uint8_t mac[XBOND_MAC_SIZE];

	return !mac_parse(field_text(view, "mac"), mac) && set_down_is(name, mac);
}

int see_bond(const struct cli *cli, const struct sight *sight, const char *name,
	     struct seen *ret_seen, struct err *err)
{
	int r = see_by_pins(cli, sight, name, ret_seen, err);

	if (see_is_blind(cli, r))
		r = see_say_hidden(cli, see_by_bondd(cli, sight, name, ret_seen, err), err);
	if (r)
		return r;
	ret_seen->is_down = see_is_down(ret_seen->view, name);
	ret_seen->back_in_s = going_back_s(&cli->paths, name);
	return 0;
}

int see_names(const struct cli *cli, char ***ret_names, struct err *err)
{
	int r = pins_names(ret_names, cli->paths.bpf_dir, err);

	if (!see_is_blind(cli, r))
		return r;
	if (!r)
		memory_free_texts(*ret_names);
	return see_say_hidden(cli, ask_names(cli->paths.run_dir, ret_names, err), err);
}

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

static const struct look look_show = { &sight_show, show_empty_line, SHOW_NONE, text_bond };
static const struct look look_details = { &sight_show, show_empty_line, SHOW_NONE,
					  text_details_bond };
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
	struct err err, said = { "" };
	json_t *views, *view;
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
		/* -ENOENT: it was deleted in between. What is wrong with all is said once. */
		else if (r != -ENOENT && strcmp(err.text, said.text)) {
			status = cli_refuse(&err);
			said = err;
		}
	}
	memory_free_texts(names);
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
	return argc ? show_look_at_one(cli, &look_stats, argv[0])
		    : show_look_at_all(cli, &look_stats);
}

enum cli_exit cmd_list(const struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	return show_look_at_all(cli, &look_list);
}
