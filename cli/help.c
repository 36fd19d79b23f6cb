/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Helps who does not know the call: help of bondctl and of its verbs, and answers to calls that are
 * wrong. Called by bondctl.c.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "common/memory.h"
#include "common/mode.h"
#include "options/names.h"

/*
 * Help is made from the verb table and the option table. The option table is printed as JSON, too,
 * which the test of the manual reads. `help VERB` opens the manual page where man(1) can show it.
 */

#define LINE_WIDTH 80
#define HELP_SIZE 1024
#define CALL_WIDTH 30
#define FLAG_WIDTH 20
#define FURTHER 6 /* how far further lines of something long are indented */

/*
 * How much of the text must stand on one line: a word, what is in brackets or, of a word that is
 * too long, up to a "|". split is true within such a word.
 */
static int help_piece(const char *text, int room, bool *split)
{
	int length = (int)strcspn(text, *text == '[' ? "]" : " ");

	length += (int)strcspn(text + length, " ");
	*split = *split || length > room;
	if (*split)
		length = (int)strcspn(text, " |");
	*split = *split && text[length] == '|';
	return length + *split;
}

/* Prints the words from this column on, and further lines from `indent` on. Returns the column. */
static int help_print_words(const char *words, int column, int indent)
{
	bool split = false;
	int blank = 0;

	while (*words) {
		int length = help_piece(words, LINE_WIDTH - indent, &split);

		if (column > indent && column + blank + length > LINE_WIDTH) {
			printf("\n");
			column = printf("%*s", indent, "");
			blank = 0;
		}
		column += printf("%*s%.*s", blank, "", length, words);
		blank = words[length] == ' ';
		words += length + blank;
	}
	return column;
}

/* What is called how, and beside it, or below it if it is long, what it does. */
static void help_print_entry(const char *call, int width, const char *help)
{
	int column;

	printf("  ");
	column = help_print_words(call, 2, FURTHER);
	if (column >= width)
		printf("\n%*s", width, "");
	else
		printf("%*s", width - column, "");
	help_print_words(help, width, width);
	putchar('\n');
}

static void help_print_flag(const struct verb_flag *flag)
{
	char call[128];

	snprintf(call, sizeof(call), "%s%s%s%s%s", flag->letter ? flag->letter : "",
		 flag->letter ? ", " : "", flag->name, flag->argument ? " " : "",
		 flag->argument ? flag->argument : "");
	help_print_entry(call, FLAG_WIDTH, flag->help);
}

static void help_print_flags(const char *title, const struct verb_flag *flag)
{
	printf("\n%s:\n", title);
	for (; flag->name; flag++)
		help_print_flag(flag);
}

static void help_print_global_flags(void)
{
	help_print_flags("Flags, before or after the verb", flags_global);
}

void help_print(const struct cli *cli)
{
	char call[128];

	puts("Usage: bondctl [FLAG]... VERB ...\n\nVerbs; 'bondctl VERB --help' says more:");
	for (const struct verb *verb = cli->verbs; verb->name; verb++) {
		snprintf(call, sizeof(call), "%s %s", verb->name, verb->arguments);
		help_print_entry(call, CALL_WIDTH, verb->help);
	}
	help_print_global_flags();
	puts("\nVerbs can be abbreviated, as in 'bondctl sh bond0'.\n"
	     "Exit status: 0 done, 1 refused or failed, 2 the command line is wrong, 3 bondd\n"
	     "is needed and does not answer; doctor: 4 there are warnings, 5 something is bad;\n"
	     "load, apply: 6 something was changed.");
}

static bool help_is_of_all_modes(const struct option_spec *option, option_of_mode *of_mode)
{
	const struct mode *mode;

	for (unsigned int i = 0; (mode = mode_at(i)); i++)
		if (!of_mode(option, mode->number))
			return false;
	return true;
}

static void help_add_modes(char text[HELP_SIZE], const char *before,
			   const struct option_spec *option, option_of_mode *of_mode)
{
	size_t length = strlen(text);
	char modes[OPTION_MODES_SIZE];

	option_list_modes(option, of_mode, modes);
	snprintf(text + length, HELP_SIZE - length, "; %s %s", before, modes);
}

static void help_print_option(const struct option_spec *option)
{
	char values[OPTION_VALUES_SIZE], text[HELP_SIZE];

	snprintf(text, sizeof(text), "%s %s (default %s)", option->name,
		 option_values(option, values), option->initial);
	printf("  ");
	help_print_words(text, 2, FURTHER);
	snprintf(text, sizeof(text), "%s", option->help);
	if (!help_is_of_all_modes(option, option_is_of_mode))
		help_add_modes(text, "only in", option, option_is_of_mode);
	else if (!help_is_of_all_modes(option, option_has_effect))
		help_add_modes(text, "used only in", option, option_has_effect);
	printf("\n%*s", FURTHER, "");
	help_print_words(text, FURTHER, FURTHER);
	putchar('\n');
}

