/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bonds and devices that complete offers: those that there are now. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <net/if_arp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/base/client.h"
#include "cli/verb_parts.h"
#include "common/memory.h"
#include "common/mode.h"
#include "network/link.h"
#include "options/names.h"

/* What is offered. */

static bool offers_has(const struct offers *offers, const char *word)
{
	const json_t *offer;
	size_t at;

	json_array_foreach (offers->words, at, offer)
		if (!strcmp(json_string_value(json_object_get(offer, "word")), word))
			return true;
	return false;
}

static bool offers_is_harmless(const char *word)
{
	for (; *word; word++)
		if (iscntrl((unsigned char)*word))
			return false;
	return true;
}

void offers_add(struct offers *offers, const char *word, const char *help)
{
	char whole[256];
	json_t *offer;

	if (!*word || strncmp(word, offers->begin, strlen(offers->begin)) ||
	    !offers_is_harmless(word))
		return;
	if (snprintf(whole, sizeof(whole), "%s%s", offers->before ? offers->before : "", word) >=
		    (int)sizeof(whole) ||
	    offers_has(offers, whole))
		return;
	offer = json_pack("{s:s, s:s}", "word", whole, "help", help);
	if (offer)
		json_array_append_new(offers->words, offer);
}

static const char *const offers_files_names[] = {
	[OFFERS_NO_FILES] = "none",
	[OFFERS_FILES] = "files",
	[OFFERS_DIRECTORIES] = "directories",
};

json_t *offers_json(struct offers *offers)
{
	return json_pack("{s:s, s:O}", "files", offers_files_names[offers->files], "words",
			 offers->words);
}

void offers_print(const struct offers *offers)
{
	const json_t *offer;
	size_t at;

	if (offers->files != OFFERS_NO_FILES)
		printf(":%s\n", offers_files_names[offers->files]);
	json_array_foreach (offers->words, at, offer)
		printf("%s\t%s\n", json_string_value(json_object_get(offer, "word")),
		       json_string_value(json_object_get(offer, "help")));
}

/* The bonds and devices that there are. */

/* NULL if bondd does not answer soon. */
static json_t *live_ask(const struct cli *cli, const char *method, const char *bond)
{
	json_t *request = json_pack("{s:s}", "method", method), *reply = NULL, *result;
	struct err err;

	if (bond)
		json_object_set_new(request, "bond", json_string(bond));
	if (client_call(cli->paths.run_dir, request, CLIENT_WAIT_SHORT_S, &reply, &err))
		reply = NULL;
	json_decref(request);
	result = json_incref(json_object_get(reply, "result"));
	json_decref(reply);
	return result;
}

static void live_bond_by_pins(const struct pins *pins, struct live_bond *bond)
{
	bond->known = true;
	bond->mode = pins->bond->mode;
	snprintf(bond->port, sizeof(bond->port), "%s", pins->bond->port_name);
	pins_for_each_member (pins, slot)
		json_array_append_new(bond->slaves, json_string(pins->slaves[slot].name));
}

static void live_bond_by_bondd(const struct cli *cli, const char *name, struct live_bond *bond)
{
	json_t *result = live_ask(cli, "show", name), *view = json_object_get(result, "view");
	const char *word = json_string_value(json_object_get(view, "mode"));
	const struct mode *mode = word ? mode_by_name(word) : NULL;
	const json_t *slave;
	size_t at;

	bond->known = mode;
	bond->mode = mode ? mode->number : 0;
	json_array_foreach (json_object_get(view, "slaves"), at, slave)
		json_array_append(bond->slaves, json_object_get(slave, "name"));
	json_decref(result);
}

void live_bond_read(const struct cli *cli, const char *name, struct live_bond *ret_bond)
{
	struct pins pins;
	struct err err;
	int r;

	*ret_bond = (struct live_bond){ .slaves = json_array() };
	if (!name || name_check("bond", name, &err))
		return;
	r = pins_open(&pins, cli->paths.bpf_dir, name, &err);
	if (r == -EPERM || r == -EACCES) {
		live_bond_by_bondd(cli, name, ret_bond);
	} else if (!r) {
		live_bond_by_pins(&pins, ret_bond);
		pins_close(&pins);
	}
}

