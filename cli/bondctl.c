/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bondctl: takes the flags out of the words of the call, finds the verb and runs it. Global flags
 * come before or after the verb; a verb's own flags after it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "common/version.h"

struct call {
	struct cli cli;
	bool help, version, dump_options;
	int word_count;
	char **words;
};

static const struct verb *bondctl_find_verb(const char *name)
{
	for (const struct verb *verb = cli_verbs; verb->name; verb++)
		if (!strcmp(verb->name, name))
			return verb;
	return NULL;
}

/* The verb, if its word has come already and is one. */
static const struct verb *bondctl_verb(const struct call *call)
{
	return call->word_count ? bondctl_find_verb(call->words[0]) : NULL;
}

static bool bondctl_take_simple_flag(struct call *call, const char *word)
{
	if (!strcmp(word, "-j") || !strcmp(word, "--json"))
		call->cli.json = true;
	else if (!strcmp(word, "-h") || !strcmp(word, "--help"))
		call->help = true;
	else if (!strcmp(word, "--version"))
		call->version = true;
	else if (!strcmp(word, "--dump-options"))
		call->dump_options = true;
	else
		return false;
	return true;
}

/*
 * Takes --run-dir DIR and --run-dir=DIR. Returns 1 if it took the flag, 0 if it is another flag,
 * and -EINVAL if the DIR is missing.
 */
static int bondctl_take_dir_flag(struct call *call, char **argv, int *at)
{
	const struct {
		const char *flag;
		const char **dir;
	} flags[] = {
		{ "--run-dir", &call->cli.paths.run_dir },
		{ "--bpf-dir", &call->cli.paths.bpf_dir },
		{ "--config-dir", &call->cli.paths.config_dir },
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		size_t length = strlen(flags[i].flag);
		const char *dir;

		if (strncmp(argv[*at], flags[i].flag, length) ||
		    (argv[*at][length] && argv[*at][length] != '='))
			continue;
		dir = argv[*at][length] ? argv[*at] + length + 1 : argv[++*at];
		*flags[i].dir = dir;
		return dir && *dir ? 1 : -EINVAL;
	}
	return 0;
}

/* Whether the word is this flag; with '=' in it, ret_argument is what follows. */
static bool bondctl_is_flag(const char *word, const struct verb_flag *flag,
			    const char **ret_argument)
{
	size_t length = strlen(flag->name);

	*ret_argument = NULL;
	if (flag->letter && !strcmp(word, flag->letter))
		return true;
	if (strncmp(word, flag->name, length) || (word[length] && word[length] != '='))
		return false;
	if (word[length])
		*ret_argument = word + length + 1;
	return true;
}

static enum cli_exit bondctl_take_verb_flag(struct call *call, const struct verb *verb, char **argv,
					    int *at)
{
	const struct verb_flag *flag = verb ? verb->flags : NULL;
	const char *word = argv[*at], *argument = NULL;

	while (flag && flag->name && !bondctl_is_flag(word, flag, &argument))
		flag++;
	if (!flag || !flag->name)
		return cli_usage(verb, "unknown flag '%s'", word);
	if (!flag->argument && argument)
		return cli_usage(verb, "%s takes no argument", flag->name);
	if (flag->argument && !argument)
		argument = argv[++*at];
	if (flag->argument && (!argument || !*argument))
		return cli_usage(verb, "%s needs %s", word, flag->argument);
	call->cli.flags[flag - verb->flags] = argument ? argument : "";
	return CLI_DONE;
}

/* A minus before a digit is a value, which its option will refuse. */
static bool bondctl_looks_like_flag(const char *word)
{
	return word[0] == '-' && word[1] && !strchr("0123456789", word[1]);
}

static enum cli_exit bondctl_take_words(struct call *call, int argc, char **argv)
{
	bool flags = true;

	for (int at = 1; at < argc; at++) {
		char *word = argv[at];
		enum cli_exit status;
		int r;

		if (!flags || !bondctl_looks_like_flag(word)) {
			call->words[call->word_count++] = word;
			continue;
		}
		if (!strcmp(word, "--")) {
			flags = false;
			continue;
		}
		if (bondctl_take_simple_flag(call, word))
			continue;
		r = bondctl_take_dir_flag(call, argv, &at);
		if (r < 0)
			return cli_usage(NULL, "%s needs a directory", word);
		if (r > 0)
			continue;
		status = bondctl_take_verb_flag(call, bondctl_verb(call), argv, &at);
		if (status != CLI_DONE)
			return status;
	}
	return CLI_DONE;
}

static enum cli_exit bondctl_run_verb(const struct call *call, const struct verb *verb)
{
	int words = call->word_count - 1;

	if (words < verb->min_words)
		return cli_usage(verb, "needs %s", verb->arguments);
	if (words > verb->max_words)
		return cli_usage(verb, "unexpected '%s'", call->words[1 + verb->max_words]);
	return verb->run(&call->cli, verb, words, call->words + 1);
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
		return cli_usage(NULL, "unknown verb '%s'", call->words[0]);
	if (call->help && verb)
		help_print_verb(verb);
	else if (call->help)
		help_print();
	else if (!verb)
		return cli_usage(NULL, "no verb");
	else
		return bondctl_run_verb(call, verb);
	return CLI_DONE;
}

int main(int argc, char **argv)
{
	struct call call = { .words = calloc((size_t)argc + 1, sizeof(char *)) };
	enum cli_exit status;

	if (!call.words) {
		cli_say("out of memory");
		return CLI_REFUSED;
	}
	paths_init(&call.cli.paths);
	status = bondctl_take_words(&call, argc, argv);
	if (status == CLI_DONE)
		status = bondctl_run(&call);
	free(call.words);
	if (fflush(stdout) || ferror(stdout)) {
		cli_say("cannot write to standard output: %m");
		return CLI_REFUSED;
	}
	return status;
}
