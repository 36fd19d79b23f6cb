/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses OPTION VALUE pairs by the option table. Called by the verbs that take options,
 * before they send or write anything. Knows nothing of bondd and maps.
 */
#include "cli/pairs.h"

#include <string.h>

static enum cli_exit unknown_option(const struct verb *verb, const char *name)
{
	enum option_scope other = verb->scope == OPTION_BOND ? OPTION_SLAVE : OPTION_BOND;

	if (option_find(other, name))
		cli_say("%s: '%s' is an option of a %s; set it with '%s'", verb->name, name,
			other == OPTION_BOND ? "bond" : "slave",
			other == OPTION_BOND ? "bondctl set" : "bondctl set-slave");
	else if (option_find(verb->scope, name))
		cli_say("%s: '%s' is not taken here; see 'bondctl %s --help'", verb->name, name,
			verb->name);
	else
		cli_say("%s: unknown option '%s'; 'bondctl %s --help' lists the options",
			verb->name, name, verb->name);
	return CLI_REFUSED;
}

static enum cli_exit parse_pair(const struct verb *verb, const char *name, const char *text,
				struct pairs *pairs)
{
	const struct option *option = option_find(verb->scope, name);
	struct pair *pair = &pairs->list[pairs->count];
	struct err err;

	if (!option || !cli_verb_takes(verb, option))
		return unknown_option(verb, name);
	if (pairs_find(pairs, option->id)) {
		cli_say("%s: given twice; name it once", name);
		return CLI_REFUSED;
	}
	if (option_parse(option, text, &pair->value, &err))
		return cli_refuse(&err);
	pair->option = option;
	pair->text = text;
	pairs->count++;
	return CLI_DONE;
}

enum cli_exit pairs_parse(const struct verb *verb, int argc, char **argv, struct pairs *ret_pairs)
{
	enum cli_exit status = CLI_DONE;

	ret_pairs->count = 0;
	if (argc % 2)
		return cli_usage(verb, "'%s' has no VALUE", argv[argc - 1]);
	for (int at = 0; at < argc && status == CLI_DONE; at += 2)
		status = parse_pair(verb, argv[at], argv[at + 1], ret_pairs);
	return status;
}

const struct pair *pairs_find(const struct pairs *pairs, enum option_id id)
{
	for (size_t i = 0; i < pairs->count; i++)
		if (pairs->list[i].option->id == id)
			return &pairs->list[i];
	return NULL;
}

int pairs_check_mode(const struct pairs *pairs, uint32_t mode, struct err *err)
{
	const struct pair *asked = pairs_find(pairs, OPT_MODE);
	int r = 0;

	if (asked)
		mode = asked->value.number;
	for (size_t i = 0; i < pairs->count && !r; i++)
		r = option_check_mode(pairs->list[i].option, mode, err);
	return r;
}

/* A random seed is drawn here, so that the checked value is the one that is sent. */
static json_t *pair_text(const struct pair *pair)
{
	char text[32];

	if (pair->option->id != OPT_HASH_SEED)
		return json_string(pair->text);
	option_format(pair->option, &pair->value, text, sizeof(text));
	return json_string(text);
}

static bool is_steering(const struct pair *pair)
{
	return pair->option->home == OPTION_IN_SETTINGS;
}

json_t *pairs_json(const struct pairs *pairs)
{
	json_t *json = json_object();

	for (size_t i = 0; i < pairs->count; i++)
		json_object_set_new(json, pairs->list[i].option->name, pair_text(&pairs->list[i]));
	return json;
}

json_t *pairs_json_not_steering(const struct pairs *pairs)
{
	json_t *json = pairs_json(pairs);

	for (size_t i = 0; i < pairs->count; i++)
		if (is_steering(&pairs->list[i]))
			json_object_del(json, pairs->list[i].option->name);
	return json;
}

bool pairs_any_steering(const struct pairs *pairs)
{
	for (size_t i = 0; i < pairs->count; i++)
		if (is_steering(&pairs->list[i]))
			return true;
	return false;
}
