/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers to calls that are wrong, but from which one can see what was meant: mistyped verbs, verbs
 * of ip-link(8), ifenslave and teamdctl, and words in another order. Called by bondctl.c alone.
 */
#ifndef XBOND_CLI_HABITS_H
#define XBOND_CLI_HABITS_H

#include "cli/base/cli.h"

/* The first of these words is no verb. Says so, with what may be meant, and returns CLI_USAGE. */
enum cli_exit habits_refuse_verb(const struct cli *cli, int count, char **words);

/* The verb needs more than these words. Says so and returns CLI_USAGE. */
enum cli_exit habits_refuse_few(const struct cli *cli, const struct verb *verb, int count,
				char **words);

/*
 * Of a verb whose bond must exist. If this one does not, but one of the words is a bond, or it is
 * a slave of one, says so and returns CLI_REFUSED; otherwise CLI_DONE.
 */
enum cli_exit habits_check_bond(const struct cli *cli, const struct verb *verb, const char *bond,
				int count, char **words);

#endif
