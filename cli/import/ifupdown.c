/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * interfaces(5) with the options of the package ifenslave, those that older releases of it took,
 * and those of ifupdown2. Reads the stanzas first, because a slave may come before its bond.
 */
#include <ctype.h>
#include <string.h>

#include "cli/import/ifupdown_stanza.h"
#include "cli/import/import_files.h"
#include "cli/import/import_sources.h"

#define BLANKS " \t"

static const char *ifupdown_bypass(struct import *import, const char *value)
{
	const char *on = import_switch(import, value);

	if (!on)
		return NULL;
	return strcmp(on, "on") ? "none" : "all";
}

static const struct import_key ifupdown_keys[] = {
	{ .name = "slaves", .becomes = "[slave DEV]" },
	{ .name = "master", .becomes = "[slave DEV]" },
	{ .name = "queue_id", .becomes = "queue_id" },
	{ .name = "driver", .becomes = "(nothing: it says that the bond is xbond's)" },
	{ .name = "give_a_chance",
	  .why_lost = "bondd adds a slave whenever it appears, and waits for none" },
	{ .name = "ad_sys_priority", .option = OPT_AD_ACTOR_SYS_PRIO },
	{ .name = "ad_sys_mac_addr", .option = OPT_AD_ACTOR_SYSTEM },
	{ .name = "lacp_bypass_allow", .option = OPT_LACP_FALLBACK, .convert = ifupdown_bypass },
	{ .name = NULL },
};

const struct import_keys ifupdown_tables[] = {
	{ "bond-NAME or bond_NAME", import_bonding_keys },
	{ "bond-NAME or bond_NAME, beside those", ifupdown_keys },
	{ .title = NULL },
};

/*
 * The name without "bond-", as the kernel spells it; NULL: it is no option of a bond. ifupdown
 * hands options on in capitals with underscores, so case and '-' make no difference.
 */
static const char *ifupdown_bond_key(struct import *import, const char *key)
{
	char *name = import_text(import, "%s", key);

	for (char *at = name; *at; at++)
		*at = *at == '-' ? '_' : (char)tolower((unsigned char)*at);
	if (!strcmp(name, "slaves"))
		return name;
	return strncmp(name, "bond_", 5) ? NULL : name + 5;
}

static const struct ifupdown_option *
ifupdown_find(struct import *import, const struct ifupdown_stanza *stanza, const char *key)
{
	for (size_t i = 0; i < stanza->count; i++) {
		const char *name = ifupdown_bond_key(import, stanza->options[i].key);

		if (name && !strcmp(name, key))
			return &stanza->options[i];
	}
	return NULL;
}

/*
 * What ifenslave takes for a bond, and what older ones did. A stanza that others inherit from, and
 * that has no slaves, is only a template.
 */
static bool ifupdown_is_bond(struct import *import, const struct ifupdown_stanza *stanza)
{
	if (!stanza->name || ifupdown_find(import, stanza, "master"))
		return false;
	if (stanza->is_inherited && !ifupdown_find(import, stanza, "slaves"))
		return false;
	for (size_t i = 0; i < stanza->count; i++)
		if (ifupdown_bond_key(import, stanza->options[i].key))
			return true;
	return false;
}

static void ifupdown_slaves(struct import *import, struct import_bond *bond, const char *value,
			    const struct import_line *line)
{
	char *rest = import_text(import, "%s", value), *word;

	while ((word = import_next_word(&rest, BLANKS))) {
		if (!strcmp(word, "none"))
			continue;
		if (!strcmp(word, "all") || !strcmp(word, "glob") || !strcmp(word, "regex") ||
		    strpbrk(word, "*?[")) {
			import_refuse(import, bond, line,
				      "xbond's configuration names each slave; name them here");
			return;
		}
		import_slave(import, bond, word, line);
	}
}

