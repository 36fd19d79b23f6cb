/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * complete: what the last of these words of a call may be. The scripts for shells ask it
 * (packaging/completions). It changes nothing, and says nothing on standard error: a message would
 * appear in the middle of the line that the user types.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/verb_parts.h"
#include "common/memory.h"
#include "common/mode.h"

_Static_assert(FLAG_COUNT <= CLI_FLAGS_MAX, "given_global has room for all");

/* The line that is being typed. */

static void line_take_argument(struct line *line, enum flag_global flag, const char *argument)
{
	if (*argument)
		flags_set_directory(&line->cli.paths, flag, argument);
}

/* Returns how many of the words it has taken. */
static int line_take_flag(struct line *line, char **words, int count)
{
	const struct verb_flag *own = line->verb ? line->verb->flags : NULL, *flag;
	const char *argument;
	bool is_global;

	flag = flags_find(flags_global, words[0], &argument);
	is_global = flag;
	if (!flag)
		flag = flags_find(own, words[0], &argument);
	if (!flag)
		return 1;
	if (is_global)
		line->given_global[flag - flags_global] = true;
	else
		line->given[flag - own] = true;
	if (flag->argument && !argument && count < 2) {
		line->awaits = flag;
		return 1;
	}
	if (is_global && flag->argument)
		line_take_argument(line, (enum flag_global)(flag - flags_global),
				   argument ? argument : words[1]);
	return flag->argument && !argument ? 2 : 1;
}

static void line_take_word(struct line *line, char *word)
{
	if (line->verb) {
		line->arguments[line->argument_count++] = word;
	} else {
		line->verb = cli_verb(&line->cli, word);
		line->is_lost |= !line->verb;
	}
}

/* arguments: room for count words. */
static void line_read(struct line *line, char **words, int count, char **arguments)
{
	line->arguments = arguments;
	for (int at = 0; at < count;) {
		if (line->flags_ended || !flags_looks_like(words[at]))
			line_take_word(line, words[at++]);
		else if (!strcmp(words[at], flags_global[FLAG_END].name))
			line->flags_ended = ++at;
		else
			at += line_take_flag(line, words + at, count - at);
	}
}

#define GRAMMAR_WORD_SIZE 128

/* The options that a verb takes and the values that they may have, by the option table. */

static bool offer_is_given(const struct option_spec *option, char **pairs, int count)
{
	for (int at = 0; at + 1 < count; at += 2)
		if (!strcmp(pairs[at], option->name))
			return true;
	return false;
}

/* The mode that the line asks for, or the one of the bond; NULL if neither is known. */
static const struct mode *offer_mode(const struct live_bond *bond, char **pairs, int count)
{
	for (int at = 0; at + 1 < count; at += 2)
		if (!strcmp(pairs[at], option_at(OPT_MODE)->name))
			return mode_by_name(pairs[at + 1]);
	return bond->known ? mode_find(bond->mode) : NULL;
}

/*
 * Offers those that have an effect in the bond's mode and that the pairs do not have already.
 * pairs: the words OPTION VALUE that the line has, count of them.
 */
static void offer_options(const struct line *line, char **pairs, int count, struct offers *offers)
{
	const struct mode *mode;
	struct live_bond bond;

	live_bond_read(&line->cli, line->bond, &bond);
	mode = offer_mode(&bond, pairs, count);
	for (unsigned int id = 0; id < OPT_COUNT; id++) {
		const struct option_spec *option = option_at(id);

		if (!cli_verb_takes(line->verb, option) || option->is_alias ||
		    offer_is_given(option, pairs, count) ||
		    (mode && !option_has_effect(option, mode->number)))
			continue;
		offers_add(offers, option->name, option->help);
	}
	live_bond_done(&bond);
}

/* "none" clears it: of an address, a name or a list. */
static bool offer_can_be_none(const struct option_spec *option)
{
	return option->type == OPTION_MAC || option->type == OPTION_IFNAME ||
	       option->type == OPTION_ADDRESS || option_is_list(option);
}

