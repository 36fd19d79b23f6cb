/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * systemd.netdev(5) says what a bond is, systemd.network(5) which devices are its slaves. Each file
 * has drop-ins, NAME.d/, and a file of an earlier directory replaces those of its name in others.
 * For a device only the first .network file counts that matches it, and of the .netdev files of one
 * device only the first, in the order of the files' names.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/import/import_files.h"
#include "common/paths.h"

/* The section [Match] of a .network file, asked about a device of which little is known. */

#define NETWORKD_MATCH_KEYS 4

/* Read once, because it is asked about many devices. */
struct networkd_match {
	bool is_there;				/* systemd passes over a file without it */
	const char *lists[NETWORKD_MATCH_KEYS]; /* by the keys about name, type and address */
	bool has_others;			/* keys about what is not known */
};

enum networkd_answer { NETWORKD_OTHER, NETWORKD_MAYBE, NETWORKD_MATCHES };

static const char *const match_keys[NETWORKD_MATCH_KEYS + 1] = { "Name", "Type", "MACAddress",
								 "PermanentMACAddress", NULL };

static bool networkd_match_word(struct import *import, const char *word, size_t length,
				const char *device, bool is_mac)
{
	char text[256];

	if (length >= sizeof(text))
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)length, word);
	return is_mac ? !strcasecmp(import_mac(import, text), device) : !fnmatch(text, device, 0);
}

static enum networkd_answer networkd_match_list(struct import *import, const char *list,
						const char *device, bool is_mac)
{
	bool is_inverted = *list == '!', found = false;
	size_t length;

	for (list += is_inverted; !found && *list; list += length) {
		list += strspn(list, " \t");
		length = strcspn(list, " \t");
		found = length && networkd_match_word(import, list, length, device, is_mac);
	}
	return found != is_inverted ? NETWORKD_MATCHES : NETWORKD_OTHER;
}

/* A device that can be a slave is of the type ether. */
static enum networkd_answer networkd_match_key(struct import *import, const char *list,
					       const char *key, const char *device)
{
	bool is_name = !strcmp(key, "Name"), is_mac = strstr(key, "MACAddress");
	bool known_by_mac = strchr(device, ':');

	if (!*list || (is_name && !strcmp(list, "*")))
		return NETWORKD_MATCHES;
	if ((is_name && !known_by_mac) || (is_mac && known_by_mac))
		return networkd_match_list(import, list, device, is_mac);
	if (!strcmp(key, "Type"))
		return networkd_match_list(import, list, "ether", false);
	return NETWORKD_MAYBE;
}

/* device: a name or a MAC address. All keys have to match. */
static enum networkd_answer
networkd_match_device(struct import *import, const struct networkd_match *match, const char *device)
{
	enum networkd_answer all = match->has_others ? NETWORKD_MAYBE : NETWORKD_MATCHES;

	if (!match->is_there)
		return NETWORKD_OTHER;
	for (size_t i = 0; i < NETWORKD_MATCH_KEYS; i++) {
		enum networkd_answer one =
			networkd_match_key(import, match->lists[i], match_keys[i], device);

		all = one < all ? one : all;
	}
	return all;
}

static void networkd_match_read(struct import *import, const struct import_ini *ini,
				struct networkd_match *ret_match)
{
	*ret_match = (struct networkd_match){ .is_there = import_ini_has_section(ini, "Match") };
	for (size_t i = 0; i < NETWORKD_MATCH_KEYS; i++)
		ret_match->lists[i] = import_ini_list(import, ini, "Match", match_keys[i]);
	import_for_each_entry (entry, ini)
		ret_match->has_others |= !strcmp(entry->section, "Match") &&
					 !import_is_among(entry->key, match_keys);
}

/* Units: bonds, and the devices that are their slaves. */

#define NETWORKD_MAX_NAMES 1024 /* of a [Match] */

/* systemd takes these by name, though the kernel's driver takes numbers as well. */
static const char *networkd_name(struct import *import, const char *value)
{
	return value[strspn(value, "0123456789")] ? value : NULL;
}

