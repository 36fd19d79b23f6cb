/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/bond/awaited.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mac.h"
#include "common/memory.h"
#include "daemon/base/event.h"
#include "options/config_file.h"
#include "options/values.h"
#include "view/view_json.h"

struct awaited *awaited_add(struct bond *bond, const struct config_slave *slave,
			    const uint8_t *perm_mac, bool is_there)
{
	struct awaited *awaited = memory_need(calloc(1, sizeof(*awaited))),
		       **last = &bond->daemon->awaited;
	char text[MAC_FORMAT_SIZE];

	awaited->bond = bond;
	awaited->slave = *slave;
	memcpy(awaited->perm_mac, perm_mac ? perm_mac : slave->perm_mac, XBOND_MAC_SIZE);
	while (*last)
		last = &(*last)->next;
	*last = awaited;
	if (!is_there)
		event_notice(bond_pin(bond)->name, config_slave_name(slave, text),
			     "slave %s is not there yet; it will be added when it appears", text);
	return awaited;
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

static bool awaited_is_called(const struct awaited *awaited, const char *slave)
{
	char text[MAC_FORMAT_SIZE];

	return !strcmp(config_slave_name(&awaited->slave, text), slave);
}

const struct awaited *awaited_find(const struct bond *bond, const char *slave)
{
	for (const struct awaited *awaited = bond->daemon->awaited; awaited;
	     awaited = awaited->next)
		if (awaited->bond == bond && !awaited->added && awaited_is_called(awaited, slave))
			return awaited;
	return NULL;
}

json_t *awaited_names(const struct bond *bond)
{
	json_t *names = json_array();
	char text[MAC_FORMAT_SIZE];

	for (const struct awaited *awaited = bond->daemon->awaited; awaited;
	     awaited = awaited->next)
		if (awaited->bond == bond && !awaited->added)
			json_array_append_new(
				names, json_value_text(config_slave_name(&awaited->slave, text)));
	return names;
}

void awaited_remove(struct bond *bond, const char *slave)
{
	for (struct awaited **at = &bond->daemon->awaited; *at;)
		at = awaited_next(at,
				  (*at)->bond == bond && (!slave || awaited_is_called(*at, slave)));
}

void awaited_move(struct bond *from, struct bond *to)
{
	for (struct awaited *awaited = from->daemon->awaited; awaited; awaited = awaited->next)
		if (awaited->bond == from)
			awaited->bond = to;
}

void awaited_try_soon(struct daemon *daemon)
{
	for (struct awaited *awaited = daemon->awaited; awaited; awaited = awaited->next)
		awaited->refusals = 0;
}

/* As the configuration names it; false: it does not. */
static bool awaited_is_named(struct bond *bond, const struct xbond_slave *lost,
			     struct config_slave *ret_slave)
{
	struct config_slave by_name = { .name = "" }, by_mac = { .name = "" };
	const struct config_slave *found;
	char path[PATH_MAX];
	struct config_file file;

	memcpy(by_name.name, lost->name, sizeof(by_name.name));
	memcpy(by_mac.perm_mac, lost->perm_mac, XBOND_MAC_SIZE);
	if (config_dir_path(path, sizeof(path), bond->daemon->paths.config_dir,
			    bond_pin(bond)->name) ||
	    config_file_read_or_err(&file, path, NULL))
		return false;
	found = config_file_find_slave(&file, &by_mac);
	if (!found)
		found = config_file_find_slave(&file, &by_name);
	if (found) {
		memcpy(ret_slave->name, found->name, sizeof(found->name));
		memcpy(ret_slave->perm_mac, found->perm_mac, sizeof(found->perm_mac));
	}
	config_file_free(&file);
	return found;
}

/*
 * The name that the configuration uses for a NIC that was added under another one; removes it from
 * the list.
 */
static bool awaited_take_added(struct bond *bond, const struct xbond_slave *slave, char *ret_name)
{
	for (struct awaited **at = &bond->daemon->awaited; *at; at = &(*at)->next) {
		if (!(*at)->added || (*at)->bond != bond ||
		    !mac_is_same((*at)->perm_mac, slave->perm_mac))
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

	if (awaited_take_added(bond, lost, slave.name))
		awaited_rename_primary(bond, lost->name, slave.name);
	else if (!awaited_is_named(bond, lost, &slave))
		return;
	awaited_keep_options(&slave.options, &bond->dataplane.pins, slot);
	awaited_add(bond, &slave, lost->perm_mac, false);
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