static void offer_value(const struct option_spec *option, const char *value, struct offers *offers)
{
	offers_add(offers, value, strcmp(value, option->initial) != 0 ? "" : "the default");
}

static void offer_option_values(const struct line *line, const char *name, struct offers *offers)
{
	const struct option_spec *option = option_find(line->verb->scope, name);
	struct option_name value;

	if (!option || !cli_verb_takes(line->verb, option))
		return;
	if (option->type == OPTION_BOOL) {
		offer_value(option, "on", offers);
		offer_value(option, "off", offers);
	}
	for (unsigned int i = 0; option_name_at(option, i, &value); i++)
		offer_value(option, value.name, offers);
	if (option->word)
		offer_value(option, option->word, offers);
	if (option->type == OPTION_IFNAME)
		live_offer_slaves(&line->cli, line->bond, offers);
	if (offer_can_be_none(option))
		offer_value(option, "none", offers);
	offer_value(option, option->initial, offers);
}

/* Takes one word after the other out of the text of a verb's arguments. */
struct grammar {
	const char *rest;
	char word[GRAMMAR_WORD_SIZE]; /* without brackets and dots */
	bool repeats;		      /* "DEV..." */
};

static const char *grammar_skip_flag(const char *text)
{
	size_t length = strcspn(text, "]");

	return text + length + (text[length] == ']');
}

/* False behind the last one, and where another way to call the verb begins ("|"). */
static bool grammar_next(struct grammar *grammar)
{
	size_t length;

	grammar->rest += strspn(grammar->rest, " ");
	while (!strncmp(grammar->rest, "[-", 2)) {
		grammar->rest = grammar_skip_flag(grammar->rest);
		grammar->rest += strspn(grammar->rest, ". ");
	}
	grammar->rest += strspn(grammar->rest, "[ ");
	length = strcspn(grammar->rest, " ].");
	snprintf(grammar->word, sizeof(grammar->word), "%.*s", (int)length, grammar->rest);
	grammar->rest += length;
	length = strspn(grammar->rest, "].");
	grammar->repeats = memchr(grammar->rest, '.', length);
	grammar->rest += length;
	return grammar->word[0] && strcmp(grammar->word, "|") != 0;
}

/* Is it the name of something, or a choice, and not a word that stands before a value? */
static bool grammar_is_place(const char *word)
{
	return isupper((unsigned char)word[0]) || strchr(word, '|');
}

/* The verbs whose BOND is not one that runs. */
static const struct {
	const char *verb;
	void (*offer)(const struct cli *cli, struct offers *offers); /* NULL: a new name */
} grammar_bonds[] = {
	{ "create", NULL },
	{ "load", live_offer_configured },
	{ "apply", live_offer_configured },
	{ "import", live_offer_kernel_bonds },
	{ "takeover", live_offer_kernel_bonds },
};

bool grammar_is_of_bonds(const struct verb *verb)
{
	for (size_t i = 0; i < sizeof(grammar_bonds) / sizeof(grammar_bonds[0]); i++)
		if (!strcmp(grammar_bonds[i].verb, verb->name))
			return false;
	return true;
}

static void grammar_offer_verb(const struct line *line, struct offers *offers)
{
	for (const struct verb *verb = line->cli.verbs; verb->name; verb++)
		offers_add(offers, verb->name, verb->help);
}

static void grammar_offer_bond(const struct line *line, struct offers *offers)
{
	void (*offer)(const struct cli *cli, struct offers *offers) = live_offer_bonds;

	for (size_t i = 0; i < sizeof(grammar_bonds) / sizeof(grammar_bonds[0]); i++)
		if (!strcmp(grammar_bonds[i].verb, line->verb->name))
			offer = grammar_bonds[i].offer;
	if (offer)
		offer(&line->cli, offers);
}

static void grammar_offer_device(const struct line *line, struct offers *offers)
{
	if (!strcmp(line->verb->name, "add-slave"))
		live_offer_devices(&line->cli, offers);
	else
		live_offer_slaves(&line->cli, line->bond, offers);
}

