/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options that a verb takes and the values that they may have, by the option table. */
#ifndef XBOND_CLI_COMPLETE_OFFER_OPTIONS_H
#define XBOND_CLI_COMPLETE_OFFER_OPTIONS_H

#include "cli/complete/line.h"
#include "cli/complete/offers.h"

/*
 * Offers those that have an effect in the bond's mode and that the pairs do not have already.
 * pairs: the words OPTION VALUE that the line has, count of them.
 */
void offer_options(const struct line *line, char **pairs, int count, struct offers *offers);
void offer_option_values(const struct line *line, const char *name, struct offers *offers);

#endif
