/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Profiles of NetworkManager: a bond or a team is one, and each of its ports another one. */
#include <string.h>

#include "cli/import/import_tools.h"

static const struct import_key nm_bond_keys[] = {
	{ "balance-slb",
	  .why_lost = "xbond has no balance-slb; without it the switch needs a link aggregation "
		      "group for the slaves",
	  .convert = import_switch, .usual = "off" },
	{ "active_slave", .option = OPT_PRIMARY }, /* its old name */
	{ "interface-name", .becomes = "the name of the file" },
	{ .name = NULL },
};

static const struct import_key nm_port_keys[] = {
	{ "queue-id", .option = OPT_QUEUE_ID },
	{ "prio", .option = OPT_PRIO },
	{ .name = NULL },
};

static const struct import_key nm_team_keys[] = {
	{ "config", .becomes = "(the keys in it, as those of teamd)" },
	{ .name = NULL },
};

static const struct import_key nm_ovs_keys[] = {
	{ "bond-mode", .becomes = "mode and xmit_hash_policy" },
	{ "lacp", .becomes = "mode and lacp_active" },
	{ "bond-updelay", .option = OPT_UPDELAY },
	{ "bond-downdelay", .option = OPT_DOWNDELAY },
	{ "ovs-other-config", .becomes = "(what bondctl import ovs makes of this section)" },
	{ .name = NULL },
};

static const struct import_key nm_ifcfg_keys[] = {
	{ "BONDING_OPTS", .becomes = "(the options in it, as those of [bond])" },
	{ "BONDING_MODULE_OPTS", .becomes = "(the options in it, as those of [bond])" },
	{ "BONDING_SLAVE0", .becomes = "[slave DEV], as all BONDING_SLAVE..." },
	{ "BOND_IFACES", .becomes = "[slave DEV], if TYPE is OVSBond" },
	{ "OVS_OPTIONS", .becomes = "(what bondctl import ovs makes of them)" },
	{ "TEAM_CONFIG", .becomes = "(the keys in it, as those of teamd)" },
	{ "TEAM_PORT_CONFIG", .becomes = "(the keys in it, as those of teamd)" },
	{ "BOND_PORT_QUEUE_ID", .becomes = "queue_id" },
	{ "BOND_PORT_PRIO", .becomes = "prio" },
	{ "MASTER", .becomes = "[slave DEV]" },
	{ "MASTER_UUID", .becomes = "[slave DEV]" },
	{ "TEAM_MASTER", .becomes = "[slave DEV]" },
	{ "TEAM_MASTER_UUID", .becomes = "[slave DEV]" },
	{ .name = NULL },
};

const struct import_keys networkmanager_tables[] = {
	{ "[bond] and BONDING_OPTS", import_bonding_keys },
	{ "[bond], beside those", nm_bond_keys },
	{ "[bond-port]", nm_port_keys },
	{ "[team] and [team-port]", nm_team_keys },
	{ "[ovs-port] with several ports", nm_ovs_keys },
	{ "ifcfg files", nm_ifcfg_keys },
	{ .title = NULL },
};

/* Sections and keys that say whose profile it is. */
static bool nm_is_of_profile(const struct import_ini_entry *entry)
{
	return import_is_one_of(entry->section, "ovs", "ovs-port", NM_UNCLEAR, "bond", "bond-port",
				"team", "slaves", "team-port", "connection") ||
	       (import_is_one_of(entry->section, "ethernet", "802-3-ethernet") &&
		!strcmp(entry->key, "mac-address"));
}

static void nm_rest(struct import *import, const struct import_bond *bond,
		    const struct nm_profile *profile)
{
	const struct import_ini_entry *starts =
		import_ini_find(&profile->ini, "connection", "autoconnect");
	const char *on = starts ? import_switch(import, starts->value) : NULL;

	if (on && !strcmp(on, "off"))
		import_lost(import, bond, &starts->line, "bondd makes the bond whenever it starts");
	import_for_each_entry (entry, &profile->ini)
		if (!nm_is_of_profile(entry) && (strcmp(profile->type, "ovs-port") != 0 ||
						 strcmp(entry->section, "ovs-other-config") != 0))
			import_stays(import, bond, &entry->line);
}