static const struct import_key networkd_bond_keys[] = {
	{ "Mode", .option = OPT_MODE, .convert = networkd_name },
	{ "TransmitHashPolicy", .option = OPT_XMIT_HASH_POLICY, .convert = networkd_name },
	{ "LACPTransmitRate", .option = OPT_LACP_RATE, .convert = networkd_name },
	{ "MIIMonitorSec", .option = OPT_MIIMON, .convert = import_ms_of_s },
	{ "UpDelaySec", .option = OPT_UPDELAY, .convert = import_ms_of_s },
	{ "DownDelaySec", .option = OPT_DOWNDELAY, .convert = import_ms_of_s },
	{ "LearnPacketIntervalSec", .option = OPT_LP_INTERVAL, .convert = import_s_of_s },
	{ "AdSelect", .option = OPT_AD_SELECT, .convert = networkd_name },
	{ "AdActorSystemPriority", .option = OPT_AD_ACTOR_SYS_PRIO },
	{ "AdUserPortKey", .option = OPT_AD_USER_PORT_KEY },
	{ "AdActorSystem", .option = OPT_AD_ACTOR_SYSTEM, .convert = import_mac },
	{ "FailOverMACPolicy", .option = OPT_FAIL_OVER_MAC, .convert = networkd_name },
	{ "ARPValidate", .option = OPT_ARP_VALIDATE, .convert = networkd_name },
	{ "ARPIntervalSec", .option = OPT_ARP_INTERVAL, .convert = import_ms_of_s },
	{ "ARPIPTargets", .option = OPT_ARP_IP_TARGET, .convert = import_list, .more = true },
	{ "ARPAllTargets", .option = OPT_ARP_ALL_TARGETS, .convert = networkd_name },
	{ "ARPMissedMax", .option = OPT_ARP_MISSED_MAX },
	{ "PrimaryReselectPolicy", .option = OPT_PRIMARY_RESELECT, .convert = networkd_name },
	{ "ResendIGMP", .option = OPT_RESEND_IGMP },
	{ "PeerNotifyDelaySec", .option = OPT_PEER_NOTIF_DELAY, .convert = import_ms_of_s },
	{ "PacketsPerSlave", .option = OPT_PACKETS_PER_SLAVE },
	{ "GratuitousARP", .option = OPT_NUM_GRAT_ARP },
	{ "AllSlavesActive", .option = OPT_ALL_SLAVES_ACTIVE, .convert = import_switch },
	{ "DynamicTransmitLoadBalancing", .option = OPT_TLB_DYNAMIC_LB, .convert = import_switch },
	{ "MinLinks", .option = OPT_MIN_LINKS },
	{ .name = NULL },
};

static const struct import_key networkd_network_keys[] = {
	{ "Bond", .becomes = "[slave DEV]" },
	{ "PrimarySlave", .becomes = "primary" },
	{ "ActiveSlave", .why_lost = IMPORT_STATE, .convert = import_switch, .usual = "off" },
	{ .name = NULL },
};

const struct import_keys networkd_tables[] = {
	{ "[Bond] of a .netdev file", networkd_bond_keys },
	{ "[Network] of a .network file", networkd_network_keys },
	{ .title = NULL },
};

/* A file with its drop-ins. */
struct networkd_unit {
	const char *path;
	const char *name; /* of the file, by which they are in order */
	struct import_ini ini;
	bool is_netdev;
	struct networkd_match match;
};

struct networkd {
	struct import *import;
	const char *const *own; /* systemd's directories; NULL: files are given */
	struct networkd_unit *units;
	size_t count;
};

static bool networkd_is_bond(const struct networkd_unit *unit)
{
	return unit->is_netdev && !strcmp(import_ini_value(&unit->ini, "NetDev", "Kind"), "bond");
}

static void networkd_bond_entry(struct import *import, struct import_bond *bond,
				const struct import_ini_entry *entry)
{
	const struct import_key *key = import_find_key(networkd_bond_keys, entry->key);

	if (!key || *entry->value)
		import_apply_key(import, key, bond, NULL, entry->value, &entry->line);
	else if (key->more) /* the empty value ends the list so far */
		import_option(import, bond, NULL, key->option, "", false, &entry->line);
}

/* Returns whether systemd passes over this file, because an earlier one has its device. */
static bool networkd_is_too_late(const struct networkd *networkd, const struct networkd_unit *unit,
				 const struct import_ini_entry *name)
{
	struct import_bond *bond = import_find_bond(networkd->import, name->value);
	const struct networkd_unit *earlier = networkd->units;

	while (earlier != unit &&
	       (!earlier->is_netdev ||
		strcmp(import_ini_value(&earlier->ini, "NetDev", "Name"), name->value) != 0))
		earlier++;
	if (earlier == unit)
		return false;
	if (import_ini_has_section(&earlier->ini, "Match"))
		import_refuse(networkd->import, bond, &name->line,
			      "systemd reads this file only if [Match] of %s does not match",
			      earlier->path);
	else
		import_lost(networkd->import, bond, &name->line,
			    "systemd ignores this file, because %s comes first", earlier->path);
	return true;
}