void live_bond_done(struct live_bond *bond)
{
	json_decref(bond->slaves);
}

static json_t *live_bonds(const struct cli *cli)
{
	json_t *bonds;
	char **names;
	struct err err;
	int r = pins_names(&names, cli->paths.bpf_dir, &err);

	if (!r && !pins_on_bpffs(cli->paths.bpf_dir)) { /* they are hidden here */
		memory_free_texts(names);
		r = -EACCES;
	}
	if (r == -EPERM || r == -EACCES)
		return live_ask(cli, "list", NULL);
	if (r)
		return NULL;
	bonds = json_array();
	for (char **name = names; *name; name++)
		json_array_append_new(bonds, json_string(*name));
	memory_free_texts(names);
	return bonds;
}

static void live_offer(const json_t *names, const char *help, struct offers *offers)
{
	const json_t *name;
	size_t at;

	json_array_foreach (names, at, name)
		if (json_is_string(name))
			offers_add(offers, json_string_value(name), help);
}

void live_offer_bonds(const struct cli *cli, struct offers *offers)
{
	json_t *bonds = live_bonds(cli), *name;
	size_t at;

	json_array_foreach (bonds, at, name) {
		struct live_bond bond;

		live_bond_read(cli, json_string_value(name), &bond);
		offers_add(offers, json_string_value(name), bond.known ? mode_name(bond.mode) : "");
		live_bond_done(&bond);
	}
	json_decref(bonds);
}

void live_offer_configured(const struct cli *cli, struct offers *offers)
{
	DIR *dir = opendir(cli->paths.config_dir);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char *end = strrchr(entry->d_name, '.');

		if (entry->d_name[0] == '.' || !end || strcmp(end, PATHS_CONFIG_SUFFIX) != 0)
			continue;
		*end = '\0';
		offers_add(offers, entry->d_name, "has a configuration file");
	}
	if (dir)
		closedir(dir);
}

static void live_take_kernel_bond(const struct link_info *link, void *arg)
{
	if (!strcmp(link->kind, "bond") || !strcmp(link->kind, "team"))
		offers_add(arg, link->name, link->kind);
}

static void live_visit_devices(link_visitor visit, void *arg)
{
	struct nl nl;

	if (nl_init(&nl))
		return;
	link_visit(&nl, -1, visit, arg);
	nl_done(&nl);
}

void live_offer_kernel_bonds(const struct cli *cli, struct offers *offers)
{
	live_visit_devices(live_take_kernel_bond, offers);
}

void live_offer_slaves(const struct cli *cli, const char *bond, struct offers *offers)
{
	struct live_bond live;

	live_bond_read(cli, bond, &live);
	live_offer(live.slaves, "slave", offers);
	live_bond_done(&live);
}

/* The names of bonds, their port sides and their slaves: { NAME: true }. */
static json_t *live_taken(const struct cli *cli)
{
	json_t *bonds = live_bonds(cli), *taken = json_object(), *name, *slave;
	size_t at, i;

	json_array_foreach (bonds, at, name) {
		struct live_bond bond;

		live_bond_read(cli, json_string_value(name), &bond);
		json_object_set_new(taken, json_string_value(name), json_true());
		json_object_set_new(taken, bond.port, json_true());
		json_array_foreach (bond.slaves, i, slave)
			json_object_set_new(taken, json_string_value(slave), json_true());
		live_bond_done(&bond);
	}
	json_decref(bonds);
	return taken;
}

struct live_devices {
	json_t *taken;
	struct offers *offers;
};

static void live_take_device(const struct link_info *link, void *arg)
{
	struct live_devices *devices = arg;

	if (link->type == ARPHRD_ETHER && !link->master &&
	    !json_object_get(devices->taken, link->name))
		offers_add(devices->offers, link->name, link->kind);
}

void live_offer_devices(const struct cli *cli, struct offers *offers)
{
	struct live_devices devices = { live_taken(cli), offers };

	live_visit_devices(live_take_device, &devices);
	json_decref(devices.taken);
}
