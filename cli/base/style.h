/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Colours on a terminal. None if standard output is something else, if the environment has
 * NO_COLOR, or if TERM is "dumb" or not set.
 */
#ifndef XBOND_CLI_BASE_STYLE_H
#define XBOND_CLI_BASE_STYLE_H

enum style { STYLE_PLAIN, STYLE_NAME, STYLE_GOOD, STYLE_BAD, STYLE_FAINT };

void style_init(void);
/* Prints the text, and spaces up to the width. */
void style_print(enum style style, int width, const char *text);

#endif
