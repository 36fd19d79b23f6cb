/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * complete: what the last of these words of a call may be. The scripts for shells ask it
 * (packaging/completions). It changes nothing, and says nothing on standard error: a message would
 * appear in the middle of the line that the user types.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/base/flags.h"
#include "cli/complete/grammar.h"
#include "common/err.h"

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

	(void)verb;
	line_read(&line, argv, argc ? argc - 1 : 0, arguments);
	complete_line(&line, &offers);
	status = complete_print(cli, &offers);
	free(arguments);
	free(offers.before);
	json_decref(offers.words);
	return status;
}
