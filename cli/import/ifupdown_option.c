/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of a bond in interfaces(5), as lines bond-NAME and as commands. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/import/import_tools.h"

static const char *ifupdown_bypass(struct import *import, const char *value)
{
	return import_switch_as(value, "all", "none");
}

const struct import_key ifupdown_keys[] = {
	{ "slaves", .becomes = "[slave DEV]" },
	{ "ports", .becomes = "[slave DEV]" },
	{ "members", .becomes = "[slave DEV]" },
	{ "master", .becomes = "[slave DEV]" },
	{ "queue_id", .becomes = "queue_id" },
	{ "driver", .becomes = "(nothing: it says that the bond is xbond's)" },
	{ "give_a_chance",
	  .why_lost = "bondd does not wait for slaves; it adds each one when it appears" },
	{ "ad_sys_priority", .option = OPT_AD_ACTOR_SYS_PRIO },
	{ "ad_sys_mac_addr", .option = OPT_AD_ACTOR_SYSTEM },
	{ "lacp_bypass_allow", .option = OPT_LACP_FALLBACK, .convert = ifupdown_bypass },
	{ .name = NULL },
};

/*
 * What ifupdown2 makes of "glob swp1-4", "glob swp[1-4]" or "glob swp[1-4]s0": a range of numbers
 * behind a letter or in brackets. Returns false if the word is no such range.
 */
static bool ifupdown_glob(struct import *import, struct import_bond *bond, const char *word,
			  const struct import_line *line)
{
	size_t prefix = strcspn(word, "["), at;
	unsigned int first = 0, last = 0;
	int length = 0;

	if (word[prefix]) {
		if (sscanf(word + prefix, "[%9u-%9u]%n", &first, &last, &length) != 2)
			return false;
	} else {
		for (at = prefix; !length && at-- > 1;)
			if (isalpha((unsigned char)word[at - 1]) &&
			    isdigit((unsigned char)word[at]))
				sscanf(word + at, "%9u-%9u%n", &first, &last, &length);
		prefix = at;
	}
	if (!length || last < first || strchr(word + prefix + length, '['))
		return false;
	for (unsigned int i = first; i <= last && i - first <= XBOND_MAX_SLAVES; i++)
		import_slave(import, bond,
			     import_text(import, "%.*s%u%s", (int)prefix, word, i,
					 word + prefix + length),
			     line);
	return true;
}

static bool ifupdown_is_pattern(const char *word)
{
	return !strcmp(word, "all") || !strcmp(word, "regex") || strpbrk(word, "*?[");
}