static void grammar_offer_file(const struct line *line, struct offers *offers)
{
	offers->files = OFFERS_FILES;
}

static void grammar_offer_directory(const struct line *line, struct offers *offers)
{
	offers->files = OFFERS_DIRECTORIES;
}

static const struct {
	const char *name;
	void (*offer)(const struct line *line, struct offers *offers);
} grammar_places[] = {
	{ "BOND", grammar_offer_bond },	    { "VERB", grammar_offer_verb },
	{ "DEV", grammar_offer_device },    { "FILE", grammar_offer_file },
	{ "DIR", grammar_offer_directory },
};

static void grammar_offer_one(const struct line *line, const char *what, struct offers *offers)
{
	for (size_t i = 0; i < sizeof(grammar_places) / sizeof(grammar_places[0]); i++)
		if (!strcmp(grammar_places[i].name, what))
			grammar_places[i].offer(line, offers);
	if (!isupper((unsigned char)what[0]))
		offers_add(offers, what, "");
}

/* Offers what a word of the arguments or the argument of a flag stands for: "BOND", "a|b|FILE". */
static void grammar_offer(const struct line *line, const char *what, struct offers *offers)
{
	char copy[GRAMMAR_WORD_SIZE], *at = copy, *one;

	snprintf(copy, sizeof(copy), "%s", what);
	while ((one = strsep(&at, "|")))
		grammar_offer_one(line, one, offers);
}

static bool grammar_ends_devices(const struct line *line, const char *word)
{
	const struct option_spec *option = option_find(line->verb->scope, word);

	return option && cli_verb_takes(line->verb, option);
}

/* Takes the arguments that stand in this place. Returns how many. */
static int grammar_fill(struct line *line, const struct grammar *grammar, int at)
{
	int first = at;

	if (!strcmp(grammar->word, "BOND") && at < line->argument_count)
		line->bond = line->arguments[at];
	if (!grammar->repeats)
		return at < line->argument_count;
	while (at < line->argument_count && !grammar_ends_devices(line, line->arguments[at]))
		at += strcmp(line->arguments[at], "dev") || at + 1 == line->argument_count ? 1 : 2;
	return at - first;
}

static bool grammar_is_argument(const struct line *line, int from, const char *word)
{
	for (int at = from; at < line->argument_count; at++)
		if (!strcmp(line->arguments[at], word))
			return true;
	return false;
}

/* What can be named once is not offered again. */
static void grammar_offer_rest(const struct line *line, const char *what, int from,
			       struct offers *offers)
{
	struct offers all = { offers->begin, offers->before, json_array(), OFFERS_NO_FILES };
	const json_t *offer;
	size_t at;

	grammar_offer(line, what, &all);
	if (all.files)
		offers->files = all.files;
	json_array_foreach (all.words, at, offer)
		if (!grammar_is_argument(line, from,
					 json_string_value(json_object_get(offer, "word"))))
			json_array_append(offers->words, (json_t *)offer);
	json_decref(all.words);
}

static void grammar_offer_options(const struct line *line, int from, struct offers *offers)
{
	char **pairs = line->arguments + from;
	int count = line->argument_count - from;

	if (count % 2)
		offer_option_values(line, pairs[count - 1], offers);
	else
		offer_options(line, pairs, count, offers);
}

/* The words from `from` on are pairs as in `src IP dst IP`, in any order. */
static void grammar_offer_pairs(const struct line *line, struct grammar grammar, int from,
				struct offers *offers)
{
	int count = line->argument_count - from;
	const char *last = line->argument_count ? line->arguments[line->argument_count - 1] : "";

	do {
		char key[GRAMMAR_WORD_SIZE];

		snprintf(key, sizeof(key), "%s", grammar.word);
		if (!grammar_next(&grammar))
			return;
		if (count % 2 == 0 && !grammar_is_argument(line, from, key))
			offers_add(offers, key, "");
		else if (count % 2 && !strcmp(last, key))
			grammar_offer(line, grammar.word, offers);
	} while (grammar_next(&grammar));
}

