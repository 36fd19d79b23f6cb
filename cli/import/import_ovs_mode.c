/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/import/import_ovs_mode.h"

#include <string.h>

#include "cli/import/import_files.h"

const struct import_key ovs_port_keys[] = {
	{ .name = "name", .becomes = "the name of the file" },
	{ .name = "interfaces", .becomes = "[slave DEV]" },
	{ .name = "bond_mode", .becomes = "mode and xmit_hash_policy" },
	{ .name = "lacp", .becomes = "mode and lacp_active" },
	{ .name = "bond_updelay", .option = OPT_UPDELAY },
	{ .name = "bond_downdelay", .option = OPT_DOWNDELAY },
	{ .name = "bond_fake_iface", .becomes = "(nothing: every bond of xbond is a device)" },
	{ .name = NULL },
};

const struct import_key ovs_port_config_keys[] = {
	{ .name = "bond-primary", .option = OPT_PRIMARY },
	{ .name = "bond-detect-mode",
	  .why_lost = "xbond asks the kernel for carrier, and never the registers of the MII",
	  .usual = "carrier" },
	{ .name = "bond-miimon-interval", .option = OPT_MIIMON },
	{ .name = "lacp-time", .option = OPT_LACP_RATE },
	{ .name = "lacp-system-id", .option = OPT_AD_ACTOR_SYSTEM },
	{ .name = "lacp-system-priority", .option = OPT_AD_ACTOR_SYS_PRIO },
	{ .name = "lacp-fallback-ab", .becomes = "lacp_fallback" },
	{ .name = "all-members-active", .option = OPT_ALL_SLAVES_ACTIVE, .convert = import_switch },
	{ .name = "all-slaves-active", .option = OPT_ALL_SLAVES_ACTIVE, .convert = import_switch },
	{ .name = "bond-hash-basis", .option = OPT_HASH_SEED },
	{ .name = "bond-rebalance-interval",
	  .why_lost = "set rebalance_interval, in seconds, instead",
	  .usual = "0" },
	{ .name = "lb-output-action",
	  .why_lost = "it is of the datapath of Open vSwitch",
	  .convert = import_switch,
	  .usual = "off" },
	{ .name = NULL },
};

static bool ovs_is(const char *text, const char *word)
{
	return text && !strcmp(text, word);
}

bool ovs_knows_mode(const char *mode)
{
	return ovs_is(mode, "active-backup") || ovs_is(mode, "balance-slb") ||
	       ovs_is(mode, "balance-tcp");
}

static bool ovs_has_lacp(const struct ovs_mode *ovs)
{
	return ovs_is(ovs->lacp, "active") || ovs_is(ovs->lacp, "passive");
}

/* Without LACP the members share traffic only as far as any switch bears it. */
static void ovs_set_static(struct import *import, struct import_bond *bond,
			   const struct ovs_mode *ovs)
{
	import_option(import, bond, NULL, OPT_MODE, "active-backup", false, &ovs->mode_line);
	if (ovs_is(ovs->mode, "balance-slb"))
		import_changed(import, bond, &ovs->mode_line,
			       "xbond does not have this mode; active-backup is written, which "
			       "needs as little from the switch, but uses one slave at a time");
	if (ovs_is(ovs->mode, "balance-tcp"))
		import_changed(import, bond, &ovs->mode_line,
			       "without LACP this bond carries no balanced traffic; active-backup "
			       "is written");
}

static void ovs_set_lacp(struct import *import, struct import_bond *bond,
			 const struct ovs_mode *ovs)
{
	const struct import_line *line = &ovs->lacp_line;

	import_option(import, bond, NULL, OPT_MODE, "802.3ad", false, line);
	import_option(import, bond, NULL, OPT_LACP_ACTIVE,
		      ovs_is(ovs->lacp, "active") ? "on" : "off", false, line);
	/* Without a partner Open vSwitch disables the bond, unless lacp-fallback-ab is true. */
	import_option(import, bond, NULL, OPT_LACP_FALLBACK, ovs->falls_back ? "one" : "none",
		      false, line);
	if (ovs_is(ovs->mode, "balance-tcp")) {
		import_option(import, bond, NULL, OPT_XMIT_HASH_POLICY, "layer3+4", false,
			      &ovs->mode_line);
	} else if (ovs_is(ovs->mode, "balance-slb")) {
		import_option(import, bond, NULL, OPT_XMIT_HASH_POLICY, "vlan+srcmac", false,
			      &ovs->mode_line);
	} else {
		import_option(import, bond, NULL, OPT_MAX_LINKS, "1", false, &ovs->mode_line);
		import_changed(import, bond, &ovs->mode_line,
			       "with LACP it becomes 802.3ad with one port in use (max_links 1)");
	}
}

