/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Profiles of NetworkManager: a bond is one, and each of its ports another one. */
#include "cli/import/networkmanager.h"

#include <string.h>

static const struct import_key nm_bond_keys[] = {
	{ .name = "balance-slb",
	  .why_lost = "xbond does not have this way to share traffic; without it the switch must "
		      "be configured for the bond",
	  .convert = import_switch,
	  .usual = "off" },
	{ .name = "interface-name", .becomes = "the name of the file" },
	{ .name = NULL },
};

static const struct import_key nm_port_keys[] = {
	{ .name = "queue-id", .option = OPT_QUEUE_ID },
	{ .name = "prio", .option = OPT_PRIO },
	{ .name = NULL },
};

static const struct import_key nm_ifcfg_keys[] = {
	{ .name = "BONDING_OPTS", .becomes = "(the options in it, as those of [bond])" },
	{ .name = "BOND_PORT_QUEUE_ID", .becomes = "queue_id" },
	{ .name = "BOND_PORT_PRIO", .becomes = "prio" },
	{ .name = "MASTER", .becomes = "[slave DEV]" },
	{ .name = "MASTER_UUID", .becomes = "[slave DEV]" },
	{ .name = NULL },
};

const struct import_keys networkmanager_tables[] = {
	{ "[bond] and BONDING_OPTS", import_bonding_keys },
	{ "[bond], beside those", nm_bond_keys },
	{ "[bond-port]", nm_port_keys },
	{ "ifcfg files", nm_ifcfg_keys },
	{ .title = NULL },
};

static bool nm_is_bond(const struct nm_profile *profile)
{
	return !strcmp(profile->type, "bond");
}

/* Sections and keys that say whose profile it is. */
static bool nm_is_of_profile(const struct import_ini_entry *entry)
{
	return !strcmp(entry->section, "bond") || !strcmp(entry->section, "bond-port") ||
	       !strcmp(entry->section, "connection") ||
	       ((!strcmp(entry->section, "ethernet") ||
		 !strcmp(entry->section, "802-3-ethernet")) &&
		!strcmp(entry->key, "mac-address"));
}

static void nm_rest(struct import *import, const struct import_bond *bond,
		    const struct nm_profile *profile)
{
	const struct import_ini_entry *starts =
		import_ini_find(&profile->ini, "connection", "autoconnect");
	const char *on = starts ? import_switch(import, starts->value) : NULL;

	if (on && !strcmp(on, "off"))
		import_lost(import, bond, &starts->line,
			    "bondd makes the bond, with all its slaves, whenever it starts");
	for (size_t i = 0; i < profile->ini.count; i++)
		if (!nm_is_of_profile(&profile->ini.entries[i]))
			import_stays(import, bond, &profile->ini.entries[i].line);
}

static void nm_bond_entry(struct import *import, struct import_bond *bond,
			  const struct import_ini_entry *entry)
{
	const struct import_key *key = import_find_key(import_bonding_keys, entry->key, strcmp);

	if (!key)
		key = import_find_key(nm_bond_keys, entry->key, strcmp);
	if (!key)
		import_lost(import, bond, &entry->line, "xbond has no such option");
	else if (!key->becomes)
		import_apply_key(import, key, bond, NULL, entry->value, &entry->line);
}

static struct import_line nm_line(const struct nm_profile *profile)
{
	const struct import_ini_entry *first = profile->ini.entries;
	const struct import_ini_entry *name =
		import_ini_find(&profile->ini, "connection", "interface-name");

	return name ? name->line : first->line;
}

static void nm_bond(struct import *import, const struct nm_profile *profile)
{
	struct import_line line = nm_line(profile);
	bool is_new = !import_find_bond(import, profile->interface);
	struct import_bond *bond = import_bond(import, profile->interface, &line);

	if (!bond)
		return;
	if (!is_new) {
		import_lost(import, bond, &line, "an earlier profile is for %s, too", bond->name);
		return;
	}
	for (size_t i = 0; i < profile->ini.count; i++)
		if (!strcmp(profile->ini.entries[i].section, "bond"))
			nm_bond_entry(import, bond, &profile->ini.entries[i]);
	if (profile->controller)
		import_stays(import, bond, &profile->controller->line);
	nm_rest(import, bond, profile);
}

/* The bond that a profile means by the name of its interface, its UUID or its own name. */
static struct import_bond *nm_find_bond(const struct import *import,
					const struct nm_profiles *profiles, const char *word)
{
	for (size_t i = 0; i < profiles->count; i++) {
		const struct nm_profile *profile = &profiles->list[i];

		if (nm_is_bond(profile) &&
		    (!strcmp(profile->interface, word) || !strcmp(profile->uuid, word) ||
		     !strcmp(profile->id, word)))
			return import_find_bond(import, profile->interface);
	}
	return NULL;
}

static const char *nm_mac(const struct nm_profile *profile)
{
	const char *mac = import_ini_value(&profile->ini, "ethernet", "mac-address");

	return *mac ? mac : import_ini_value(&profile->ini, "802-3-ethernet", "mac-address");
}

static void nm_port(struct import *import, struct import_bond *bond,
		    const struct nm_profile *profile)
{
	const char *name = profile->interface;
	struct import_slave *slave;

	if (!*name)
		name = import_mac(import, nm_mac(profile));
	if (!*name) {
		import_lost(import, bond, &profile->controller->line,
			    "the profile does not name its device; add [slave DEV]");
		return;
	}
	slave = import_slave(import, bond, name, &profile->controller->line);
	for (size_t i = 0; slave && i < profile->ini.count; i++) {
		const struct import_ini_entry *entry = &profile->ini.entries[i];
		const struct import_key *key = import_find_key(nm_port_keys, entry->key, strcmp);

		if (strcmp(entry->section, "bond-port"))
			continue;
		if (key)
			import_apply_key(import, key, bond, slave, entry->value, &entry->line);
		else
			import_lost(import, bond, &entry->line, "xbond has no such option");
	}
	nm_rest(import, bond, profile);
}

static bool nm_says_bond_port(const struct nm_profile *profile)
{
	return !strcmp(import_ini_value(&profile->ini, "connection", "slave-type"), "bond") ||
	       !strcmp(import_ini_value(&profile->ini, "connection", "port-type"), "bond");
}

static void nm_other(struct import *import, const struct nm_profiles *profiles,
		     const struct nm_profile *profile)
{
	const struct import_ini_entry *parent = import_ini_find(&profile->ini, "vlan", "parent");
	struct import_bond *bond = NULL;

	if (profile->controller) {
		bond = nm_find_bond(import, profiles, profile->controller->value);
		if (bond)
			nm_port(import, bond, profile);
		else if (nm_says_bond_port(profile))
			import_lost(import, NULL, &profile->controller->line,
				    "no profile of this bond was read");
	} else if (parent) {
		bond = nm_find_bond(import, profiles, parent->value);
		if (bond)
			import_stays(import, bond, &parent->line);
	}
}

int networkmanager_read(struct import *import, const struct import_request *request,
			struct err *err)
{
	struct nm_profiles profiles = { 0 };
	int r = nm_read_profiles(import, request, &profiles, err);

	if (r)
		return r;
	for (size_t i = 0; i < profiles.count; i++)
		if (nm_is_bond(&profiles.list[i]))
			nm_bond(import, &profiles.list[i]);
	for (size_t i = 0; i < profiles.count; i++)
		if (!nm_is_bond(&profiles.list[i]))
			nm_other(import, &profiles, &profiles.list[i]);
	return 0;
}
