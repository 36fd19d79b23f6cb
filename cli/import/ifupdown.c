/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * interfaces(5) with the options of the package ifenslave, those that older releases of it took,
 * and those of ifupdown2 and ifupdown-ng. Bonds of Open vSwitch may be there, too. Reads the
 * stanzas first, because a slave may come before its bond.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "cli/import/import_tools.h"

static const struct import_key ifupdown_other_keys[] = {
	{ "slaves", .becomes = "[slave DEV]" },
	{ "requires", .becomes = "[slave DEV]" },
	{ "es-sys-mac", .becomes = "ad_actor_system" },
	{ "use", .becomes = "(nothing: 'use bond' says that it is a bond)" },
	{ .name = NULL },
};

static const struct import_key ifupdown_ovs_keys[] = {
	{ "ovs_bonds", .becomes = "[slave DEV]" },
	{ "ovs_options", .becomes = "(what bondctl import ovs makes of them)" },
	{ "ovs_extra", .becomes = "(the same, of 'set port BOND')" },
	{ .name = NULL },
};

const struct import_keys ifupdown_tables[] = {
	{ "bond-NAME or bond_NAME", import_bonding_keys },
	{ "bond-NAME or bond_NAME, beside those", ifupdown_keys },
	{ "a bond's stanza, beside bond-NAME", ifupdown_other_keys },
	{ "a stanza with ovs_type OVSBond", ifupdown_ovs_keys },
	{ .title = NULL },
};

/* ifupdown hands options on in capitals with underscores, so case and '-' make no difference. */
static char *ifupdown_plain_key(struct import *import, const char *key)
{
	char *name = import_text(import, "%s", key);

	for (char *at = name; *at; at++)
		*at = *at == '-' ? '_' : (char)tolower((unsigned char)*at);
	return name;
}

/* The name without "bond-", as the kernel spells it; NULL: it is no option of a bond. */
static const char *ifupdown_bond_key(struct import *import, const char *key)
{
	const char *name = ifupdown_plain_key(import, key);

	if (!strcmp(name, "slaves") || !strcmp(name, "bond_ports") || !strcmp(name, "bond_members"))
		return "slaves";
	if (!strcmp(name, "es_sys_mac"))
		return "ad_actor_system";
	return strncmp(name, "bond_", 5) ? NULL : name + 5;
}