void help_print_verb(const struct verb *verb)
{
	char usage[HELP_SIZE];

	snprintf(usage, sizeof(usage), "Usage: bondctl [FLAG]... %s %s", verb->name,
		 verb->arguments);
	help_print_words(usage, 0, FURTHER);
	printf("\n\n");
	help_print_words(verb->help, 0, 0);
	putchar('\n');
	if (verb->takes_options)
		puts("\nOptions:");
	for (unsigned int id = 0; id < OPT_COUNT; id++)
		if (cli_verb_takes(verb, option_at(id)))
			help_print_option(option_at(id));
	if (verb->flags)
		help_print_flags("Flags of this verb", verb->flags);
	help_print_global_flags();
}

/* On a terminal the verb's manual page takes this program's place. Returns if there is none. */
static void help_open_manual(const struct verb *verb)
{
	char page[64], search[128];

	if (!isatty(STDOUT_FILENO))
		return;
	snprintf(page, sizeof(page), "bondctl-%s", verb->name);
	snprintf(search, sizeof(search), "exec man -w 8 %s >/dev/null 2>&1", page);
	if (!system(search))
		execlp("man", "man", "8", page, (char *)NULL);
}

enum cli_exit cmd_help(const struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	const struct verb *of = argc ? cli_verb(cli, argv[0]) : NULL;

	if (argc && !of)
		return habits_refuse_verb(cli, argc, argv);
	if (of) {
		help_open_manual(of);
		help_print_verb(of);
	} else {
		help_print(cli);
	}
	return CLI_DONE;
}

static json_t *help_mode_names(const struct option_spec *option,
			       bool (*of_mode)(const struct option_spec *, uint32_t))
{
	json_t *names = json_array();
	const struct mode *mode;

	for (unsigned int i = 0; (mode = mode_at(i)); i++)
		if (of_mode(option, mode->number))
			json_array_append_new(names, json_string(mode->name));
	return names;
}

static json_t *help_option_json(const struct option_spec *option)
{
	char values[OPTION_VALUES_SIZE];

	return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:s}", "name", option->name, "scope",
			 option->scope == OPTION_BOND ? "bond" : "slave", "values",
			 option_values(option, values), "default", option->initial, "modes",
			 help_mode_names(option, option_is_of_mode), "effect_modes",
			 help_mode_names(option, option_has_effect), "help", option->help);
}

enum cli_exit help_dump_options(void)
{
	json_t *all = json_array();

	for (unsigned int id = 0; id < OPT_COUNT; id++)
		json_array_append_new(all, help_option_json(option_at(id)));
	return cli_print_json(all);
}

/* Calls that are wrong, but from which one can see what was meant. */

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
	{ "ifenslave", "'add-slave'" },
	{ "attach", "'add-slave'" },
	{ "port", "'add-slave', 'del-slave' or 'set-slave'" },
	{ "detach", "'del-slave'" },
	{ "release", "'del-slave'" },
	{ "remove-slave", "'del-slave'" },
	{ "drain", "'set-slave BOND DEV drain on'" },
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
		found = pins_slot_by_name(&pins, cli_slave_name(&pins, slave, ret_bond)) >= 0;
		snprintf(ret_bond, XBOND_NAME_SIZE, "%s", *name);
		pins_close(&pins);
	}
	memory_free_texts(names);
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
		return cli_usage(NULL, "'%s' is the beginning of %s; write more of it", words[0],
				 text);
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

/* The verb that does to a slave what this one does to a bond. NULL: none does. */
static const char *habits_verb_of_slaves(const struct verb *verb, int count, char **words)
{
	if (verb->scope == OPTION_SLAVE)
		return verb->name;
	if (!strcmp(verb->name, "delete"))
		return "del-slave";
	return !strcmp(verb->name, "set") && count > 1 && option_find(OPTION_SLAVE, words[1])
		       ? "set-slave"
		       : NULL;
}

enum cli_exit habits_check_bond(const struct cli *cli, const struct verb *verb, const char *bond,
				int count, char **words)
{
	const char *of_slaves = habits_verb_of_slaves(verb, count, words);
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
	cli_say("there is no bond '%s', but it is a slave of %s: 'bondctl %s %s%s%s%s'", bond, of,
		of_slaves ? of_slaves : verb->name, of, of_slaves ? " " : "", of_slaves ? bond : "",
		verb->min_words > 1 ? " ..." : "");
	return CLI_REFUSED;
}
