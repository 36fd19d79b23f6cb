/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses the words of a call of explain into a flow. Knows no bond. */
#ifndef XBOND_CLI_EXPLAIN_EXPLAIN_WORDS_H
#define XBOND_CLI_EXPLAIN_EXPLAIN_WORDS_H

#include "cli/base/cli.h"
#include "cli/base/flow_packet.h"

/* Of enum flow_field. */
extern const char *const explain_words[FLOW_FIELDS];

struct explain_call {
	const char *bond;
	const char *text[FLOW_FIELDS]; /* as given by the user; NULL: not given */
	struct flow_packet flow;
};

/* Prints what is wrong with the first bad one. */
enum cli_exit explain_take_words(const struct verb *verb, int argc, char **argv,
				 struct explain_call *ret_call);

#endif
