/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bondctl: takes the flags out of the words of the call, finds the verb, checks the name of the
 * bond, and runs the verb. Global flags come before or after the verb; a verb's own flags after it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/print.h"
#include "cli/verb_parts.h"
#include "common/err.h"
#include "common/memory.h"
#include "common/paths.h"
#include "options/names.h"

struct call {
	struct cli cli;
	bool help, version, dump_options;
	int word_count;
	char **words;
};

/* The verb, if its word has come already and is one. */
static const struct verb *bondctl_verb(const struct call *call)
{
	return call->word_count ? cli_verb(&call->cli, call->words[0]) : NULL;
}

/* The argument of the flag, which may be the next word; "" if it takes none. */
static enum cli_exit bondctl_argument(const struct verb *verb, const struct verb_flag *flag,
				      char **argv, int *at, const char **ret_argument)
{
	const char *word = argv[*at];

	if (!flag->argument && *ret_argument)
		return cli_usage(verb, "%s takes no argument", flag->name);
	if (!flag->argument)
		*ret_argument = "";
	else if (!*ret_argument)
		*ret_argument = argv[++*at];
	if (flag->argument && (!*ret_argument || !**ret_argument))
		return cli_usage(verb, "%s needs %s", word, flag->argument);
	return CLI_DONE;
}

static void bondctl_obey(struct call *call, enum flag_global flag, const char *argument)
{
	flags_set_directory(&call->cli.paths, flag, argument);
	call->cli.json |= flag == FLAG_JSON;
	call->help |= flag == FLAG_HELP;
	call->version |= flag == FLAG_VERSION;
}

/* Without its verb nobody knows whether there is such a flag. */
static enum cli_exit bondctl_refuse_flag(const struct call *call, const struct verb *verb,
					 const char *word)
{
	struct guess guess = { .word = word };

	if (call->word_count && !verb)
		return habits_refuse_verb(&call->cli, call->word_count, call->words);
	for (const struct verb_flag *flag = flags_global; flag < flags_global + FLAG_END; flag++)
		guess_offer(&guess, flag->name);
	for (const struct verb_flag *flag = verb ? verb->flags : NULL; flag && flag->name; flag++)
		guess_offer(&guess, flag->name);
	return cli_usage(verb, "unknown flag '%s'%s%s%s", word, guess.best ? "; did you mean " : "",
			 guess.best ? guess.best : "", guess.best ? "?" : "");
}

static enum cli_exit bondctl_take_flag(struct call *call, char **argv, int *at)
{
	const struct verb *verb = bondctl_verb(call);
	const struct verb_flag *flag;
	const char *argument;
	enum cli_exit status;

	flag = flags_find(flags_global, argv[*at], &argument);
	if (flag) {
		status = bondctl_argument(NULL, flag, argv, at, &argument);
		if (status == CLI_DONE)
			bondctl_obey(call, (enum flag_global)(flag - flags_global), argument);
		return status;
	}
	flag = flags_find(verb ? verb->flags : NULL, argv[*at], &argument);
	if (!flag)
		return bondctl_refuse_flag(call, verb, argv[*at]);
	status = bondctl_argument(verb, flag, argv, at, &argument);
	if (status == CLI_DONE)
		call->cli.flags[flag - verb->flags] = argument;
	return status;
}

static enum cli_exit bondctl_take_words(struct call *call, int argc, char **argv)
{
	enum cli_exit status = CLI_DONE;
	bool flags = true;

	for (int at = 1; at < argc && status == CLI_DONE; at++) {
		if (!flags || !flags_looks_like(argv[at]))
			call->words[call->word_count++] = argv[at];
		else if (!strcmp(argv[at], flags_global[FLAG_END].name))
			flags = false;
		else if (!strcmp(argv[at], "--dump-options"))
			call->dump_options = true;
		else
			status = bondctl_take_flag(call, argv, &at);
	}
	return status;
}

/* The name of the bond, where the verb takes one. */
static enum cli_exit bondctl_check_bond(const struct call *call, const struct verb *verb)
{
	struct line line = { .verb = verb,
			     .arguments = call->words + 1,
			     .argument_count = call->word_count - 1 };
	struct err err;

	grammar_find_bond(&line);
	if (!line.bond)
		return CLI_DONE;
	if (name_check("bond", line.bond, &err))
		return cli_wrong(&err);
	if (!grammar_is_of_bonds(verb))
		return CLI_DONE;
	return habits_check_bond(&call->cli, verb, line.bond, line.argument_count, line.arguments);
}

/* If no bond is named. */
static bool bondctl_changes_all(const struct verb *verb)
{
	return verb->run == cmd_apply || verb->run == cmd_confirm;
}

static enum cli_exit bondctl_run_verb(const struct call *call, const struct verb *verb)
{
	int words = call->word_count - 1;
	enum cli_exit status;

	if (words < verb->min_words)
		return habits_refuse_few(&call->cli, verb, words, call->words + 1);
	if (words > verb->max_words)
		return cli_usage(verb, "unexpected '%s'", call->words[1 + verb->max_words]);
	if (!words && bondctl_changes_all(verb) && strcmp(call->words[0], verb->name) != 0)
		return cli_usage(verb, "write '%s' in full, or name a bond: it is for all of them",
				 verb->name);
	status = bondctl_check_bond(call, verb);
	return status == CLI_DONE ? verb->run(&call->cli, verb, words, call->words + 1) : status;
}

static enum cli_exit bondctl_run(const struct call *call)
{
	const struct verb *verb = bondctl_verb(call);

	if (call->version) {
		printf("bondctl %s\n", xbond_version);
		return CLI_DONE;
	}
	if (call->dump_options)
		return help_dump_options();
	if (call->word_count && !verb)
		return habits_refuse_verb(&call->cli, call->word_count, call->words);
	if (call->help && verb)
		help_print_verb(verb);
	else if (call->help)
		help_print(&call->cli);
	else if (!verb)
		return cli_usage(NULL, "no verb");
	else
		return bondctl_run_verb(call, verb);
	return CLI_DONE;
}

int main(int argc, char **argv)
{
	struct call call = { .words = memory_need(calloc((size_t)argc + 1, sizeof(char *))) };
	enum cli_exit status;

	memory_init();
	paths_keep_standard();
	call.cli.verbs = cli_verbs;
	paths_init(&call.cli.paths);
	text_wrap_begin();
	status = bondctl_take_words(&call, argc, argv);
	if (call.cli.json || call.dump_options)
		text_wrap_end();
	if (status == CLI_DONE)
		status = bondctl_run(&call);
	text_wrap_end();
	free(call.words);
	if (fflush(stdout) || ferror(stdout)) {
		cli_say("cannot write to standard output: %m");
		return CLI_REFUSED;
	}
	return status;
}