static void nm_bond_entry(struct import *import, struct import_bond *bond,
			  const struct nm_profile *profile, const struct import_ini_entry *entry)
{
	const struct import_key *key = import_find_key(nm_bond_keys, entry->key);

	if (!strcmp(entry->key, "active_slave") &&
	    import_ini_find(&profile->ini, "bond", "primary"))
		import_lost(import, bond, &entry->line, "the primary counts");
	else
		import_apply_key(import,
				 key ? key : import_find_key(import_bonding_keys, entry->key), bond,
				 NULL, entry->value, &entry->line);
	if (!strcmp(entry->key, "balance-slb") && import_is_on(entry->value))
		import_option(import, bond, NULL, OPT_XMIT_HASH_POLICY, "vlan+srcmac", false,
			      &entry->line);
}

/*
 * What sets up an ifcfg file writes its options in their order, and in the driver the monitor that
 * is set last ends the other one; import_settle() does the rest. NetworkManager prefers miimon.
 */
static void nm_last_monitor(struct import *import, struct import_bond *bond,
			    const struct import_ini_entry *entry)
{
	const struct import_option *miimon = import_find_option(&bond->options, OPT_MIIMON);
	const struct import_option *probes = import_find_option(&bond->options, OPT_ARP_INTERVAL);

	if (strcmp(entry->key, "arp_interval") != 0 || !probes || !probes->value.number ||
	    !miimon || !miimon->value.number)
		return;
	import_lost(import, bond, &miimon->line,
		    "arp_interval further down replaces it; xbond follows carrier "
		    "anyway");
	import_remove_option(&bond->options, OPT_MIIMON);
}

/* SUSE has names of configurations, too: "eth-id-02:00:5e:10:00:01" is a device by its address. */
static const char *nm_slave_name(const char *word)
{
	const char *id = strstr(word, "-id-");

	return id ? id + 4 : word;
}

static void nm_slaves(struct import *import, struct import_bond *bond,
		      const struct import_ini_entry *entry)
{
	char *rest = import_text(import, "%s", entry->value), *word;

	while ((word = import_next_word(&rest, " \t\n")))
		import_slave(import, bond, nm_slave_name(word), &entry->line);
}

/* In a keyfile the JSON has its line ends and tabs as \n and \t. */
static const char *nm_config(struct import *import, const struct import_ini_entry *entry)
{
	char *json = import_text(import, "%s", entry->value), *to = json;

	for (const char *at = json; *at; at++)
		if (at[0] == '\\' && at[1] && strchr("nrts", at[1])) {
			*to++ = ' ';
			at++;
		} else {
			*to++ = *at;
		}
	*to = '\0';
	return json;
}

/* Of a profile of a team or, with slave, of one of its ports. */
static void nm_team_entry(struct import *import, struct import_bond *bond,
			  struct import_slave *slave, const struct import_ini_entry *entry)
{
	if (!strcmp(entry->key, "runner"))
		import_refuse(import, bond, &entry->line, "only config of [team] is read");
	else if (strcmp(entry->key, "config"))
		import_lost(import, bond, &entry->line, IMPORT_NO_OPTION);
	else
		teamd_take_text(import, bond, slave, nm_config(import, entry), &entry->line);
}

/* The words that ovs-vsctl would get: in an ifcfg file they are there, in others each is a key. */
static void nm_ovs(struct import *import, struct import_bond *bond,
		   const struct nm_profile *profile, const struct import_line *line)
{
	const struct import_ini_entry *options =
		import_ini_find(&profile->ini, "ovs", "OVS_OPTIONS");
	char *words = import_text(import, "%s", options ? options->value : "");

	words[strcspn(words, "\n")] = '\0';
	import_for_each_entry (entry, &profile->ini) {
		char *key = import_text(import, "%s", entry->key);

		if (!strcmp(entry->section, "ovs-other-config"))
			words = import_text(import, "%s other_config:%s=%s", words,
					    key + (strncmp(key, "data.", 5) ? 0 : 5), entry->value);
		if (strcmp(entry->section, "ovs-port") != 0)
			continue;
		for (char *at = key; (at = strchr(at, '-'));)
			*at = '_';
		words = import_text(import, "%s %s=%s", words, key, entry->value);
	}
	ovs_take_settings(import, bond, words, options ? &options->line : line);
}

static void nm_take_bond(struct import *import, struct import_bond *bond,
			 const struct nm_profile *profile)
{
	import_for_each_entry (entry, &profile->ini) {
		if (!strcmp(entry->section, "slaves"))
			nm_slaves(import, bond, entry);
		else if (!strcmp(entry->section, "team"))
			nm_team_entry(import, bond, NULL, entry);
		else if (!strcmp(entry->section, "bond"))
			nm_bond_entry(import, bond, profile, entry);
		if (profile->is_ifcfg && !strcmp(entry->section, "bond"))
			nm_last_monitor(import, bond, entry);
	}
}

