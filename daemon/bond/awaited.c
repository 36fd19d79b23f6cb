/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/bond/awaited.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/event.h"
#include "options/values.h"
#include "view/json_value.h"

void awaited_add(struct bond *bond, const struct config_slave *slave, const uint8_t *perm_mac)
{
	struct awaited *awaited = calloc(1, sizeof(*awaited)), **last = &bond->daemon->awaited;
	struct link_info link;

	if (!awaited)
		return;
	awaited->bond = bond;
	awaited->slave = *slave;
	if (perm_mac)
		memcpy(awaited->perm_mac, perm_mac, XBOND_MAC_SIZE);
	while (*last)
		last = &(*last)->next;
	*last = awaited;
	if (link_get_by_name(&bond->daemon->nl, slave->name, &link))
		event_notice(bond_pin(bond)->name, slave->name,
			     "slave %s is not there yet; it will be added when it appears",
			     slave->name);
}

void awaited_rename_primary(struct bond *bond, const char *from, const char *to)
{
	if (!strcmp(bond_pin(bond)->primary, from))
		snprintf(bond_pin(bond)->primary, XBOND_NAME_SIZE, "%s", to);
}

struct awaited **awaited_next(struct awaited **at, bool done)
{
	struct awaited *awaited = *at;

	if (!done)
		return &awaited->next;
	*at = awaited->next;
	free(awaited);
	return at;
}

bool awaited_has(const struct bond *bond, const char *slave)
{
	for (const struct awaited *awaited = bond->daemon->awaited; awaited;
	     awaited = awaited->next)
		if (awaited->bond == bond && !awaited->added && !strcmp(awaited->slave.name, slave))
			return true;
	return false;
}

json_t *awaited_names(const struct bond *bond)
{
	json_t *names = json_array();

	for (const struct awaited *awaited = bond->daemon->awaited; awaited;
	     awaited = awaited->next)
		if (awaited->bond == bond && !awaited->added)
			json_array_append_new(names, json_value_text(awaited->slave.name));
	return names;
}

void awaited_remove(struct bond *bond, const char *slave)
{
	for (struct awaited **at = &bond->daemon->awaited; *at;)
		at = awaited_next(at, (*at)->bond == bond &&
					      (!slave || !strcmp((*at)->slave.name, slave)));
}

static bool awaited_is_named(struct bond *bond, const char *slave)
{
	char path[PATH_MAX];
	struct config_file file;
	bool named = false;

	snprintf(path, sizeof(path), "%s/%s" PATHS_CONFIG_SUFFIX, bond->daemon->paths.config_dir,
		 bond_pin(bond)->name);
	if (config_file_read(&file, path, NULL))
		return false;
	for (size_t i = 0; i < file.slave_count; i++)
		named |= !strcmp(file.slaves[i].name, slave);
	config_file_free(&file);
	return named;
}

/*
 * The name that the configuration uses for a NIC that was added under another one; removes it from
 * the list.
 */
static bool awaited_take_added(struct bond *bond, const struct xbond_slave *slave, char *ret_name)
{
	for (struct awaited **at = &bond->daemon->awaited; *at; at = &(*at)->next) {
		if (!(*at)->added || (*at)->bond != bond ||
		    memcmp((*at)->perm_mac, slave->perm_mac, XBOND_MAC_SIZE))
			continue;
		memcpy(ret_name, (*at)->slave.name, XBOND_NAME_SIZE);
		awaited_next(at, true);
		return true;
	}
	return false;
}

static void awaited_keep_options(struct option_set *options, const struct pins *pins,
				 unsigned int slot)
{
	for (int id = OPT_WEIGHT; id < OPT_COUNT; id++) {
		options->given[id] = option_at(id)->home != OPTION_NOWHERE;
		values_read(pins, option_at(id), slot, &options->value[id]);
	}
}

void awaited_slave_lost(struct bond *bond, unsigned int slot)
{
	const struct xbond_slave *lost = bond_slave(bond, slot);
	struct config_slave slave = { 0 };

	if (awaited_take_added(bond, lost, slave.name)) {
		awaited_rename_primary(bond, lost->name, slave.name);
	} else {
		memcpy(slave.name, lost->name, sizeof(slave.name));
		if (!awaited_is_named(bond, slave.name))
			return;
	}
	awaited_keep_options(&slave.options, &bond->dataplane.pins, slot);
	awaited_add(bond, &slave, lost->perm_mac);
}

void awaited_slave_left(struct bond *bond, unsigned int slot)
{
	char name[XBOND_NAME_SIZE];

	awaited_take_added(bond, bond_slave(bond, slot), name);
}

void awaited_free_all(struct daemon *daemon)
{
	while (daemon->awaited)
		awaited_next(&daemon->awaited, true);
}
