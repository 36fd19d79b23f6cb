/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/show/show.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/base/client.h"
#include "cli/base/fields.h"
#include "cli/base/picture.h"
#include "common/clock.h"
#include "common/mac.h"
#include "common/paths.h"
#include "common/readings.h"
#include "view/view_bond.h"

#define LOOKS 4
#define LOOK_AGAIN_MS 50

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
	at_us = (uint64_t)json_integer_value(json_object_get(json, "at_us"));
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

static json_t *see_show(const struct cli *cli, const struct pins *pins, const char *name)
{
	enum view_bondd bondd = see_bondd(cli, pins);
	struct picture *picture = picture_take(pins, bondd);
	struct loop_figures loop;
	json_t *view = view_bond(picture_pins(picture), name, bondd == VIEW_BONDD_IS_HERE,
				 see_loop(cli, pins, &loop));

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
	(void)cli;
	(void)pins;
	return json_string(name);
}

static json_t *see_foreign(const struct cli *cli, const char *name, uint32_t abi)
{
	return view_foreign(name, abi, client_present(cli->paths.run_dir));
}

static json_t *see_foreign_name(const struct cli *cli, const char *name, uint32_t abi)
{
	(void)cli;
	(void)abi;
	return json_string(name);
}

const struct sight sight_show = { "show", see_show, see_foreign };
const struct sight sight_stats = { "stats", see_stats, NULL };
const struct sight sight_list = { NULL, see_name, see_foreign_name };
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
	struct pins pins;
	int r = see_open(cli, name, &pins, err);

	if (r == -EPROTO && sight->foreign) {
		ret_seen->view = sight->foreign(cli, name, pins_abi(cli->paths.bpf_dir, name, err));
		ret_seen->forced_counted = false;
		ret_seen->bondd = VIEW_BONDD_IS_HERE;
		return 0;
	}
	if (r)
		return r;
	ret_seen->view = sight->view(cli, &pins, name);
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
		pins_names_free(*ret_names);
	return see_say_hidden(cli, ask_names(cli->paths.run_dir, ret_names, err), err);
}