void ovs_set_mode(struct import *import, struct import_bond *bond, const struct ovs_mode *ovs)
{
	bond->is_not_of_driver = true;
	if (ovs->mode && !ovs_knows_mode(ovs->mode))
		import_refuse(import, bond, &ovs->mode_line, "Open vSwitch has no such mode");
	if (ovs->lacp && !ovs_has_lacp(ovs) && strcmp(ovs->lacp, "off") != 0)
		import_refuse(import, bond, &ovs->lacp_line, "lacp is active, passive or off");
	if (ovs_has_lacp(ovs))
		ovs_set_lacp(import, bond, ovs);
	else
		ovs_set_static(import, bond, ovs);
}

bool ovs_ignores(const struct import_bond *bond, enum option_id id)
{
	const struct import_option *mode = import_find_option(&bond->options, OPT_MODE);

	return (id == OPT_UPDELAY || id == OPT_DOWNDELAY) && mode &&
	       mode->value.number == XBOND_MODE_8023AD;
}

/* The value of a word "KEY=VALUE"; NULL: it is another word. */
static const char *ovs_value(const char *word, const char *key)
{
	size_t length = strlen(key);

	return !strncmp(word, key, length) && word[length] == '=' ? word + length + 1 : NULL;
}

/* Returns its part behind "other_config:", or NULL. ovs-vsctl takes '-' for '_'. */
static const char *ovs_config_word(const char *word)
{
	return !strncmp(word, "other_config:", 13) || !strncmp(word, "other-config:", 13)
		       ? word + 13
		       : NULL;
}

static void ovs_take_mode_word(struct import *import, struct ovs_mode *ovs, const char *word,
			       const struct import_line *line)
{
	const char *config = ovs_config_word(word), *value;

	if ((value = ovs_value(word, "bond_mode"))) {
		ovs->mode = import_text(import, "%s", value);
		ovs->mode_line = *line;
	} else if ((value = ovs_value(word, "lacp"))) {
		ovs->lacp = import_text(import, "%s", value);
		ovs->lacp_line = *line;
	} else if (config && (value = ovs_value(config, "lacp-fallback-ab"))) {
		ovs->falls_back = !strcmp(value, "true");
	}
}

static void ovs_take_word(struct import *import, struct import_bond *bond, const char *word,
			  const struct import_line *line)
{
	const char *config = ovs_config_word(word), *name;
	char *value = import_text(import, "%s", config ? config : word);
	const struct import_key *key;

	name = strsep(&value, "=");
	key = import_find_key(config ? ovs_port_config_keys : ovs_port_keys, name, strcmp);
	if (!key || !value)
		import_stays(import, bond, line);
	else if (!key->becomes && ovs_ignores(bond, key->option))
		import_lost(import, bond, line, OVS_IGNORES);
	else if (!key->becomes)
		import_apply_key(import, key, bond, NULL, value, line);
}

void ovs_take_settings(struct import *import, struct import_bond *bond, const char *words,
		       const struct import_line *line)
{
	struct ovs_mode ovs = { .mode_line = *line, .lacp_line = *line };
	char *rest = import_text(import, "%s", words), *word;

	while ((word = import_next_word(&rest, " \t")))
		ovs_take_mode_word(import, &ovs, word, line);
	ovs_set_mode(import, bond, &ovs);
	rest = import_text(import, "%s", words);
	while ((word = import_next_word(&rest, " \t"))) {
		struct import_line at = *line;

		at.what = import_text(import, "%s", word);
		ovs_take_word(import, bond, word, &at);
	}
}
