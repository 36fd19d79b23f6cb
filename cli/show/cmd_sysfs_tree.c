/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sysfs-tree: all bonds as files, for programs that read the kernel's in /sys. */
#include <errno.h>

#include "cli/show/see.h"
#include "cli/show/sysfs_tree.h"

/* A bond that cannot be read causes a warning and is left out. */
static enum cli_exit sysfs_tree_collect(const struct cli *cli, char **names, json_t *ret_bonds)
{
	enum cli_exit status = CLI_DONE;
	struct seen seen;
	struct err err;
	int r;

	for (char **name = names; *name; name++) {
		r = see_bond(cli, &sight_known, *name, &seen, &err);
		if (!r && seen.is_down) /* to the kernel, such a device has no carrier */
			json_object_set_new(seen.view, "carrier", json_false());
		if (!r)
			json_array_append_new(ret_bonds, seen.view);
		else if (r != -ENOENT)
			status = cli_refuse(&err);
	}
	return status;
}

enum cli_exit cmd_sysfs_tree(const struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	enum cli_exit status;
	json_t *bonds;
	struct err err;
	char **names;

	(void)argc;
	if (cli->json)
		return cli_usage(verb, "it prints no JSON");
	if (see_names(cli, &names, &err))
		return cli_refuse(&err);
	bonds = json_array();
	status = sysfs_tree_collect(cli, names, bonds);
	pins_names_free(names);
	if (sysfs_tree_write(argv[0], bonds, &err))
		status = cli_refuse(&err);
	json_decref(bonds);
	return status;
}
