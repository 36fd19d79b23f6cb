/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/habits.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/complete/live.h"
#include "options/names.h"

#define TEXT_SIZE 256
#define REMOVES "'delete', which removes a bond, or 'del-slave', which releases slaves"

/* Verbs of others, and what does the same here. */
static const struct {
	const char *word, *meant;
} habits[] = {
	{ "del", REMOVES },
	{ "rm", REMOVES },
	{ "remove", REMOVES },
	{ "new", "'create'" },
	{ "make", "'create'" },
	{ "enslave", "'add-slave'" },
	{ "attach", "'add-slave'" },
	{ "port", "'add-slave', 'del-slave' or 'set-slave'" },
	{ "detach", "'del-slave'" },
	{ "release", "'del-slave'" },
	{ "change", "'set'" },
	{ "modify", "'set'" },
	{ "change-active", "'set BOND active_slave DEV'" },
	{ "status", "'show'" },
	{ "state", "'show'" },
	{ "info", "'show'" },
	{ "ls", "'list'" },
	{ "link", "'show'" },
	{ "events", "'monitor'" },
	{ "watch", "'monitor' or 'top'" },
	{ "dump", "'capture', or 'show --details'" },
	{ "reload", "'apply'" },
	{ "up", "'ip link set BOND up'" },
	{ "down", "'ip link set BOND down'" },
	{ "version", "'--version'" },
};

static const char *habits_meant(const char *word)
{
	for (size_t i = 0; i < sizeof(habits) / sizeof(habits[0]); i++)
		if (!strcmp(habits[i].word, word))
			return habits[i].meant;
	return NULL;
}

static const char *habits_guess(const struct cli *cli, const char *word)
{
	struct guess guess = { .word = word };

	for (const struct verb *verb = cli->verbs; verb->name; verb++)
		guess_offer(&guess, verb->name);
	return guess.best;
}

/* The verbs that begin with the word: "set, show or stats". Returns how many. */
static unsigned int habits_begin(const struct cli *cli, const char *word, char ret_text[TEXT_SIZE])
{
	const char *last = NULL;
	unsigned int count = 0;
	size_t used = 0;

	ret_text[0] = '\0';
	for (const struct verb *verb = cli->verbs; verb->name; verb++) {
		if (!*word || strncmp(verb->name, word, strlen(word)) != 0)
			continue;
		if (last && used < TEXT_SIZE)
			used += (size_t)snprintf(ret_text + used, TEXT_SIZE - used, "%s%s",
						 count > 1 ? ", " : "", last);
		last = verb->name;
		count++;
	}
	if (last && used < TEXT_SIZE)
		snprintf(ret_text + used, TEXT_SIZE - used, "%s%s", count > 1 ? " or " : "", last);
	return count;
}

static bool habits_is_bond(const struct cli *cli, const char *word)
{
	char path[PATH_MAX];
	struct err err;

	if (name_check("bond", word, &err))
		return false;
	pins_path(path, sizeof(path), cli->paths.bpf_dir, word);
	return !access(path, F_OK);
}

/* The name of the bond that has this slave. Returns false if none has. */
static bool habits_bond_of(const struct cli *cli, const char *slave, char ret_bond[XBOND_NAME_SIZE])
{
	bool found = false;
	struct pins pins;
	struct err err;
	char **names;

	if (pins_names(&names, cli->paths.bpf_dir, &err))
		return false;
	for (char **name = names; *name && !found; name++) {
		if (pins_open(&pins, cli->paths.bpf_dir, *name, &err))
			continue;
		found = pins_slot_by_name(&pins, slave) >= 0;
		snprintf(ret_bond, XBOND_NAME_SIZE, "%s", *name);
		pins_close(&pins);
	}
	pins_names_free(names);
	return found;
}

/* "bond0 show": one letter is rather the name of something. */
static const struct verb *habits_second_verb(const struct cli *cli, int count, char **words)
{
	return count > 1 && words[1][0] && words[1][1] ? cli_verb(cli, words[1]) : NULL;
}

enum cli_exit habits_refuse_verb(const struct cli *cli, int count, char **words)
{
	const struct verb *second = habits_second_verb(cli, count, words);
	const char *meant = habits_meant(words[0]), *guess = habits_guess(cli, words[0]);
	char text[TEXT_SIZE];

	if (meant)
		return cli_usage(NULL, "unknown verb '%s'; did you mean %s?", words[0], meant);
	if (second)
		return cli_usage(NULL, "unknown verb '%s'; the verb comes first: 'bondctl %s %s%s'",
				 words[0], second->name, words[0], count > 2 ? " ..." : "");
	if (habits_is_bond(cli, words[0]))
		return cli_usage(NULL,
				 "'%s' is a bond, and no verb: did you mean 'bondctl %s %s%s'?",
				 words[0], count > 1 ? "add-slave" : "show", words[0],
				 count > 1 ? " ..." : "");
	if (habits_begin(cli, words[0], text))
		return cli_usage(NULL, "'%s' may be %s; write more of it", words[0], text);
	if (guess)
		return cli_usage(NULL, "unknown verb '%s'; did you mean '%s'?", words[0], guess);
	return cli_usage(NULL, "unknown verb '%s'", words[0]);
}

enum cli_exit habits_refuse_few(const struct cli *cli, const struct verb *verb, int count,
				char **words)
{
	char bond[XBOND_NAME_SIZE];

	if (count == 1 && verb->scope == OPTION_SLAVE && !habits_is_bond(cli, words[0]) &&
	    habits_bond_of(cli, words[0], bond))
		return cli_usage(verb, "needs %s; '%s' is a slave of %s: 'bondctl %s %s %s%s'",
				 verb->arguments, words[0], bond, verb->name, bond, words[0],
				 verb->min_words > 2 ? " ..." : "");
	if (count == 1 && !strcmp(verb->name, "add-slave") && !habits_is_bond(cli, words[0]))
		return cli_usage(verb, "needs %s; 'bondctl create %s' makes a bond",
				 verb->arguments, words[0]);
	return cli_usage(verb, "needs %s", verb->arguments);
}

enum cli_exit habits_check_bond(const struct cli *cli, const struct verb *verb, const char *bond,
				int count, char **words)
{
	char of[XBOND_NAME_SIZE];

	if (habits_is_bond(cli, bond))
		return CLI_DONE;
	for (int i = 0; i < count; i++) {
		if (!habits_is_bond(cli, words[i]))
			continue;
		cli_say("there is no bond '%s', but '%s' is one, and the bond comes first: "
			"'bondctl %s %s ...'",
			bond, words[i], verb->name, words[i]);
		return CLI_REFUSED;
	}
	if (!habits_bond_of(cli, bond, of))
		return CLI_DONE;
	cli_say("there is no bond '%s', but it is a slave of %s: 'bondctl %s %s'", bond, of,
		verb->name, of);
	return CLI_REFUSED;
}
