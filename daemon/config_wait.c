// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/config_wait.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/mac.h"
#include "common/mode.h"
#include "common/values.h"
#include "daemon/config_file.h"
#include "daemon/log.h"
#include "daemon/requests.h"
#include "view/json_value.h"

#define LOOKS_UNTIL_BY_MAC 3
#define RETRY_NS (10 * 1000 * NS_PER_MS) /* doubled with each refusal */
#define RETRY_DOUBLED 5

/* A slave of the configuration, under the name it has there. */
struct pending {
	struct pending *next;
	struct bond *bond;
	struct config_slave slave;
	uint8_t perm_mac[XBOND_MAC_SIZE]; /* zero: not known */
	unsigned int looks;		  /* how often the NIC was seen under another name */
	bool added;			  /* under another name: kept for when it goes again */
	char refused[sizeof(((struct err *)NULL)->text)]; /* why it was refused last */
	uint64_t refused_ns;				  /* when last */
	unsigned int refusals;
	bool news; /* since then */
};

struct search {
	const uint8_t *perm_mac;
	char name[XBOND_NAME_SIZE];
};

void config_wait(struct bond *bond, const struct config_slave *slave, const uint8_t *perm_mac)
{
	struct pending *pending = calloc(1, sizeof(*pending)), **last = &bond->daemon->pending;
	struct link_info link;

	if (!pending)
		return;
	pending->bond = bond;
	pending->slave = *slave;
	if (perm_mac)
		memcpy(pending->perm_mac, perm_mac, XBOND_MAC_SIZE);
	while (*last)
		last = &(*last)->next;
	*last = pending;
	if (link_get_by_name(&bond->daemon->nl, slave->name, &link))
		log_notice("%s: slave %s is not there yet; it is added when it appears",
			   bond_pin(bond)->name, slave->name);
}

/* As when a slave is renamed. */
static void primary_renamed(struct bond *bond, const char *from, const char *to)
{
	if (!strcmp(bond_pin(bond)->primary, from))
		snprintf(bond_pin(bond)->primary, XBOND_NAME_SIZE, "%s", to);
}

static int add(const struct pending *pending, const char *name, struct err *err)
{
	struct bond *bond = pending->bond;
	struct option_set options = pending->slave.options;
	int r;

	/* The mode may have changed since. */
	if (!mode_has(bond_pin(bond)->mode, MODE_LACP))
		options.given[OPT_ACTOR_PORT_PRIO] = false;
	primary_renamed(bond, pending->slave.name, name);
	r = request_add_slaves(bond->daemon, bond_pin(bond)->name, &name, 1, &options, NULL, err);
	if (r)
		primary_renamed(bond, name, pending->slave.name);
	return r;
}

/* True: no need to wait any more. */
static bool is_done(struct pending *pending, const char *name)
{
	int slot = pins_slot_by_name(&pending->bond->dataplane.pins, name);

	if (!strcmp(name, pending->slave.name) || slot < 0)
		return true;
	pending->added = true;
	memcpy(pending->perm_mac, bond_slave(pending->bond, (unsigned int)slot)->perm_mac,
	       XBOND_MAC_SIZE);
	return false;
}

static bool is_too_early(const struct pending *pending)
{
	unsigned int doubled;

	if (!pending->refusals)
		return false;
	doubled = pending->refusals > RETRY_DOUBLED ? RETRY_DOUBLED : pending->refusals - 1;
	return clock_now_ns() - pending->refused_ns < RETRY_NS << doubled;
}

/*
 * Adds the slave, or says once why not and waits on: it may come in another state. Not at once, for
 * the try itself makes messages about the device.
 */
static bool try_pending(struct pending *pending, const char *name)
{
	struct err err = { 0 };

	if (is_too_early(pending)) {
		pending->news = true;
		return false;
	}
	if (!add(pending, name, &err))
		return is_done(pending, name);
	pending->refused_ns = clock_now_ns();
	pending->refusals++;
	pending->news = false;
	if (strcmp(err.text, pending->refused))
		log_error("%s: slave %s: %s", bond_pin(pending->bond)->name, name, err.text);
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
					 try_pending(*at, name));
}

/* The device may have the name as an alternative one. */
static bool look_by_name(struct daemon *daemon, struct pending *pending)
{
	struct link_info link;

	return !pending->added && !link_get_by_name(&daemon->nl, pending->slave.name, &link) &&
	       try_pending(pending, link.name);
}

void config_look_again(struct daemon *daemon)
{
	for (struct pending **at = &daemon->pending; *at;)
		at = next_of(at, look_by_name(daemon, *at));
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

	if (pending->added || mac_is_zero(pending->perm_mac))
		return false;
	link_visit(&daemon->nl, -1, compare_mac, &search);
	if (!*search.name) {
		pending->looks = 0;
		return false;
	}
	return ++pending->looks >= LOOKS_UNTIL_BY_MAC && try_pending(pending, search.name);
}

void config_wait_tick(struct daemon *daemon)
{
	for (struct pending **at = &daemon->pending; *at;)
		at = next_of(at, look_by_mac(daemon, *at) || ((!(*at)->refusals || (*at)->news) &&
							      look_by_name(daemon, *at)));
}

bool config_awaits(const struct bond *bond, const char *slave)
{
	for (const struct pending *pending = bond->daemon->pending; pending;
	     pending = pending->next)
		if (pending->bond == bond && !pending->added && !strcmp(pending->slave.name, slave))
			return true;
	return false;
}

json_t *config_awaited(const struct bond *bond)
{
	json_t *names = json_array();

	for (const struct pending *pending = bond->daemon->pending; pending;
	     pending = pending->next)
		if (pending->bond == bond && !pending->added)
			json_array_append_new(names, json_value_text(pending->slave.name));
	return names;
}

void config_wait_no_more(struct bond *bond, const char *slave)
{
	for (struct pending **at = &bond->daemon->pending; *at;)
		at = next_of(at,
			     (*at)->bond == bond && (!slave || !strcmp((*at)->slave.name, slave)));
}

static bool is_named(struct bond *bond, const char *slave)
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
 * The name that the configuration has for a NIC that was added under another one; taken off the
 * list.
 */
static bool take_added(struct bond *bond, const struct xbond_slave *slave, char *ret_name)
{
	for (struct pending **at = &bond->daemon->pending; *at; at = &(*at)->next) {
		if (!(*at)->added || (*at)->bond != bond ||
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
	config_wait(bond, &slave, lost->perm_mac);
}

void config_slave_left(struct bond *bond, unsigned int slot)
{
	char name[XBOND_NAME_SIZE];

	take_added(bond, bond_slave(bond, slot), name);
}

void config_done(struct daemon *daemon)
{
	while (daemon->pending)
		next_of(&daemon->pending, true);
}
