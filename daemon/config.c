/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/config.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/config_file.h"
#include "daemon/config_wait.h"
#include "daemon/log.h"
#include "daemon/requests.h"

#define SUFFIX ".conf"

static bool is_there(struct daemon *daemon, const char *name)
{
	struct link_info link;

	return !link_get_by_name(&daemon->nl, name, &link);
}

static int add(struct daemon *daemon, const char *bond, const struct config_slave *slave, struct err *err)
{
	const char *name = slave->name;

	return request_add_slaves(daemon, bond, &name, 1, &slave->options, NULL, err);
}

static void apply(struct daemon *daemon, const char *bond, const char *path, const struct config_file *file)
{
	bool runs = daemon_find_bond(daemon, bond);
	struct err err;

	if (!runs && request_create(daemon, bond, &file->bond, &err)) {
		log_error("%s: %s", path, err.text);
		return;
	}
	for (size_t i = 0; i < file->slave_count; i++) {
		if (!is_there(daemon, file->slaves[i].name))
			config_wait(daemon, bond, &file->slaves[i], NULL);
		else if (!runs &&
			 add(daemon, bond, &file->slaves[i], &err)) /* one that runs is as it was left */
			log_error("%s: slave %s: %s", path, file->slaves[i].name, err.text);
	}
}

static void read_and_apply(struct daemon *daemon, const char *file_name)
{
	char path[PATH_MAX], bond[NAME_MAX + 1];
	struct config_file file;
	struct err err;

	snprintf(path, sizeof(path), "%s/%s", daemon->paths.config_dir, file_name);
	snprintf(bond, sizeof(bond), "%.*s", (int)(strlen(file_name) - strlen(SUFFIX)), file_name);
	if (config_file_read(&file, path, &err)) {
		log_error("%s", err.text);
		return;
	}
	apply(daemon, bond, path, &file);
	config_file_free(&file);
}

static int is_config(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return entry->d_name[0] != '.' && length > strlen(SUFFIX) &&
	       !strcmp(entry->d_name + length - strlen(SUFFIX), SUFFIX);
}

void config_apply_all(struct daemon *daemon)
{
	struct dirent **entries;
	int count = scandir(daemon->paths.config_dir, &entries, is_config, alphasort);

	if (count < 0) {
		if (errno != ENOENT)
			log_error("%s: %m", daemon->paths.config_dir);
		return;
	}
	for (int i = 0; i < count; i++) {
		read_and_apply(daemon, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
}
