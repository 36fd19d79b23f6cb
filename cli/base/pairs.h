/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The OPTION VALUE pairs of one call, parsed and checked before anything is done with them. */
#ifndef XBOND_CLI_BASE_PAIRS_H
#define XBOND_CLI_BASE_PAIRS_H

#include "cli/base/cli.h"
#include "options/option_set.h"

struct pairs {
	struct option_set set;
	const char *text[OPT_COUNT]; /* as given */
};

/* Prints what is wrong with the first bad one. */
enum cli_exit pairs_parse(const struct verb *verb, int argc, char **argv, struct pairs *ret_pairs);

/* Says how to write "mode=4", and returns CLI_USAGE. CLI_DONE: it is not an option with '='. */
enum cli_exit pairs_refuse_joined(const struct verb *verb, const char *word);

/* NULL if the call does not name it. */
const struct option_value *pairs_find(const struct pairs *pairs, enum option_id id);

/*
 * { NAME: TEXT } in the form of the control protocol. Steering options are those in the settings
 * map.
 */
json_t *pairs_json(const struct pairs *pairs);
json_t *pairs_json_not_steering(const struct pairs *pairs);
bool pairs_any_steering(const struct pairs *pairs);

#endif
