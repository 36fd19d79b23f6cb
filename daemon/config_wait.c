// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/config_wait.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/values.h"
#include "daemon/config_file.h"
#include "daemon/log.h"
#include "daemon/requests.h"

#define SUFFIX ".conf"
#define LOOKS_UNTIL_BY_MAC 3

/* A slave of the configuration, under the name it has there. */
struct pending {
	struct pending *next;
	char bond[XBOND_NAME_SIZE];
	struct config_slave slave;
	uint8_t perm_mac[XBOND_MAC_SIZE]; /* zero: not known */
	unsigned int looks;		  /* how often the NIC was seen under another name */
	bool added;			  /* under another name: kept for when it goes again */
	char refused[sizeof(((struct err *)NULL)->text)]; /* why it was refused last */
};

struct search {
	const uint8_t *perm_mac;
	char name[XBOND_NAME_SIZE];
};

static const uint8_t no_mac[XBOND_MAC_SIZE];

static bool is_there(struct daemon *daemon, const char *name)
{
	struct link_info link;

	return !link_get_by_name(&daemon->nl, name, &link);
}

void config_wait(struct daemon *daemon, const char *bond, const struct config_slave *slave,
		 const uint8_t *perm_mac)
{
	struct pending *pending = calloc(1, sizeof(*pending));

	if (!pending)
		return;
	snprintf(pending->bond, sizeof(pending->bond), "%.*s", XBOND_NAME_SIZE - 1, bond);
	pending->slave = *slave;
	if (perm_mac)
		memcpy(pending->perm_mac, perm_mac, XBOND_MAC_SIZE);
	pending->next = daemon->pending;
	daemon->pending = pending;
	log_notice("%s: slave %s is not there yet; it is added when it appears", bond, slave->name);
}

/* As when a slave is renamed. */
static void primary_renamed(struct bond *bond, const char *from, const char *to)
{
	if (!strcmp(bond_pin(bond)->primary, from))
		snprintf(bond_pin(bond)->primary, XBOND_NAME_SIZE, "%s", to);
}

static int add(struct daemon *daemon, const struct pending *pending, const char *name, struct err *err)
{
	struct bond *bond = daemon_find_bond(daemon, pending->bond);
	struct option_set options = pending->slave.options;

	/* The mode may have changed since. */
	if (bond_pin(bond)->mode != XBOND_MODE_8023AD)
		options.given[OPT_ACTOR_PORT_PRIO] = false;
	primary_renamed(bond, pending->slave.name, name);
	return request_add_slaves(daemon, pending->bond, &name, 1, &options, NULL, err);
}

/* Adds the slave, or says once why not and waits on: it may come in another state. True: no need to wait any more. */
static bool try_pending(struct daemon *daemon, struct pending *pending, const char *name)
{
	struct err err;

	if (!daemon_find_bond(daemon, pending->bond))
		return true;
	if (!add(daemon, pending, name, &err)) {
		pending->added = strcmp(name, pending->slave.name) != 0;
		return !pending->added;
	}
	if (strcmp(err.text, pending->refused))
		log_error("%s: slave %s: %s", pending->bond, name, err.text);
	snprintf(pending->refused, sizeof(pending->refused), "%s", err.text);
	return false;
}

/* Moves on, over one that is done with. */
static struct pending **next_of(struct pending **at, bool done)
{
	struct pending *pending = *at;

	if (!done)
		return &pending->next;
	*at = pending->next;
	free(pending);
	return at;
}

void config_link_appeared(struct daemon *daemon, const char *name)
{
	for (struct pending **at = &daemon->pending; *at;)
		at = next_of(at, !(*at)->added && !strcmp((*at)->slave.name, name) &&
					 try_pending(daemon, *at, name));
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

static void compare_mac(const struct link_info *link, void *arg)
{
	struct search *search = arg;

	if (link->has_perm_mac && !memcmp(link->perm_mac, search->perm_mac, XBOND_MAC_SIZE))
		memcpy(search->name, link->name, XBOND_NAME_SIZE);
}

/* True when it is done with. */
static bool look_by_mac(struct daemon *daemon, struct pending *pending)
{
	struct search search = { .perm_mac = pending->perm_mac };

	if (pending->added || !memcmp(pending->perm_mac, no_mac, XBOND_MAC_SIZE))
		return false;
	link_visit(&daemon->nl, -1, compare_mac, &search);
	if (!*search.name) {
		pending->looks = 0;
		return false;
	}
	return ++pending->looks >= LOOKS_UNTIL_BY_MAC && try_pending(daemon, pending, search.name);
}

void config_wait_tick(struct daemon *daemon)
{
	for (struct pending **at = &daemon->pending; *at;)
		at = next_of(at, look_by_mac(daemon, *at));
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

/* The name that the configuration has for a NIC that was added under another one; taken off the list. */
static bool take_added(struct bond *bond, const struct xbond_slave *slave, char *ret_name)
{
	for (struct pending **at = &bond->daemon->pending; *at; at = &(*at)->next) {
		if (!(*at)->added || strcmp((*at)->bond, bond_pin(bond)->name) ||
		    memcmp((*at)->perm_mac, slave->perm_mac, XBOND_MAC_SIZE))
			continue;
		memcpy(ret_name, (*at)->slave.name, XBOND_NAME_SIZE);
		next_of(at, true);
		return true;
	}
	return false;
}

static void keep_options(struct option_set *options, const struct pins *pins, unsigned int slot)
{
	for (int id = OPT_WEIGHT; id < OPT_COUNT; id++) {
		options->given[id] = option_at(id)->home != OPTION_NOWHERE;
		values_read(pins, option_at(id), slot, &options->value[id]);
	}
}

void config_slave_lost(struct bond *bond, unsigned int slot)
{
	const struct xbond_slave *lost = bond_slave(bond, slot);
	struct config_slave slave = { 0 };

	if (take_added(bond, lost, slave.name)) {
		primary_renamed(bond, lost->name, slave.name);
	} else {
		memcpy(slave.name, lost->name, sizeof(slave.name));
		if (!is_named(bond, slave.name))
			return;
	}
	keep_options(&slave.options, &bond->dataplane.pins, slot);
	config_wait(bond->daemon, bond_pin(bond)->name, &slave, lost->perm_mac);
}

void config_done(struct daemon *daemon)
{
	while (daemon->pending)
		next_of(&daemon->pending, true);
}