/* False if what follows cannot come before this place is filled. */
static bool grammar_pass(struct line *line, const struct grammar *grammar, int *at,
			 struct offers *offers)
{
	int taken = grammar_fill(line, grammar, *at);

	*at += taken;
	if (*at == line->argument_count && (!taken || grammar->repeats))
		grammar_offer_rest(line, grammar->word, *at - taken, offers);
	return taken;
}

/* Offers what may follow the arguments that the line has. */
static void grammar_offer_next(struct line *line, struct offers *offers)
{
	struct grammar grammar = { .rest = line->verb->arguments };
	int at = 0;

	while (grammar_next(&grammar)) {
		if (!strcmp(grammar.word, "OPTION"))
			return grammar_offer_options(line, at, offers);
		if (!grammar_is_place(grammar.word))
			return grammar_offer_pairs(line, grammar, at, offers);
		if (!grammar_pass(line, &grammar, &at, offers))
			return;
	}
}

void grammar_find_bond(struct line *line)
{
	struct grammar grammar = { .rest = line->verb->arguments };
	int at = 0;

	while (grammar_next(&grammar) && grammar_is_place(grammar.word))
		at += grammar_fill(line, &grammar, at);
}

/* The last word: a flag, the argument of one, or what the verb takes. */

static void complete_flags(const struct verb_flag *flags, const bool *given, struct offers *offers)
{
	for (unsigned int i = 0; flags && flags[i].name; i++)
		if (!given[i])
			offers_add(offers, flags[i].name, flags[i].help);
}

/* "--slave=e": the argument of a flag, in one word with it. */
static const struct verb_flag *complete_split(const struct line *line, struct offers *offers)
{
	const char *argument;
	const struct verb_flag *flag = flags_find(flags_global, offers->begin, &argument);

	if (!flag)
		flag = flags_find(line->verb ? line->verb->flags : NULL, offers->begin, &argument);
	if (!flag || !flag->argument || !argument)
		return NULL;
	offers->before = memory_need(strndup(offers->begin, (size_t)(argument - offers->begin)));
	offers->begin = argument;
	return flag;
}

static void complete_argument(struct line *line, const struct verb_flag *flag,
			      struct offers *offers)
{
	if (line->verb)
		grammar_find_bond(line);
	grammar_offer(line, flag->argument, offers);
}

static void complete_line(struct line *line, struct offers *offers)
{
	const struct verb_flag *split = NULL;

	if (line->awaits)
		return complete_argument(line, line->awaits, offers);
	if (!line->flags_ended && offers->begin[0] == '-') {
		split = complete_split(line, offers);
		if (split)
			return complete_argument(line, split, offers);
		complete_flags(flags_global, line->given_global, offers);
		complete_flags(line->verb ? line->verb->flags : NULL, line->given, offers);
	}
	if (line->is_lost)
		return;
	if (line->verb)
		grammar_offer_next(line, offers);
	else
		grammar_offer(line, "VERB", offers);
}

static enum cli_exit complete_print(const struct cli *cli, struct offers *offers)
{
	if (cli->json)
		return cli_print_json(offers_json(offers));
	offers_print(offers);
	return CLI_DONE;
}

enum cli_exit cmd_complete(const struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	struct offers offers = { .begin = argc ? argv[argc - 1] : "", .words = json_array() };
	char **arguments = memory_need(calloc((size_t)argc + 1, sizeof(*arguments)));
	struct line line = { .cli = { .paths = cli->paths, .verbs = cli->verbs } };
	enum cli_exit status;

	line_read(&line, argv, argc ? argc - 1 : 0, arguments);
	complete_line(&line, &offers);
	status = complete_print(cli, &offers);
	free(arguments);
	free(offers.before);
	json_decref(offers.words);
	return status;
}
