/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Help, made from the verb table and the option table, and the option table as JSON,
 * which the test of the manual reads. Called by main only.
 */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

#define CALL_WIDTH 53
#define MODES (XBOND_MODE_8023AD + 1)
#define ALL_MODES ((1u << MODES) - 1)

static const char flags_help[] =
	"Flags, before or after the verb:\n"
	"  -j, --json        JSON for scripts instead of text\n"
	"  --run-dir DIR     where bondd's socket is (XBOND_RUN_DIR, /run/xbond)\n"
	"  --bpf-dir DIR     where the bonds' maps are pinned (XBOND_BPF_DIR, /sys/fs/bpf/xbond)\n"
	"  --config-dir DIR  where save writes (XBOND_CONFIG_DIR, /etc/xbond)\n"
	"  --help            this text, or that of a verb\n"
	"  --version         the version\n"
	"  --                ends the flags\n";

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
	printf("\n%s", flags_help);
	puts("\nExit status: 0 done, 1 refused or failed, 2 usage, 3 needs bondd and bondd is away "
	     "or was "
	     "lost.");
}

static void print_modes(const char *before, uint32_t modes)
{
	const char *separator = before;

	if (modes == ALL_MODES)
		return;
	for (uint32_t mode = 0; mode < MODES; mode++) {
		if (!(modes & (1u << mode)))
			continue;
		printf("%s%s", separator, option_mode_name(mode));
		separator = ", ";
	}
}

static void print_option(const struct option *option)
{
	printf("  %s %s (default %s)\n      %s", option->name, option->values, option->initial,
	       option->help);
	if (option->modes != ALL_MODES)
		print_modes("; only in mode ", option->modes);
	else
		print_modes("; has an effect only in mode ", option->effect_modes);
	putchar('\n');
}

void help_print_verb(const struct verb *verb)
{
	printf("Usage: bondctl [FLAG]... %s %s\n\n%s\n", verb->name, verb->arguments, verb->help);
	if (verb->takes_options)
		puts("\nOptions:");
	for (unsigned int id = 0; id < OPT_COUNT; id++)
		if (cli_verb_takes(verb, option_at(id)))
			print_option(option_at(id));
	printf("\n%s", flags_help);
}

static json_t *mode_names(uint32_t modes)
{
	json_t *names = json_array();

	for (uint32_t mode = 0; mode < MODES; mode++)
		if (modes & (1u << mode))
			json_array_append_new(names, json_string(option_mode_name(mode)));
	return names;
}

enum cli_exit help_dump_options(void)
{
	json_t *all = json_array();

	for (unsigned int id = 0; id < OPT_COUNT; id++) {
		const struct option *option = option_at(id);

		json_array_append_new(
			all, json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:s}", "name", option->name,
				       "scope", option->scope == OPTION_BOND ? "bond" : "slave",
				       "values", option->values, "default", option->initial,
				       "modes", mode_names(option->modes), "effect_modes",
				       mode_names(option->effect_modes), "help", option->help));
	}
	return cli_print_json(all);
}