/* The option of that name, spelled with underscores; NULL: the stanza does not have it. */
static const struct ifupdown_option *
ifupdown_find_plain(struct import *import, const struct ifupdown_stanza *stanza, const char *key)
{
	for (size_t i = 0; i < stanza->count; i++)
		if (!strcmp(ifupdown_plain_key(import, stanza->options[i].key), key))
			return &stanza->options[i];
	return NULL;
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

/* A bond of Open vSwitch, which has its ports in ovs_bonds. */
static bool ifupdown_is_ovs(struct import *import, const struct ifupdown_stanza *stanza)
{
	const struct ifupdown_option *type = ifupdown_find_plain(import, stanza, "ovs_type");

	return type && !strcmp(type->value, "OVSBond");
}

/*
 * What ifenslave takes for a bond, and what older ones did. A stanza that others inherit from, and
 * that has no slaves, is only a template.
 */
static bool ifupdown_is_bond(struct import *import, const struct ifupdown_stanza *stanza)
{
	const struct ifupdown_option *use;

	if (!stanza->name || ifupdown_find(import, stanza, "master"))
		return false;
	use = ifupdown_find_plain(import, stanza, "use");
	if ((use && !strcmp(use->value, "bond")) || ifupdown_is_ovs(import, stanza))
		return true;
	if (stanza->is_inherited && !ifupdown_find(import, stanza, "slaves"))
		return false;
	for (size_t i = 0; i < stanza->count; i++)
		if (ifupdown_bond_key(import, stanza->options[i].key))
			return true;
	return false;
}

/* Options of a bond that have other names than bond-NAME. */
static bool ifupdown_is_of_bond(struct import *import, bool is_ovs,
				const struct ifupdown_option *option)
{
	const char *key = ifupdown_plain_key(import, option->key);

	if (is_ovs)
		return import_find_key(ifupdown_ovs_keys, key) || !strcmp(key, "ovs_type");
	return !strcmp(key, "requires") || (!strcmp(key, "use") && !strcmp(option->value, "bond"));
}

/* What is not of the bond is of ifupdown still. */
static void ifupdown_rest(struct import *import, struct import_bond *bond,
			  const struct ifupdown_stanza *stanza, bool is_slave)
{
	bool is_ovs = ifupdown_is_ovs(import, stanza);
	bool has_master = ifupdown_find(import, stanza, "master");

	if (!stanza->is_manual && stanza->name)
		import_stays(import, bond, &stanza->line);
	for (size_t i = 0; i < stanza->count; i++) {
		const struct ifupdown_option *option = &stanza->options[i];

		if (is_slave && !has_master && ifupdown_bond_key(import, option->key))
			import_lost(import, bond, &option->line,
				    "in a slave's stanza it is read only beside bond-master");
		if (ifupdown_bond_key(import, option->key) ||
		    (!is_slave && ifupdown_is_of_bond(import, is_ovs, option)))
			continue;
		if (ifupdown_is_command(option->key) &&
		    ifupdown_is_bond_command(import, stanza, option))
			continue;
		import_stays(import, bond, &option->line);
	}
}

/* ifupdown2 makes several interfaces of "iface swp[1-4]". */
static bool ifupdown_is_range(const char *name)
{
	return strpbrk(name, "[*?");
}

/* The bond of a stanza; NULL: the name, or more, is for a template language to say. */
static struct import_bond *ifupdown_bond(struct import *import,
					 const struct ifupdown_stanza *stanza)
{
	static const char why[] = "a template makes this; import its output instead, such as "
				  "that of 'ifquery -a' of ifupdown2";
	bool is_name = !strpbrk(stanza->name, "${");
	struct import_bond *bond;

	if (ifupdown_is_range(stanza->name)) {
		import_refuse(import, NULL, &stanza->line,
			      "it stands for several interfaces; write a stanza for each");
		return NULL;
	}
	bond = is_name ? import_bond(import, stanza->name, &stanza->line) : NULL;

	if (stanza->computed && (bond || !is_name))
		import_refuse(import, bond, stanza->computed, "%s", why);
	return bond;
}

/* The settings in "set port BOND SETTING... -- OTHER COMMAND". */
static const char *ifupdown_ovs_extra(struct import *import, const struct ifupdown_stanza *stanza,
				      const char *value)
{
	char *rest = import_text(import, "%s", value), *word;
	char *settings = import_memory(import, strlen(value) + 2), *end = settings;
	bool of_port = false;
	int at = 0;

	while ((word = import_next_word(&rest, IFUPDOWN_BLANKS "\""))) {
		if (!strcmp(word, "--"))
			at = -1, of_port = true;
		else if (at < 3)
			of_port = (at == 0 && !strcmp(word, "set")) ||
				  (of_port && at == 1 && !strcasecmp(word, "port")) ||
				  (of_port && at == 2 &&
				   (!strcmp(word, stanza->name) || !strcmp(word, "${IFACE}") ||
				    !strcmp(word, "$IFACE")));
		else if (of_port)
			end = stpcpy(stpcpy(end, " "), word);
		at++;
	}
	return settings;
}

static void ifupdown_take_ovs(struct import *import, struct import_bond *bond,
			      const struct ifupdown_stanza *stanza)
{
	const struct ifupdown_option *ports = ifupdown_find_plain(import, stanza, "ovs_bonds");
	const struct ifupdown_option *options = ifupdown_find_plain(import, stanza, "ovs_options");
	const struct ifupdown_option *extra = ifupdown_find_plain(import, stanza, "ovs_extra");
	const char *more = extra ? ifupdown_ovs_extra(import, stanza, extra->value) : "";
	const struct import_line *line = options ? &options->line : &stanza->line;

	if (ports)
		ifupdown_slaves(import, bond, ports->value, &ports->line);
	ovs_take_settings(import, bond,
			  import_text(import, "%s %s", options ? options->value : "", more),
			  extra && *more && !options ? &extra->line : line);
}

static void ifupdown_take_bond(struct import *import, const struct ifupdown_stanza *stanza)
{
	struct import_bond *bond = ifupdown_bond(import, stanza);
	const struct ifupdown_option *requires = ifupdown_find_plain(import, stanza, "requires");

	if (!bond || stanza->computed)
		return;
	if (requires)
		ifupdown_slaves(import, bond, requires->value, &requires->line);
	if (ifupdown_is_ovs(import, stanza) && (ifupdown_find_plain(import, stanza, "ovs_bonds") ||
						!ifupdown_find(import, stanza, "slaves")))
		ifupdown_take_ovs(import, bond, stanza);
	for (size_t i = 0; i < stanza->count; i++) {
		const char *name = ifupdown_bond_key(import, stanza->options[i].key);

		if (name)
			ifupdown_bond_option(import, bond, name, &stanza->options[i]);
	}
}

/*
 * Older releases of ifenslave took the bond's options from a slave's stanza, too. Those of the
 * bond's own stanza are there already.
 */
static void ifupdown_slave_option(struct import *import, struct import_bond *bond,
				  const struct ifupdown_option *option)
{
	const char *name = ifupdown_bond_key(import, option->key);
	const struct import_key *key = import_find_key(import_bonding_keys, name);

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
	const char *name = import_first_word(import, master->value);
	struct import_bond *bond;

	if (!strcmp(name, "none"))
		return;
	bond = import_bond(import, name, &master->line);
	if (bond && stanza->computed) {
		import_refuse(import, bond, stanza->computed, "a template makes this slave");
		return;
	}
	if (bond && ifupdown_is_range(stanza->name)) {
		import_refuse(import, bond, &stanza->line,
			      "it stands for several interfaces; write a stanza for each");
		return;
	}
	if (!bond || !import_slave(import, bond, stanza->name, &master->line))
		return;
	for (size_t i = 0; i < stanza->count; i++)
		if (ifupdown_bond_key(import, stanza->options[i].key))
			ifupdown_slave_option(import, bond, &stanza->options[i]);
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

/* Bonds that are made by commands alone. */
static void ifupdown_take_commands(struct import *import, const struct ifupdown_stanzas *stanzas,
				   const struct ifupdown_stanza *stanza)
{
	for (size_t i = 0; i < stanza->count; i++) {
		const struct ifupdown_option *option = &stanza->options[i];
		struct ifupdown_command command = { 0 };

		if (ifupdown_is_command(option->key) && !strstr(option->key, "down"))
			ifupdown_command_read(import, option->value, stanza->name, &command);
		for (size_t j = 0; j < command.count; j++) {
			const char *name = command.settings[j].bond;
			struct import_bond *bond;

			if (command.settings[j].key || import_find_bond(import, name))
				continue;
			bond = import_bond(import, name, &option->line);
			for (size_t k = 0; bond && k < stanzas->count; k++)
				if (stanzas->list[k].name && !strcmp(stanzas->list[k].name, name))
					bond->line = stanzas->list[k].line;
		}
	}
}

static void ifupdown_run_commands(struct import *import, const struct ifupdown_stanza *stanza)
{
	struct import_bond *bond = import_find_bond(import, stanza->name);

	if (!bond && !import_find_slave(import, stanza->name, &bond))
		bond = ifupdown_used_bond(import, stanza);
	for (size_t i = 0; i < stanza->count; i++)
		if (ifupdown_is_command(stanza->options[i].key))
			ifupdown_bond_command(import, bond, stanza, &stanza->options[i]);
}

static void ifupdown_load_modules(struct import *import, const struct ifupdown_stanzas *stanzas)
{
	bool *has_own_mode = import_memory(import, import->bond_count + 1);

	for (size_t i = 0; i < import->bond_count; i++)
		has_own_mode[i] = import_find_option(&import->bonds[i]->options, OPT_MODE);
	for (size_t i = 0; i < stanzas->count; i++) {
		const struct ifupdown_stanza *stanza = &stanzas->list[i];

		for (size_t j = 0; stanza->name && j < stanza->count; j++)
			if (ifupdown_is_command(stanza->options[j].key))
				ifupdown_module_option(import, stanza, &stanza->options[j],
						       has_own_mode);
	}
}

static void ifupdown_take_rest(struct import *import, const struct ifupdown_stanza *stanza)
{
	struct import_bond *bond = import_find_bond(import, stanza->name);

	if (bond)
		ifupdown_rest(import, bond, stanza, false);
	else if (import_find_slave(import, stanza->name, &bond))
		ifupdown_rest(import, bond, stanza, true);
	else if (!ifupdown_find(import, stanza, "master") &&
		 (bond = ifupdown_used_bond(import, stanza)))
		import_stays(import, bond, &stanza->line);
}

/* What a stanza does not say about its bond. */
static void ifupdown_complete(struct import *import, const struct ifupdown_stanzas *stanzas,
			      struct import_bond *bond)
{
	const struct ifupdown_stanza *own = NULL;

	for (size_t i = 0; i < stanzas->count && !own; i++)
		if (stanzas->list[i].name && !strcmp(stanzas->list[i].name, bond->name))
			own = &stanzas->list[i];
	if (own && !ifupdown_is_auto(stanzas, bond->name) && !ifupdown_is_ovs(import, own))
		import_lost(import, bond, &own->line,
			    "without 'auto %s' ifupdown leaves it down at boot; bondd "
			    "makes the bond whenever it starts",
			    bond->name);
	if (bond->refused.file || import_find_option(&bond->options, OPT_MODE))
		return;
	if (!own)
		import_refuse(import, bond, &bond->line,
			      "no stanza 'iface %s' was read, so its mode is not known",
			      bond->name);
	else
		import_changed(import, bond, &bond->line,
			       IMPORT_NO_MODE
			       "; on Cumulus Linux it is 802.3ad, with xmit_hash_policy "
			       "layer3+4");
}

static int ifupdown_take(struct import *import, const struct ifupdown_stanzas *stanzas,
			 bool with_policies, struct err *err)
{
	const struct ifupdown_stanza *list = stanzas->list;
	int r;

	for (size_t i = 0; i < stanzas->count; i++)
		if (ifupdown_is_bond(import, &list[i]) && ifupdown_find(import, &list[i], "slaves"))
			ifupdown_take_bond(import, &list[i]);
	for (size_t i = 0; i < stanzas->count; i++)
		if (ifupdown_is_bond(import, &list[i]) &&
		    !ifupdown_find(import, &list[i], "slaves") &&
		    !import_find_slave(import, list[i].name, NULL))
			ifupdown_take_bond(import, &list[i]);
	for (size_t i = 0; i < stanzas->count; i++) {
		const struct ifupdown_option *master =
			list[i].name ? ifupdown_find(import, &list[i], "master") : NULL;

		if (master)
			ifupdown_take_slave(import, &list[i], master);
	}
	for (size_t i = 0; i < stanzas->count; i++)
		if (list[i].name)
			ifupdown_take_commands(import, stanzas, &list[i]);
	for (size_t i = 0; i < stanzas->count; i++)
		if (list[i].name)
			ifupdown_run_commands(import, &list[i]);
	r = with_policies ? ifupdown_read_policies(import, err) : 0;
	ifupdown_load_modules(import, stanzas);
	for (size_t i = 0; i < stanzas->count; i++)
		if (list[i].name)
			ifupdown_take_rest(import, &list[i]);
	for (size_t i = 0; i < import->bond_count; i++)
		ifupdown_complete(import, stanzas, import->bonds[i]);
	return r;
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
		r = ifupdown_take(import, &stanzas, !request->file_count, err);
	}
	return r;
}