/* ifenslave takes the first one that is a slave. */
static void ifupdown_primary(struct import *import, struct import_bond *bond, const char *value,
			     const struct import_line *line)
{
	const struct import_option *known = import_find_option(&bond->options, OPT_PRIMARY);
	char *rest = import_text(import, "%s", value);
	const char *first = import_next_word(&rest, BLANKS);

	if (!first || (known && !strcmp(known->value.name, first)))
		return;
	if (known) {
		import_lost(import, bond, line, "the primary is %s already", known->value.name);
		return;
	}
	import_option(import, bond, NULL, OPT_PRIMARY, first, false, line);
	if (rest[strspn(rest, BLANKS)])
		import_changed(import, bond, line,
			       "there is one primary, %s; the option prio of a slave orders the "
			       "others",
			       first);
}

static void ifupdown_queue_ids(struct import *import, struct import_bond *bond, const char *value,
			       const struct import_line *line)
{
	char *rest = import_text(import, "%s", value), *word;

	while ((word = import_next_word(&rest, BLANKS))) {
		char *name = strsep(&word, ":");
		struct import_slave *slave = import_slave(import, bond, name, line);

		if (slave)
			import_option(import, bond, slave, OPT_QUEUE_ID, word ? word : "", false,
				      line);
	}
}

static void ifupdown_bond_option(struct import *import, struct import_bond *bond, const char *name,
				 const struct ifupdown_option *option)
{
	const struct import_key *key = import_find_key(ifupdown_keys, name, strcmp);

	if (!strcmp(name, "slaves"))
		ifupdown_slaves(import, bond, option->value, &option->line);
	else if (!strcmp(name, "primary"))
		ifupdown_primary(import, bond, option->value, &option->line);
	else if (!strcmp(name, "queue_id"))
		ifupdown_queue_ids(import, bond, option->value, &option->line);
	else if (!key || !key->becomes) {
		if (!key)
			key = import_find_key(import_bonding_keys, name, strcmp);
		if (key)
			import_apply_key(import, key, bond, NULL, option->value, &option->line);
		else
			import_lost(import, bond, &option->line, "xbond has no such option");
	}
}

/* A command that speaks to the kernel's driver; "ifenslave BOND DEV..." adds slaves. */
static bool ifupdown_bond_command(struct import *import, struct import_bond *bond,
				  const struct ifupdown_option *option)
{
	char *rest = import_text(import, "%s", option->value);
	const char *command = import_next_word(&rest, BLANKS);
	const char *of = command ? import_next_word(&rest, BLANKS) : NULL;

	if (of && strlen(command) >= 9 && !strcmp(command + strlen(command) - 9, "ifenslave") &&
	    (!strcmp(of, bond->name) || !strcmp(of, "$IFACE"))) {
		ifupdown_slaves(import, bond, rest, &option->line);
		return true;
	}
	if (!strstr(option->value, "ifenslave") && !strstr(option->value, "bonding") &&
	    !strstr(option->value, "type bond"))
		return false;
	import_lost(import, bond, &option->line, "the command is for the kernel's driver");
	return true;
}

static bool ifupdown_is_command(const char *key)
{
	static const char *const keys[] = { "pre-up",	"up",	"post-up",
					    "pre-down", "down", "post-down" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(keys[i], key))
			return true;
	return false;
}

/* What is not of the bond is of ifupdown still. */
static void ifupdown_rest(struct import *import, struct import_bond *bond,
			  const struct ifupdown_stanza *stanza, bool is_slave)
{
	if (!stanza->is_manual && stanza->name)
		import_stays(import, bond, &stanza->line);
	for (size_t i = 0; i < stanza->count; i++) {
		const struct ifupdown_option *option = &stanza->options[i];

		if (ifupdown_bond_key(import, option->key))
			continue;
		if (!is_slave && ifupdown_is_command(option->key) &&
		    ifupdown_bond_command(import, bond, option))
			continue;
		import_stays(import, bond, &option->line);
	}
}

static void ifupdown_take_bond(struct import *import, const struct ifupdown_stanza *stanza)
{
	struct import_bond *bond = import_bond(import, stanza->name, &stanza->line);

	for (size_t i = 0; bond && i < stanza->count; i++) {
		const char *name = ifupdown_bond_key(import, stanza->options[i].key);

		if (name)
			ifupdown_bond_option(import, bond, name, &stanza->options[i]);
	}
	if (bond)
		ifupdown_rest(import, bond, stanza, false);
}

