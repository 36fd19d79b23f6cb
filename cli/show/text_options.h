/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints options as text for people. */
#ifndef XBOND_CLI_SHOW_TEXT_OPTIONS_H
#define XBOND_CLI_SHOW_TEXT_OPTIONS_H

#include <jansson.h>
#include <stdbool.h>

#include "options/options.h"

/* Those that differ from their defaults, in lines of at most 80 columns. */
void text_options_bond(const json_t *bond, bool forced_counted);
void text_options_slave(const json_t *bond, const json_t *slave);

/* One option a line: all that have an effect in the bond's mode, or differ from their defaults. */
void text_options_all_of_bond(const json_t *bond, bool forced_counted);
void text_options_all_of_slave(const json_t *bond, const json_t *slave);

#endif
