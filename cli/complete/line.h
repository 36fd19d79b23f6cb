/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The words of a call that is being typed, up to the one that is asked for: its verb, its flags
 * and its arguments. Reads the words as bondctl itself would. Knows nothing of bonds.
 */
#ifndef XBOND_CLI_COMPLETE_LINE_H
#define XBOND_CLI_COMPLETE_LINE_H

#include "cli/base/cli.h"

struct line {
	struct cli cli; /* with the directories of the line */
	const struct verb *verb;
	bool is_lost;	  /* the first word is no verb */
	char **arguments; /* behind the verb, without flags */
	int argument_count;
	bool flags_ended;
	const struct verb_flag *awaits; /* the flag that the word is an argument of, or NULL */
	bool given_global[CLI_FLAGS_MAX], given[CLI_FLAGS_MAX];
	const char *bond; /* the argument that is the name of the bond, or NULL */
};

/* arguments: room for count words. */
void line_read(struct line *line, char **words, int count, char **arguments);

#endif
