/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the next word of a call may be by the `arguments` of its verb, the text that help prints:
 * words in capitals are names of something (BOND, DEV, FILE, DIR, OPTION VALUE), others are to be
 * typed as they are, a bar separates alternatives. So a new verb completes without code of its own.
 */
#ifndef XBOND_CLI_COMPLETE_GRAMMAR_H
#define XBOND_CLI_COMPLETE_GRAMMAR_H

#include "cli/complete/line.h"
#include "cli/complete/offers.h"

/* Offers what a word of the arguments or the argument of a flag stands for: "BOND", "a|b|FILE". */
void grammar_offer(const struct line *line, const char *what, struct offers *offers);

/* Offers what may follow the arguments that the line has. */
void grammar_offer_next(struct line *line, struct offers *offers);

/* Is the verb's BOND one that runs? */
bool grammar_is_of_bonds(const struct verb *verb);

/* Sets line->bond, for what stands for a device. */
void grammar_find_bond(struct line *line);

#endif
