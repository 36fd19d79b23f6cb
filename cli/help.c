/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints help, made from the verb table and the option table. Also prints the option table as JSON,
 * which the test of the manual reads. `help VERB` opens the manual page where man(1) can show it.
 * Called by main only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/habits.h"
#include "common/mode.h"

#define LINE_WIDTH 80
#define HELP_SIZE 1024
#define CALL_WIDTH 30
#define FLAG_WIDTH 20
#define FURTHER 6 /* how far further lines of something long are indented */

/* How much of the text must stand on one line: a word, or, if that is too long, up to a "|". */
static int help_piece(const char *text, int room)
{
	size_t length = strcspn(text, " ");

	if ((int)length <= room)
		return (int)length;
	length = strcspn(text, " |");
	return (int)length + (text[length] == '|');
}

/* Prints the words from this column on, and further lines from `indent` on. Returns the column. */
static int help_print_words(const char *words, int column, int indent)
{
	int blank = 0;

	while (*words) {
		int length = help_piece(words, LINE_WIDTH - indent);

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
	puts("\nA beginning that only one verb has stands for it, as in 'bondctl sh bond0'.\n"
	     "Exit status: 0 done, 1 refused or failed, 2 the command line is wrong, 3 needs\n"
	     "bondd, which does not answer; doctor: 4 warnings, 5 something bad; load, apply:\n"
	     "6 changed.");
}

static bool help_is_of_all_modes(const struct option_spec *option,
				 bool (*of_mode)(const struct option_spec *, uint32_t))
{
	const struct mode *mode;

	for (unsigned int i = 0; (mode = mode_at(i)); i++)
		if (!of_mode(option, mode->number))
			return false;
	return true;
}

static void help_add_modes(char text[HELP_SIZE], const char *before,
			   const struct option_spec *option,
			   bool (*of_mode)(const struct option_spec *, uint32_t))
{
	const char *separator = before;
	const struct mode *mode;
	size_t length;

	for (unsigned int i = 0; (mode = mode_at(i)); i++) {
		if (!of_mode(option, mode->number))
			continue;
		length = strlen(text);
		snprintf(text + length, HELP_SIZE - length, "%s%s", separator, mode->name);
		separator = ", ";
	}
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
		help_add_modes(text, "; only in mode ", option, option_is_of_mode);
	else if (!help_is_of_all_modes(option, option_has_effect))
		help_add_modes(text, "; used only in mode ", option, option_has_effect);
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

	(void)verb;
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
