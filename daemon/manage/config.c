/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/manage/config.h"

#include <limits.h>
#include <net/if.h>

#include "common/managers.h"
#include "daemon/base/log.h"
#include "daemon/bond/awaited.h"
#include "daemon/manage/config_wait.h"
#include "daemon/manage/requests.h"
#include "daemon/manage/slave_find.h"
#include "network/link.h"
#include "options/config_file.h"

/* A bond that already ran stays as it was left, except for slaves that are not there. */
static void config_await_slaves(struct bond *bond, const struct config_file *file, bool ran)
{
	char text[MAC_FORMAT_SIZE];
	struct link_info link;

	for (size_t i = 0; i < file->slave_count; i++) {
		const struct config_slave *slave = &file->slaves[i];
		bool is_there = !slave_find(bond, slave, &link);

		if (!awaited_has(bond, config_slave_name(slave, text)) && (!ran || !is_there))
			awaited_add(bond, slave, NULL, is_there);
	}
	config_look_again(bond->daemon);
}

/*
 * The administrative state of a bond belongs to the administrator, and to other tools that know
 * the bond: it is set once, when the bond is made.
 */
static bool config_is_up(const char *name, const struct option_set *options)
{
	const char *manager = managers_are_here() ? managers_configured("", name) : NULL;

	if (options->given[OPT_UP])
		return options->value[OPT_UP].number;
	if (manager)
		log_info("%s is left down, because %s brings it up ('up = on' in its file changes "
			 "that)",
			 name, manager);
	return !manager;
}

static void config_bring_up(struct bond *bond, const struct option_set *options)
{
	const struct xbond_bond *pin = bond_pin(bond);
	struct err err;

	if (config_is_up(pin->name, options) &&
	    link_set_flags(&bond->daemon->nl, (int)pin->ifindex, IFF_UP, IFF_UP, &err))
		log_error("%s stays down: %s", pin->name, err.text);
}

int config_create(struct daemon *daemon, const char *name, const struct config_file *file,
		  struct err *err)
{
	struct bond *bond;
	int r = request_create(daemon, name, &file->bond, err);

	if (r)
		return r;
	bond = daemon_find_bond(daemon, name);
	/* a bondd that finds it unfinished starts again */
	bond_pin(bond)->state = XBOND_BOND_CREATING;
	config_await_slaves(bond, file, false);
	config_bring_up(bond, &file->bond);
	bond_pin(bond)->state = XBOND_BOND_READY;
	return 0;
}

int config_read(struct daemon *daemon, const char *bond, struct config_file *ret_file,
		struct err *err)
{
	struct config_mistakes mistakes;
	char path[PATH_MAX];
	struct err first;
	int r = config_dir_path(path, sizeof(path), daemon->paths.config_dir, bond);

	if (r)
		return err_set(err, -r, "the path of the configuration file is too long");
	r = config_file_read(ret_file, path, &mistakes);
	for (size_t i = 0; i < mistakes.count; i++)
		if (mistakes.list[i].is_warning)
			log_warning("%s", mistakes.list[i].text);
		else
			log_error("%s", mistakes.list[i].text);
	if (r) {
		config_mistakes_first(&mistakes, -r, &first);
		if (mistakes.errors > 1)
			err_set(err, -r, "%.900s (and %zu more; 'bondctl check' lists all)",
				first.text, mistakes.errors - 1);
		else
			err_set(err, -r, "%s", first.text);
	}
	config_mistakes_free(&mistakes);
	return r;
}

static void config_apply(struct daemon *daemon, const char *name)
{
	struct bond *bond = daemon_find_bond(daemon, name);
	struct config_file file;
	struct err err;

	if (config_read(daemon, name, &file, &err))
		return;
	if (bond)
		config_await_slaves(bond, &file, true);
	else if (config_create(daemon, name, &file, &err))
		log_error("%s: %s", file.paths[0], err.text);
	config_file_free(&file);
}

void config_apply_all(struct daemon *daemon)
{
	char **names;
	struct err err;

	if (config_dir_bonds(daemon->paths.config_dir, &names, &err)) {
		log_error("%s", err.text);
		return;
	}
	for (char **name = names; *name; name++)
		config_apply(daemon, *name);
	config_dir_free(names);
}
