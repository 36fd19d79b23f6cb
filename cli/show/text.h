/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints the objects of view/ as text for people. */
#ifndef XBOND_CLI_SHOW_TEXT_H
#define XBOND_CLI_SHOW_TEXT_H

#include <jansson.h>
#include <stdbool.h>

/* forced_counted: something forbids `path direct` at present. */
void text_bond(const json_t *bond, bool forced_counted);
void text_stats_head(void);
void text_stats(const json_t *stats);

#endif
