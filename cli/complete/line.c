/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/complete/line.h"

#include <string.h>

#include "cli/base/cli.h"

_Static_assert(FLAG_COUNT <= CLI_FLAGS_MAX, "given_global has room for all");

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

void line_read(struct line *line, char **words, int count, char **arguments)
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
