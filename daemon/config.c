/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/config.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/config_file.h"
#include "daemon/log.h"
#include "daemon/requests.h"

#define SUFFIX ".conf"

/* A slave of the configuration that waits for its device. */
struct pending {
	struct pending *next;
	char bond[XBOND_NAME_SIZE];
	struct config_slave slave;
};

static bool is_there(struct daemon *daemon, const char *name)
{
	struct link_info link;

	return !link_get_by_name(&daemon->nl, name, &link);
}

static void wait_for(struct daemon *daemon, const char *bond, const struct config_slave *slave)
{
	struct pending *pending = calloc(1, sizeof(*pending));

	if (!pending)
		return;
	snprintf(pending->bond, sizeof(pending->bond), "%.*s", XBOND_NAME_SIZE - 1, bond);
	pending->slave = *slave;
	pending->next = daemon->pending;
	daemon->pending = pending;
	log_notice("%s: slave %s is not there yet; it is added when it appears", bond, slave->name);
}

static void add(struct daemon *daemon, const char *bond, const struct config_slave *slave)
{
	const char *name = slave->name;
	struct err err;

	if (request_add_slaves(daemon, bond, &name, 1, &slave->options, NULL, &err))
		log_error("%s: slave %s: %s", bond, name, err.text);
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
			wait_for(daemon, bond, &file->slaves[i]);
		else if (!runs) /* a bond that runs is as the user has left it */
			add(daemon, bond, &file->slaves[i]);
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

void config_link_appeared(struct daemon *daemon, const struct link_info *link)
{
	for (struct pending **at = &daemon->pending; *at; at = &(*at)->next) {
		struct pending *pending = *at;

		if (strcmp(pending->slave.name, link->name))
			continue;
		*at = pending->next;
		if (daemon_find_bond(daemon, pending->bond))
			add(daemon, pending->bond, &pending->slave);
		free(pending);
		return;
	}
}

void config_done(struct daemon *daemon)
{
	while (daemon->pending) {
		struct pending *pending = daemon->pending;

		daemon->pending = pending->next;
		free(pending);
	}
}
