/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints help, made from the verb table and the option table. Also prints the option table as JSON,
 * which the test of the manual reads. Called by main only.
 */
#include <stdio.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/flags.h"
#include "common/mode.h"

#define CALL_WIDTH 53

static void help_print_flag(const struct verb_flag *flag)
{
	char call[64];

	snprintf(call, sizeof(call), "%s%s%s%s%s", flag->letter ? flag->letter : "",
		 flag->letter ? ", " : "", flag->name, flag->argument ? " " : "",
		 flag->argument ? flag->argument : "");
	printf("  %-18s%s%s\n", call, strlen(call) < 18 ? "" : " ", flag->help);
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

void help_print(void)
{
	char call[128];

	puts("Usage: bondctl [FLAG]... VERB ...\n\nVerbs; 'bondctl VERB --help' says more:");
	for (const struct verb *verb = cli_verbs; verb->name; verb++) {
		snprintf(call, sizeof(call), "%s %s", verb->name, verb->arguments);
		printf("  %-*s", CALL_WIDTH, call);
		if (strlen(call) > CALL_WIDTH)
			printf("\n  %*s", CALL_WIDTH, "");
		printf(" %s\n", verb->help);
	}
	help_print_global_flags();
	puts("\nExit status: 0 done, 1 refused or failed, 2 usage, 3 needs bondd and bondd is away "
	     "or was lost; doctor: 4 warnings, 5 something bad; load, apply: 6 changed.");
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

static void help_print_modes(const char *before, const struct option_spec *option,
			     bool (*of_mode)(const struct option_spec *, uint32_t))
{
	const char *separator = before;
	const struct mode *mode;

	for (unsigned int i = 0; (mode = mode_at(i)); i++) {
		if (!of_mode(option, mode->number))
			continue;
		printf("%s%s", separator, mode->name);
		separator = ", ";
	}
}

static void help_print_option(const struct option_spec *option)
{
	char values[OPTION_VALUES_SIZE];

	printf("  %s %s (default %s)\n      %s", option->name, option_values(option, values),
	       option->initial, option->help);
	if (!help_is_of_all_modes(option, option_is_of_mode))
		help_print_modes("; only in mode ", option, option_is_of_mode);
	else if (!help_is_of_all_modes(option, option_has_effect))
		help_print_modes("; has an effect only in mode ", option, option_has_effect);
	putchar('\n');
}

void help_print_verb(const struct verb *verb)
{
	printf("Usage: bondctl [FLAG]... %s %s\n\n%s\n", verb->name, verb->arguments, verb->help);
	if (verb->takes_options)
		puts("\nOptions:");
	for (unsigned int id = 0; id < OPT_COUNT; id++)
		if (cli_verb_takes(verb, option_at(id)))
			help_print_option(option_at(id));
	if (verb->flags)
		help_print_flags("Flags of this verb", verb->flags);
	help_print_global_flags();
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
