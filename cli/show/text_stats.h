/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints the objects of view_stats() as text for people. */
#ifndef XBOND_CLI_SHOW_TEXT_STATS_H
#define XBOND_CLI_SHOW_TEXT_STATS_H

#include <jansson.h>

void text_stats(const json_t *stats);

#endif