static struct import_line nm_line(const struct nm_profile *profile)
{
	const struct import_ini_entry *first = profile->ini.entries;
	const struct import_ini_entry *name =
		import_ini_find(&profile->ini, "connection", "interface-name");

	return name ? name->line : first->line;
}

/* Without the blanks that JSON may have. */
static const char *nm_plain(struct import *import, const struct import_ini_entry *entry)
{
	char *plain = import_text(import, "%s", nm_config(import, entry)), *to = plain;

	for (const char *at = plain; *at; at++)
		if (!strchr(" \t\n", *at))
			*to++ = *at;
	*to = '\0';
	return plain;
}

/* Whether the other profile has all that this one says of its bond. */
static bool nm_is_part_of(struct import *import, const struct import_ini *ini,
			  const struct import_ini *other)
{
	import_for_each_entry (entry, ini) {
		const struct import_ini_entry *same;

		if (!import_is_one_of(entry->section, "bond", "team", "slaves", "ovs", "ovs-port",
				      "ovs-other-config"))
			continue;
		same = import_ini_find(other, entry->section, entry->key);
		if (!same || strcmp(nm_plain(import, entry), nm_plain(import, same)))
			return false;
	}
	return true;
}

/* Which of two profiles for a bond is used depends on what the machine does with them. */
static void nm_again(struct import *import, struct import_bond *bond,
		     const struct nm_profiles *profiles, const struct nm_profile *profile,
		     const struct import_line *line)
{
	const struct nm_profile *first = profiles->list;

	while (!nm_is_bond(first->type) || strcmp(first->interface, profile->interface))
		first++;
	if (!strcmp(first->type, profile->type) &&
	    nm_is_part_of(import, &profile->ini, &first->ini) &&
	    nm_is_part_of(import, &first->ini, &profile->ini))
		import_lost(import, bond, line, "an earlier profile is for %s, too", bond->name);
	else
		import_refuse(import, bond, line,
			      "an earlier profile is for %s, too; import only the one in use",
			      bond->name);
}

static void nm_bond(struct import *import, const struct nm_profiles *profiles,
		    const struct nm_profile *profile)
{
	struct import_line line = nm_line(profile);
	bool is_new = !import_find_bond(import, profile->interface);
	struct import_bond *bond = import_bond(import, profile->interface, &line);

	if (!bond)
		return;
	if (!is_new) {
		nm_again(import, bond, profiles, profile, &line);
		return;
	}
	nm_take_bond(import, bond, profile);
	if (!strcmp(profile->type, "team") && !import_ini_has_section(&profile->ini, "team"))
		teamd_take_text(import, bond, NULL, "{}", &line);
	if (profile->is_ifcfg && !strcmp(profile->type, "bond") &&
	    !import_ini_find(&profile->ini, "bond", "mode") &&
	    !import_ini_has_section(&profile->ini, NM_UNCLEAR))
		import_changed(import, bond, &line, IMPORT_NO_MODE);
	if (!strcmp(profile->type, "ovsbond") || !strcmp(profile->type, "ovs-port"))
		nm_ovs(import, bond, profile, &line);
	if (profile->controller)
		import_stays(import, bond, &profile->controller->line);
	nm_rest(import, bond, profile);
}

/* A profile can mean another one by the name of its interface, its UUID or its own name. */
static bool nm_means(const struct nm_profile *profile, const char *word)
{
	return !strcmp(profile->interface, word) || !strcmp(profile->uuid, word) ||
	       !strcmp(profile->id, word);
}

/* The first profile counts that is meant by a word. */
static void nm_number_bonds(struct import *import, struct nm_profiles *profiles)
{
	for (size_t i = profiles->count; i--;) {
		const struct nm_profile *profile = &profiles->list[i];

		if (!nm_is_bond(profile->type))
			continue;
		import_index_put(import, &profiles->bonds, NULL, profile->id, profile);
		import_index_put(import, &profiles->bonds, NULL, profile->uuid, profile);
		import_index_put(import, &profiles->bonds, NULL, profile->interface, profile);
	}
}

static struct import_bond *nm_find_bond(const struct import *import,
					const struct nm_profiles *profiles, const char *word)
{
	const struct nm_profile *profile =
		*word ? import_index_get(&profiles->bonds, NULL, word) : NULL;

	return profile ? import_find_bond(import, profile->interface) : NULL;
}