static void networkd_netdev(const struct networkd *networkd, const struct networkd_unit *unit)
{
	const struct import_ini_entry *name = import_ini_find(&unit->ini, "NetDev", "Name");
	struct import *import = networkd->import;
	struct import_bond *bond = NULL;

	if (name && !networkd_is_too_late(networkd, unit, name))
		bond = import_bond(import, name->value, &name->line);
	if (!bond)
		return;
	import_for_each_entry (entry, &unit->ini) {
		if (!strcmp(entry->section, "Bond"))
			networkd_bond_entry(import, bond, entry);
		else if (!strcmp(entry->section, "Match"))
			import_lost(import, bond, &entry->line,
				    "bondd does not test this; it makes the bond on any machine "
				    "that has its file");
		else if (strcmp(entry->section, "NetDev") ||
			 (strcmp(entry->key, "Name") && strcmp(entry->key, "Kind")))
			import_stays(import, bond, &entry->line);
	}
	if (!import_ini_find(&unit->ini, "Bond", "Mode"))
		import_changed(import, bond, &name->line, IMPORT_NO_MODE);
}

/* Whether systemd leaves the devices of the file as they are. */
static bool networkd_is_unmanaged(const struct networkd_unit *unit)
{
	return import_is_on(import_ini_value(&unit->ini, "Link", "Unmanaged"));
}

/*
 * Whether an earlier .network file has the device. One that may have it, as far as its [Match]
 * tells, leaves it to this file, with a remark.
 */
static bool networkd_is_taken(const struct networkd *networkd, const struct networkd_unit *unit,
			      const char *device, struct import_bond *bond,
			      const struct import_line *line)
{
	const struct networkd_unit *perhaps = NULL;

	for (const struct networkd_unit *other = networkd->units; other != unit; other++) {
		enum networkd_answer answer;

		if (other->is_netdev ||
		    (!strcmp(import_ini_value(&other->ini, "Network", "Bond"), bond->name) &&
		     !networkd_is_unmanaged(other)))
			continue;
		answer = networkd_match_device(networkd->import, &other->match, device);
		if (answer == NETWORKD_MATCHES) {
			import_lost(networkd->import, bond, line,
				    "%s is not a slave, because systemd applies the first file "
				    "that matches it, %s",
				    device, other->path);
			return true;
		}
		if (answer == NETWORKD_MAYBE && !perhaps)
			perhaps = other;
	}
	if (perhaps)
		import_changed(networkd->import, bond, line,
			       "%s is a slave unless [Match] of %s, which comes first, matches it",
			       device, perhaps->path);
	return false;
}

/* The names that [Match] gives, or MAC addresses; NULL if it finds devices in another way. */
static char *networkd_names(struct import *import, const struct networkd_unit *unit)
{
	static const char *const keys[] = { "Name", "PermanentMACAddress", "MACAddress" };
	char *names = NULL;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && (!names || !*names); i++)
		names = import_ini_list(import, &unit->ini, "Match", keys[i]);
	return *names && !strpbrk(names, "*?[!") ? names : NULL;
}

/* Those keys of [Match] that are not about the device. */
static bool networkd_is_condition(const char *key)
{
	return import_is_one_of(key, "Host", "Virtualization", "KernelCommandLine", "KernelVersion",
				"Version", "Credential", "Architecture", "Firmware");
}

static void networkd_rest(struct import *import, const struct import_bond *bond,
			  const struct networkd_unit *unit)
{
	import_for_each_entry (entry, &unit->ini) {
		if (!strcmp(entry->section, "Match") && networkd_is_condition(entry->key))
			import_lost(import, bond, &entry->line,
				    "bondd does not test this; it adds the slave on any machine "
				    "that has it");
		else if (strcmp(entry->section, "Match") &&
			 (strcmp(entry->section, "Network") ||
			  !import_find_key(networkd_network_keys, entry->key)))
			import_stays(import, bond, &entry->line);
	}
}

static void networkd_slave(const struct networkd *networkd, struct import_bond *bond,
			   const char *name, const struct networkd_unit *unit,
			   const struct import_ini_entry *of)
{
	struct import *import = networkd->import;
	const struct import_ini_entry *primary =
		import_ini_find(&unit->ini, "Network", "PrimarySlave");

	if (networkd_is_taken(networkd, unit, name, bond, &of->line))
		return;
	if (import_slave(import, bond, name, &of->line) && primary && import_is_on(primary->value))
		import_option(import, bond, NULL, OPT_PRIMARY, name, false, &primary->line);
}