void ifupdown_slaves(struct import *import, struct import_bond *bond, const char *value,
		     const struct import_line *line)
{
	char *rest = import_text(import, "%s", value), *word;
	bool is_glob = false;

	while ((word = import_next_word(&rest, IFUPDOWN_BLANKS)) && *word != '#') {
		bool was_glob = is_glob;

		is_glob = !strcmp(word, "glob");
		if (is_glob || !strcmp(word, "none") || !strncmp(word, "noglob", 6) ||
		    (was_glob && ifupdown_glob(import, bond, word, line)))
			continue;
		if (ifupdown_is_pattern(word) || strpbrk(word, ",;\"'")) {
			import_refuse(
				import, bond, line, "%s",
				ifupdown_is_pattern(word)
					? "xbond needs the name of each slave; write the names here"
					: "separate the slaves by blanks, without quotes");
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
	char *rest = import_text(import, "%.*s", (int)strcspn(value, "#"), value);
	const char *first = import_next_word(&rest, IFUPDOWN_BLANKS);

	if (!first || (known && !strcmp(known->value.name, first)))
		return;
	if (known) {
		import_lost(import, bond, line, "the primary is %s already", known->value.name);
		return;
	}
	import_option(import, bond, NULL, OPT_PRIMARY, first, false, line);
	if (rest[strspn(rest, IFUPDOWN_BLANKS)])
		import_changed(import, bond, line,
			       "only one slave can be the primary, and %s is; order the "
			       "others by prio",
			       first);
}

static void ifupdown_queue_ids(struct import *import, struct import_bond *bond, const char *value,
			       const struct import_line *line)
{
	char *rest = import_text(import, "%s", value), *word;

	while ((word = import_next_word(&rest, IFUPDOWN_BLANKS)) && *word != '#') {
		char *name = strsep(&word, ":");
		struct import_slave *slave = import_slave(import, bond, name, line);

		if (slave)
			import_option(import, bond, slave, OPT_QUEUE_ID, word ? word : "", false,
				      line);
	}
}

/*
 * The value as the kernel's driver takes it from ifenslave, which writes the whole text: of a name
 * the first word counts, and a number with text behind it is refused. NULL: it is refused.
 */
static const char *ifupdown_value(struct import *import, const struct import_key *key,
				  const char *value)
{
	char *rest = import_text(import, "%s", value), *comment;
	const char *first;

	for (comment = rest; (comment = strchr(comment, '#')); comment++)
		if (comment == rest || strchr(IFUPDOWN_BLANKS, comment[-1])) {
			*comment = '\0';
			break;
		}
	if (key->convert == import_list)
		return rest;
	first = import_next_word(&rest, IFUPDOWN_BLANKS);
	if (!first)
		return "";
	return first[strspn(first, "0123456789")] || !value[strcspn(value, IFUPDOWN_BLANKS)] ? first
											     : NULL;
}

static const struct import_option *ifupdown_known(const struct import_bond *bond, const char *name)
{
	const struct import_key *key = import_find_key(import_bonding_keys, name);

	return key && !key->why_lost && !key->more ? import_find_option(&bond->options, key->option)
						   : NULL;
}

/* Whether the option has this value already. */
static bool ifupdown_has_value(const struct import_option *known, const char *text)
{
	struct option_value value = { 0 };
	struct err err;

	return !option_parse(option_at(known->id), text, &value, &err) &&
	       !memcmp(&value, &known->value, sizeof(value));
}

static void ifupdown_table_option(struct import *import, struct import_bond *bond, const char *name,
				  const struct ifupdown_option *option)
{
	const struct import_key *key = import_find_key(ifupdown_keys, name);
	const struct import_option *known = ifupdown_known(bond, name);
	const char *value;

	if (!key)
		key = import_find_key(import_bonding_keys, name);
	if (!key) {
		import_lost(import, bond, &option->line, IMPORT_NO_OPTION);
		return;
	}
	value = ifupdown_value(import, key, option->value);
	if (value && known && known->id == OPT_MODE && !ifupdown_has_value(known, value))
		import_refuse(import, bond, &option->line, "another line sets the mode, too");
	else if (value)
		import_apply_key(import, key, bond, NULL, value, &option->line);
	else if (!key->why_lost && key->option == OPT_MODE)
		import_refuse(import, bond, &option->line,
			      "kernel bonding refuses a number with text behind it");
	else
		import_lost(import, bond, &option->line,
			    "kernel bonding refuses a number with text behind it");
}

void ifupdown_bond_option(struct import *import, struct import_bond *bond, const char *name,
			  const struct ifupdown_option *option)
{
	if (!strcmp(name, "slaves"))
		ifupdown_slaves(import, bond, option->value, &option->line);
	else if (!strcmp(name, "primary"))
		ifupdown_primary(import, bond, option->value, &option->line);
	else if (!strcmp(name, "queue_id"))
		ifupdown_queue_ids(import, bond, option->value, &option->line);
	else if (strcmp(name, "driver") != 0)
		ifupdown_table_option(import, bond, name, option);
}

/* An option of one bond that a command sets, unless the bond has it from elsewhere. */
static void ifupdown_command_setting(struct import *import, struct import_bond *bond,
				     const struct ifupdown_setting *setting,
				     const struct ifupdown_option *option)
{
	const struct import_option *known = ifupdown_known(bond, setting->key);
	const struct ifupdown_option one = { setting->key, setting->value, option->line };

	if (!known)
		ifupdown_bond_option(import, bond, setting->key, &one);
	else if (ifupdown_has_value(known, setting->value))
		return;
	else if (known->id == OPT_MODE)
		import_refuse(import, bond, &option->line, "another line sets the mode, too");
	else
		import_lost(import, bond, &option->line,
			    "another line sets %s, too, and takes precedence", setting->key);
}

static bool ifupdown_is_for_down(const struct ifupdown_option *option)
{
	return strstr(option->key, "down");
}

bool ifupdown_is_bond_command(struct import *import, const struct ifupdown_stanza *stanza,
			      const struct ifupdown_option *option)
{
	struct ifupdown_command command;

	ifupdown_command_read(import, option->value, stanza->name, &command);
	if (command.not_clear || (ifupdown_is_for_down(option) && command.is_bonding))
		return true;
	for (size_t i = 0; i < command.count; i++)
		if (command.settings[i].bond
			    ? import_find_bond(import, command.settings[i].bond) != NULL
			    : import->bond_count > 0)
			return true;
	return false;
}

void ifupdown_bond_command(struct import *import, struct import_bond *bond,
			   const struct ifupdown_stanza *stanza,
			   const struct ifupdown_option *option)
{
	struct ifupdown_command command;

	ifupdown_command_read(import, option->value, stanza->name, &command);
	if (ifupdown_is_for_down(option)) {
		if (command.is_bonding)
			import_lost(import, bond, &option->line,
				    "this command is for kernel bonding");
		return;
	}
	for (size_t i = 0; i < command.count; i++) {
		const struct ifupdown_setting *setting = &command.settings[i];
		struct import_bond *of =
			setting->bond ? import_find_bond(import, setting->bond) : NULL;

		if (of && setting->key)
			ifupdown_command_setting(import, of, setting, option);
	}
	if (command.not_clear && command.is_about_what_it_is)
		import_refuse(import, bond, &option->line,
			      "import does not understand this command for kernel bonding");
	else if (command.not_clear)
		import_lost(import, bond, &option->line, "this command is for kernel bonding");
}

/* Whether the module is told another mode by another line, so that it is the first that counts. */
static bool ifupdown_is_other_mode(const struct import_bond *bond,
				   const struct ifupdown_setting *setting, bool has_own_mode)
{
	const struct import_option *known = ifupdown_known(bond, setting->key);

	return known && known->id == OPT_MODE && !has_own_mode &&
	       !ifupdown_has_value(known, setting->value);
}

/* A parameter that xbond does not have is of no bond, and one of another mode not of this one. */
static bool ifupdown_is_parameter_of(const struct import_bond *bond,
				     const struct ifupdown_setting *setting)
{
	const struct import_key *key = import_find_key(import_bonding_keys, setting->key);
	const struct import_option *mode = import_find_option(&bond->options, OPT_MODE);
	struct err err;

	return key && !key->why_lost && !ifupdown_known(bond, setting->key) &&
	       (!mode || !option_check_mode(option_at(key->option), mode->value.number, &err));
}

static void ifupdown_module_setting(struct import *import, const struct ifupdown_setting *setting,
				    const struct ifupdown_option *option, const bool *has_own_mode)
{
	const struct ifupdown_option one = { setting->key, setting->value, option->line };
	const struct import_key *key = import_find_key(import_bonding_keys, setting->key);
	bool is_taken = false;

	for (size_t i = 0; i < import->bond_count; i++) {
		struct import_bond *bond = import->bonds[i];

		if (ifupdown_is_other_mode(bond, setting, has_own_mode[i]))
			import_refuse(import, bond, &option->line,
				      "another line loads the module with another mode");
		else if (ifupdown_is_parameter_of(bond, setting))
			ifupdown_bond_option(import, bond, setting->key, &one);
		else
			continue;
		is_taken = true;
	}
	if (!is_taken && import->bond_count)
		import_lost(import, NULL, &option->line, "%s: %s", setting->key,
			    key && !key->why_lost ? "every bond sets it itself or does not use it"
			    : key		  ? key->why_lost
						  : IMPORT_NO_OPTION);
}

void ifupdown_module_option(struct import *import, const struct ifupdown_stanza *stanza,
			    const struct ifupdown_option *option, const bool *has_own_mode)
{
	struct ifupdown_command command = { 0 };

	if (!ifupdown_is_for_down(option))
		ifupdown_command_read(import, option->value, stanza->name, &command);
	for (size_t i = 0; i < command.count; i++)
		if (!command.settings[i].bond)
			ifupdown_module_setting(import, &command.settings[i], option, has_own_mode);
}

/* Policies of ifupdown2: what bonds have that do not say it themselves. */

/* One look at them. What else counts depends on the mode, so that is looked for first. */
struct ifupdown_policies {
	struct import *import;
	bool for_mode, for_one_bond;
};

static void ifupdown_policy_defaults(const struct ifupdown_policies *policies,
				     const struct import_tree *tree, const yaml_node_t *defaults,
				     struct import_bond *bond)
{
	struct import *import = policies->import;
	struct import_node node;

	for (size_t i = 0; import_tree_at(import, tree, defaults, i, &node); i++) {
		char *name = import_text(import, "%s", node.key), *at = name;
		struct ifupdown_option option = { .value = import_tree_text(node.value),
						  .line = node.line };
		struct ifupdown_setting setting = { .value = option.value };

		if (!option.value || strncmp(name, "bond-", 5) != 0)
			continue;
		while ((at = strchr(at, '-')))
			*at = '_';
		setting.key = name + 5;
		if (!strcmp(setting.key, "mode") == policies->for_mode &&
		    ifupdown_is_parameter_of(bond, &setting))
			ifupdown_bond_option(import, bond, setting.key, &option);
	}
}

/* {"bond": {"defaults": {"bond-mode": "802.3ad"}, "iface_defaults": {"bond0": {...}}}} */
static int ifupdown_read_policy(void *context, const char *path, struct err *err)
{
	const struct ifupdown_policies *policies = context;
	struct import *import = policies->import;
	const char *section = policies->for_one_bond ? "iface_defaults" : "defaults";
	struct import_node module, defaults;
	struct import_tree tree = { 0 };
	const struct import_file *file;
	int r = import_file_read(import, path, &file, err);

	r = r ? r : import_tree_read(import, file, &tree, err);
	if (r || !import_tree_find(import, &tree, import_tree_root(&tree), "bond", &module))
		module.value = NULL;
	for (size_t i = 0; module.value && i < import->bond_count; i++) {
		struct import_bond *bond = import->bonds[i];

		if (!bond->is_not_of_driver &&
		    import_tree_find(import, &tree, module.value, section, &defaults) &&
		    (!policies->for_one_bond ||
		     import_tree_find(import, &tree, defaults.value, bond->name, &defaults)))
			ifupdown_policy_defaults(policies, &tree, defaults.value, bond);
	}
	import_tree_done(&tree);
	return r;
}

/* Of all files in a directory, what is for one bond goes first. */
int ifupdown_read_policies(struct import *import, struct err *err)
{
	static const char *const dirs[] = { "/etc/network/ifupdown2/policy.d",
					    "/var/lib/ifupdown2/policy.d" };
	static const char *const suffixes[] = { ".json", NULL };
	int r = 0;

	for (int look = 0; look < 8 && !r; look++) {
		struct ifupdown_policies policies = { import, look < 4, look % 2 == 0 };
		const char *const own[] = { import_path(import, dirs[look / 2 % 2]), NULL };

		r = import_read_files(import, &(struct import_request){ 0 }, own, suffixes,
				      ifupdown_read_policy, &policies, err);
	}
	return r;
}
