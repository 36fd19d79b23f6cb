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
	char refused[sizeof(((struct err *)NULL)->text)]; /* why it was refused last */
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
			wait_for(daemon, bond, &file->slaves[i]);
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

/* Adds the slave, or says once why not and waits on: it may come under this name in another state. */
static bool try_pending(struct daemon *daemon, struct pending *pending)
{
	struct err err;

	if (!daemon_find_bond(daemon, pending->bond))
		return true;
	if (!add(daemon, pending->bond, &pending->slave, &err))
		return true;
	if (strcmp(err.text, pending->refused))
		log_error("%s: slave %s: %s", pending->bond, pending->slave.name, err.text);
	snprintf(pending->refused, sizeof(pending->refused), "%s", err.text);
	return false;
}

void config_link_appeared(struct daemon *daemon, const char *name)
{
	struct pending **at = &daemon->pending;

	while (*at) {
		struct pending *pending = *at;

		if (strcmp(pending->slave.name, name) || !try_pending(daemon, pending)) {
			at = &pending->next;
			continue;
		}
		*at = pending->next;
		free(pending);
	}
}

void config_look_again(struct daemon *daemon)
{
	char names[XBOND_MAX_SLAVES][XBOND_NAME_SIZE];
	size_t count = 0;

	for (struct pending *pending = daemon->pending; pending && count < XBOND_MAX_SLAVES;
	     pending = pending->next)
		memcpy(names[count++], pending->slave.name, XBOND_NAME_SIZE);
	for (size_t i = 0; i < count; i++)
		if (is_there(daemon, names[i]))
			config_link_appeared(daemon, names[i]);
}

static bool is_named(struct bond *bond, const char *slave)
{
	char path[PATH_MAX];
	struct config_file file;
	bool named = false;

	snprintf(path, sizeof(path), "%s/%s" SUFFIX, bond->daemon->paths.config_dir, bond_pin(bond)->name);
	if (config_file_read(&file, path, NULL))
		return false;
	for (size_t i = 0; i < file.slave_count; i++)
		named |= !strcmp(file.slaves[i].name, slave);
	config_file_free(&file);
	return named;
}

void config_slave_lost(struct bond *bond, unsigned int slot)
{
	const struct xbond_settings *settings = bond->dataplane.pins.settings;
	struct config_slave slave = { 0 };

	memcpy(slave.name, bond_slave(bond, slot)->name, sizeof(slave.name));
	if (!is_named(bond, slave.name))
		return;
	slave.options.given[OPT_WEIGHT] = slave.options.given[OPT_DRAIN] = true;
	slave.options.value[OPT_WEIGHT].number = settings->weight[slot];
	slave.options.value[OPT_DRAIN].number = settings->drain_mask >> slot & 1;
	wait_for(bond->daemon, bond_pin(bond)->name, &slave);
}

void config_done(struct daemon *daemon)
{
	while (daemon->pending) {
		struct pending *pending = daemon->pending;

		daemon->pending = pending->next;
		free(pending);
	}
}