/*
 * Older releases of ifenslave took the bond's options from a slave's stanza, too. Those of the
 * bond's own stanza are there already.
 */
static void ifupdown_slave_option(struct import *import, struct import_bond *bond,
				  const struct ifupdown_option *option)
{
	const char *name = ifupdown_bond_key(import, option->key);
	const struct import_key *key = import_find_key(import_bonding_keys, name, strcmp);

	if (!strcmp(name, "master"))
		return;
	if (strcmp(name, "primary") && key && !key->why_lost &&
	    import_find_option(&bond->options, key->option))
		return;
	ifupdown_bond_option(import, bond, name, option);
}

static void ifupdown_take_slave(struct import *import, const struct ifupdown_stanza *stanza,
				const struct ifupdown_option *master)
{
	struct import_bond *bond;

	if (!strcmp(master->value, "none"))
		return;
	bond = import_bond(import, master->value, &master->line);
	if (!bond || !import_slave(import, bond, stanza->name, &master->line))
		return;
	for (size_t i = 0; i < stanza->count; i++)
		if (ifupdown_bond_key(import, stanza->options[i].key))
			ifupdown_slave_option(import, bond, &stanza->options[i]);
	ifupdown_rest(import, bond, stanza, true);
}

/* A VLAN or an alias of the bond by its name, or whatever names the bond in an option. */
static struct import_bond *ifupdown_used_bond(const struct import *import,
					      const struct ifupdown_stanza *stanza)
{
	for (size_t i = 0; i < import->bond_count; i++) {
		struct import_bond *bond = import->bonds[i];
		size_t length = strlen(bond->name);

		if (!strncmp(stanza->name, bond->name, length) &&
		    strchr(".:", stanza->name[length]))
			return bond;
		for (size_t j = 0; j < stanza->count; j++)
			for (const char *at = stanza->options[j].value;
			     (at = strstr(at, bond->name)); at += length)
				if ((at == stanza->options[j].value ||
				     isspace((unsigned char)at[-1])) &&
				    strchr(" \t.", at[length]))
					return bond;
	}
	return NULL;
}

static void ifupdown_take_other(struct import *import, const struct ifupdown_stanza *stanza)
{
	struct import_bond *bond = import_find_bond(import, stanza->name);

	if (bond)
		ifupdown_rest(import, bond, stanza, false);
	else if (import_find_slave(import, stanza->name, &bond))
		ifupdown_rest(import, bond, stanza, true);
	else if ((bond = ifupdown_used_bond(import, stanza)))
		import_stays(import, bond, &stanza->line);
}

static void ifupdown_take(struct import *import, const struct ifupdown_stanzas *stanzas)
{
	const struct ifupdown_stanza *list = stanzas->list;

	for (size_t i = 0; i < stanzas->count; i++)
		if (ifupdown_is_bond(import, &list[i]))
			ifupdown_take_bond(import, &list[i]);
	for (size_t i = 0; i < stanzas->count; i++) {
		const struct ifupdown_option *master =
			list[i].name ? ifupdown_find(import, &list[i], "master") : NULL;

		if (master)
			ifupdown_take_slave(import, &list[i], master);
	}
	for (size_t i = 0; i < stanzas->count; i++)
		if (list[i].name && !ifupdown_is_bond(import, &list[i]) &&
		    !ifupdown_find(import, &list[i], "master"))
			ifupdown_take_other(import, &list[i]);
}

int ifupdown_read(struct import *import, const struct import_request *request, struct err *err)
{
	const char *own = import_path(import, "/etc/network/interfaces");
	struct ifupdown_stanzas stanzas = { .import = import };
	int r = 0;

	if (!request->file_count)
		r = ifupdown_read_stanzas(&stanzas, own, err);
	for (size_t i = 0; i < request->file_count && !r; i++)
		r = ifupdown_read_stanzas(&stanzas, request->files[i], err);
	if (!r) {
		ifupdown_inherit(&stanzas);
		ifupdown_take(import, &stanzas);
	}
	return r;
}