static void networkd_slaves(const struct networkd *networkd, const struct networkd_unit *unit,
			    const struct import_ini_entry *of)
{
	struct import *import = networkd->import;
	const struct import_ini_entry *active =
		import_ini_find(&unit->ini, "Network", "ActiveSlave");
	bool is_new = !import_find_bond(import, of->value);
	struct import_bond *bond = import_bond(import, of->value, &of->line);
	char *names = networkd_names(import, unit), *name;

	if (!bond)
		return;
	if (is_new)
		import_refuse(import, bond, &of->line,
			      "no .netdev file of %s was read, so its mode is not known; "
			      "import that one, too",
			      bond->name);
	if (!names)
		import_refuse(import, bond, &of->line,
			      "[Match] does not name the devices; add Name=");
	for (int i = 0; names && i < NETWORKD_MAX_NAMES; i++)
		if ((name = import_next_word(&names, " \t")))
			networkd_slave(networkd, bond, import_mac(import, name), unit, of);
	if (names && import_next_word(&names, " \t"))
		import_refuse(import, bond, &of->line, "[Match] names more than %d devices",
			      NETWORKD_MAX_NAMES);
	if (active)
		import_apply_key(import, import_find_key(networkd_network_keys, "ActiveSlave"),
				 bond, NULL, active->value, &active->line);
	networkd_rest(import, bond, unit);
}

/* Whose file this is: the bond's own, if that is one of the names. */
static const struct import_bond *networkd_own(struct import *import,
					      const struct networkd_unit *unit)
{
	char *names = networkd_names(import, unit), *name;
	const struct import_bond *bond = NULL;

	while (!bond && names && (name = import_next_word(&names, " \t")))
		bond = import_find_bond(import, name);
	return bond;
}

static void networkd_network(const struct networkd *networkd, const struct networkd_unit *unit)
{
	struct import *import = networkd->import;
	const struct import_ini_entry *of = import_ini_find(&unit->ini, "Network", "Bond");
	const struct import_bond *bond;

	if (of && *of->value && networkd_is_unmanaged(unit))
		import_lost(import, import_find_bond(import, of->value), &of->line,
			    "with Unmanaged=yes systemd does not enslave its devices");
	else if (of && *of->value)
		networkd_slaves(networkd, unit, of);
	else if ((bond = networkd_own(import, unit)))
		networkd_rest(import, bond, unit);
}

/* For example one with Kind=Bond, which systemd does not take for a bond. */
static void networkd_other_netdev(struct import *import, const struct networkd_unit *unit)
{
	const struct import_ini_entry *kind = import_ini_find(&unit->ini, "NetDev", "Kind");

	if (import_ini_has_section(&unit->ini, "Bond"))
		import_lost(import, NULL, kind ? &kind->line : &unit->ini.entries[0].line,
			    "systemd makes a bond only with Kind=bond");
}

static int networkd_compare(const void *left, const void *right)
{
	const struct networkd_unit *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	return order ? order : strcmp(a->path, b->path);
}

static void networkd_take(const struct networkd *networkd)
{
	if (networkd->count)
		qsort(networkd->units, networkd->count, sizeof(*networkd->units), networkd_compare);
	for (size_t i = 0; i < networkd->count; i++)
		if (networkd_is_bond(&networkd->units[i]))
			networkd_netdev(networkd, &networkd->units[i]);
		else if (networkd->units[i].is_netdev)
			networkd_other_netdev(networkd->import, &networkd->units[i]);
	for (size_t i = 0; i < networkd->count; i++)
		if (!networkd->units[i].is_netdev)
			networkd_network(networkd, &networkd->units[i]);
}

/* Drop-ins may be in directories NAME.d: beside the file, if it is not one of systemd's own. */
static int networkd_read_unit(void *context, const char *path, struct err *err)
{
	struct networkd *networkd = context;
	struct networkd_unit unit = { .path = path, .name = paths_base(path) };
	const char *const beside[] = { unit.name > path
					       ? import_text(networkd->import, "%.*s",
							     (int)(unit.name - path - 1), path)
					       : ".",
				       NULL };
	int r = import_ini_read_unit(networkd->import, path, networkd->own ? networkd->own : beside,
				     &unit.ini, err);

	if (r)
		return r;
	unit.is_netdev = import_ini_has_section(&unit.ini, "NetDev");
	networkd_match_read(networkd->import, &unit.ini, &unit.match);
	networkd->units =
		import_grow(networkd->import, networkd->units, networkd->count, sizeof(unit));
	networkd->units[networkd->count++] = unit;
	return 0;
}

int networkd_read(struct import *import, const struct import_request *request, struct err *err)
{
	const char *const own[] = { import_path(import, "/etc/systemd/network"),
				    import_path(import, "/run/systemd/network"),
				    import_path(import, "/usr/local/lib/systemd/network"),
				    import_path(import, "/usr/lib/systemd/network"), NULL };
	const char *const suffixes[] = { ".netdev", ".network", NULL };
	struct networkd networkd = { .import = import, .own = request->file_count ? NULL : own };
	int r = import_read_files(import, request, own, suffixes, networkd_read_unit, &networkd,
				  err);

	if (!r)
		networkd_take(&networkd);
	return r;
}
