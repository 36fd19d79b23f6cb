/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/manage/config.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/bond/awaited.h"
#include "daemon/manage/config_wait.h"
#include "daemon/manage/requests.h"
#include "options/config_file.h"

/* A bond that already ran stays as it was left, except for slaves that are not there. */
static void config_apply_slaves(struct bond *bond, const struct config_file *file, bool ran)
{
	struct nl *nl = &bond->daemon->nl;
	struct link_info link;

	for (size_t i = 0; i < file->slave_count; i++) {
		const struct config_slave *slave = &file->slaves[i];

		if (!awaited_has(bond, slave->name) &&
		    (!ran || link_get_by_name(nl, slave->name, &link)))
			awaited_add(bond, slave, NULL);
	}
	config_look_again(bond->daemon);
}

static void config_apply(struct daemon *daemon, const char *name, const char *path,
			 const struct config_file *file)
{
	struct bond *bond = daemon_find_bond(daemon, name);
	struct err err = { 0 };

	if (bond) {
		config_apply_slaves(bond, file, true);
		return;
	}
	if (request_create(daemon, name, &file->bond, &err)) {
		log_error("%s: %s", path, err.text);
		return;
	}
	bond = daemon_find_bond(daemon, name);
	/* a bondd that finds it unfinished starts again */
	bond_pin(bond)->state = XBOND_BOND_CREATING;
	config_apply_slaves(bond, file, false);
	bond_pin(bond)->state = XBOND_BOND_READY;
}

static void config_read_and_apply(struct daemon *daemon, const char *file_name)
{
	char path[PATH_MAX], bond[NAME_MAX + 1];
	struct config_file file;
	struct err err;

	snprintf(path, sizeof(path), "%s/%s", daemon->paths.config_dir, file_name);
	snprintf(bond, sizeof(bond), "%.*s", (int)(strlen(file_name) - strlen(PATHS_CONFIG_SUFFIX)),
		 file_name);
	if (config_file_read(&file, path, &err)) {
		log_error("%s", err.text);
		return;
	}
	config_apply(daemon, bond, path, &file);
	config_file_free(&file);
}

static int config_is_file(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return entry->d_name[0] != '.' && length > strlen(PATHS_CONFIG_SUFFIX) &&
	       !strcmp(entry->d_name + length - strlen(PATHS_CONFIG_SUFFIX), PATHS_CONFIG_SUFFIX);
}

void config_apply_all(struct daemon *daemon)
{
	struct dirent **entries;
	int count = scandir(daemon->paths.config_dir, &entries, config_is_file, alphasort);

	if (count < 0) {
		if (errno != ENOENT)
			log_error("%s: %m", daemon->paths.config_dir);
		return;
	}
	for (int i = 0; i < count; i++) {
		config_read_and_apply(daemon, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
}