/* A port of Open vSwitch is a bond if it has several interfaces. */
static bool nm_is_single(const struct nm_profiles *profiles, const struct nm_profile *port)
{
	unsigned int count = 0;

	for (size_t i = 0; i < profiles->count; i++)
		count += profiles->list[i].controller &&
			 nm_means(port, profiles->list[i].controller->value);
	return count < 2;
}

static const char *nm_mac(const struct nm_profile *profile)
{
	const char *mac = import_ini_value(&profile->ini, "ethernet", "mac-address");

	return *mac ? mac : import_ini_value(&profile->ini, "802-3-ethernet", "mac-address");
}

/* NetworkManager makes the name of a VLAN that has none. */
static const char *nm_vlan_name(struct import *import, const struct nm_profile *profile)
{
	const char *parent = import_ini_value(&profile->ini, "vlan", "parent");
	const char *id = import_ini_value(&profile->ini, "vlan", "id");

	return *parent && *id ? import_text(import, "%s.%s", parent, id) : "";
}

static bool nm_is_ethernet(const char *type)
{
	return !import_is_one_of(type, "infiniband", "ip-tunnel", "wireguard", "wpan", "6lowpan",
				 "gsm", "cdma", "pppoe");
}

static void nm_port(struct import *import, struct import_bond *bond,
		    const struct nm_profile *profile)
{
	const char *name = profile->interface;
	struct import_slave *slave;

	if (!*name)
		name = import_mac(import, nm_mac(profile));
	if (!*name)
		name = nm_vlan_name(import, profile);
	if (!*name) {
		import_refuse(import, bond, &profile->controller->line,
			      "the profile does not name its device; add [slave DEV]");
		return;
	}
	if (!nm_is_ethernet(profile->type)) {
		import_refuse(import, bond, &profile->controller->line,
			      "%s is of type %s; slaves must be Ethernet devices", name,
			      profile->type);
		return;
	}
	slave = import_slave(import, bond, name, &profile->controller->line);
	import_for_each_entry (entry, &profile->ini) {
		if (!slave)
			break;
		if (!strcmp(entry->section, "team-port"))
			nm_team_entry(import, bond, slave, entry);
		else if (!strcmp(entry->section, "bond-port"))
			import_apply_key(import, import_find_key(nm_port_keys, entry->key), bond,
					 slave, entry->value, &entry->line);
	}
	nm_rest(import, bond, profile);
}

static bool nm_says_bond_port(const struct nm_profile *profile)
{
	const char *type = import_ini_value(&profile->ini, "connection", "slave-type");

	if (!*type)
		type = import_ini_value(&profile->ini, "connection", "port-type");
	/* In ifcfg files bridges have a variable of their own. */
	return profile->is_ifcfg || !strcmp(type, "bond") || !strcmp(type, "team") ||
	       import_ini_has_section(&profile->ini, "team-port");
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
			import_refuse(import, NULL, &profile->controller->line,
				      "no profile of this bond was read, so its mode is not known; "
				      "import that one, too");
	} else if (parent) {
		bond = nm_find_bond(import, profiles, parent->value);
		if (bond)
			import_stays(import, bond, &parent->line);
	} else if (import_find_slave(import, profile->interface, &bond)) {
		nm_rest(import, bond, profile);
	}
}

/* Nobody knows what else the file says. */
static void nm_unclear(struct import *import, const struct nm_profile *profile)
{
	struct import_bond *bond = import_find_bond(import, profile->interface);

	import_for_each_entry (entry, &profile->ini)
		if (!strcmp(entry->section, NM_UNCLEAR))
			import_refuse(import, bond, &entry->line, "%s", entry->value);
}

int networkmanager_read(struct import *import, const struct import_request *request,
			struct err *err)
{
	struct nm_profiles profiles = { 0 };
	int r = nm_read_profiles(import, request, &profiles, err);

	if (r)
		return r;
	for (size_t i = 0; i < profiles.count; i++)
		if (!strcmp(profiles.list[i].type, "ovs-port") &&
		    nm_is_single(&profiles, &profiles.list[i]))
			profiles.list[i].type = "";
	nm_number_bonds(import, &profiles);
	for (size_t i = 0; i < profiles.count; i++)
		if (nm_is_bond(profiles.list[i].type))
			nm_bond(import, &profiles, &profiles.list[i]);
	for (size_t i = 0; i < profiles.count; i++)
		if (!nm_is_bond(profiles.list[i].type))
			nm_other(import, &profiles, &profiles.list[i]);
	for (size_t i = 0; i < profiles.count; i++)
		nm_unclear(import, &profiles.list[i]);
	return 0;
}
