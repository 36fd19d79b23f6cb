/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints the `monitors` object of a slave for people. */
#ifndef XBOND_CLI_SHOW_TEXT_MONITORS_H
#define XBOND_CLI_SHOW_TEXT_MONITORS_H

#include <jansson.h>

void text_monitors(const json_t *monitors);

#endif
