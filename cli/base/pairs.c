/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses OPTION VALUE pairs by the option table. Called by the verbs that take options,
 * before they send or write anything. Knows nothing of bondd and maps.
 */
#include "cli/base/pairs.h"

#include <string.h>

#include "options/names.h"

/* "mode=4", as module parameters and other tools have it. */
static bool pairs_is_joined(enum option_scope scope, const char *word)
{
	char name[32];
	size_t length = strcspn(word, "=");

	if (!word[length] || length >= sizeof(name))
		return false;
	memcpy(name, word, length);
	name[length] = '\0';
	return option_find(scope, name);
}

enum cli_exit pairs_refuse_joined(const struct verb *verb, const char *word)
{
	int length = (int)strcspn(word, "=");

	if (!pairs_is_joined(OPTION_BOND, word) && !pairs_is_joined(OPTION_SLAVE, word))
		return CLI_DONE;
	return cli_usage(verb, "'%s': write '%.*s %s'", word, length, word,
			 word[length + 1] ? word + length + 1 : "VALUE");
}

static enum cli_exit pairs_unknown(const struct verb *verb, const char *name)
{
	enum option_scope other = verb->scope == OPTION_BOND ? OPTION_SLAVE : OPTION_BOND;
	const struct option_spec *known = option_find(verb->scope, name);
	const char *guess = option_guess(verb->scope, name), *absent = option_absent(name);

	if (pairs_refuse_joined(verb, name))
		return CLI_USAGE;
	if (known && known->in_file)
		cli_say("%s: '%s' belongs in the bond's file (xbond.conf(5)); now, 'ip link set "
			"BOND "
			"up' does it",
			verb->name, name);
	else if (option_find(other, name))
		cli_say("%s: '%s' is an option of a %s; set it with '%s'", verb->name, name,
			other == OPTION_BOND ? "bond" : "slave",
			other == OPTION_BOND ? "bondctl set" : "bondctl set-slave");
	else if (known)
		cli_say("%s: '%s' is not accepted here; see 'bondctl %s --help'", verb->name, name,
			verb->name);
	else if (absent)
		cli_say("%s: unknown option '%s': %s", verb->name, name, absent);
	else if (guess)
		cli_say("%s: unknown option '%s'; did you mean %s?", verb->name, name, guess);
	else
		cli_say("%s: unknown option '%s'; 'bondctl %s --help' lists the options",
			verb->name, name, verb->name);
	return CLI_USAGE;
}

/* text: NULL if it is missing */
static enum cli_exit pairs_take(const struct verb *verb, const char *name, const char *text,
				struct pairs *pairs)
{
	const struct option_spec *option = option_find(verb->scope, name);
	struct err err;

	if (!option || !cli_verb_takes(verb, option))
		return pairs_unknown(verb, name);
	if (pairs->set.given[option->id]) {
		cli_say("%s: given twice; name it once", name);
		return CLI_USAGE;
	}
	if (!text)
		return cli_usage(verb, "'%s' has no VALUE", name);
	if (option_set_add(&pairs->set, verb->scope, name, text, &err)) {
		option_guess_value(option, text, &err);
		return cli_wrong(&err);
	}
	pairs->text[option->id] = text;
	return CLI_DONE;
}

enum cli_exit pairs_parse(const struct verb *verb, int argc, char **argv, struct pairs *ret_pairs)
{
	enum cli_exit status = CLI_DONE;

	*ret_pairs = (struct pairs){ 0 };
	for (int at = 0; at < argc && status == CLI_DONE; at += 2)
		status = pairs_take(verb, argv[at], at + 1 < argc ? argv[at + 1] : NULL, ret_pairs);
	return status;
}

const struct option_value *pairs_find(const struct pairs *pairs, enum option_id id)
{
	return pairs->set.given[id] ? &pairs->set.value[id] : NULL;
}

/* A random seed was drawn here, so what was checked is what is sent. */
static json_t *pairs_text(const struct pairs *pairs, enum option_id id)
{
	char text[OPTION_TEXT_SIZE];

	if (id != OPT_HASH_SEED)
		return json_string(pairs->text[id]);
	option_format(option_at(id), &pairs->set.value[id], text, sizeof(text));
	return json_string(text);
}

/* `active_slave none` asks bondd to choose. */
static bool pairs_is_steering(const struct pairs *pairs, enum option_id id)
{
	if (id == OPT_ACTIVE_SLAVE && !pairs->set.value[id].name[0])
		return false;
	return pairs->set.given[id] && option_at(id)->home == OPTION_IN_SETTINGS;
}

json_t *pairs_json(const struct pairs *pairs)
{
	json_t *json = json_object();

	for (enum option_id id = 0; id < OPT_COUNT; id++)
		if (pairs->set.given[id])
			json_object_set_new(json, option_at(id)->name, pairs_text(pairs, id));
	return json;
}

json_t *pairs_json_not_steering(const struct pairs *pairs)
{
	json_t *json = pairs_json(pairs);

	for (enum option_id id = 0; id < OPT_COUNT; id++)
		if (pairs_is_steering(pairs, id))
			json_object_del(json, option_at(id)->name);
	return json;
}

bool pairs_any_steering(const struct pairs *pairs)
{
	for (enum option_id id = 0; id < OPT_COUNT; id++)
		if (pairs_is_steering(pairs, id))
			return true;
	return false;
}
