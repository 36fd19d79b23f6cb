/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a terminal gets that files do not: colours, and lines of 80 columns. */
#ifndef XBOND_CLI_BASE_TERMINAL_H
#define XBOND_CLI_BASE_TERMINAL_H

/*
 * Colours on a terminal. None if standard output is something else, if the environment has
 * NO_COLOR, or if TERM is "dumb" or not set.
 */

enum style { STYLE_PLAIN, STYLE_NAME, STYLE_GOOD, STYLE_BAD, STYLE_FAINT };

void style_init(void);
/* Prints the text, and spaces up to the width. */
void style_print(enum style style, int width, const char *text);

/*
 * What bondctl writes to a terminal fits into 80 columns: longer lines are broken between words.
 * Elsewhere a sentence is one line, for grep. Verbs print as if there were no columns.
 */

#define TEXT_WIDTH 80

/* From now on standard output and standard error are broken into lines where they are terminals. */
void text_wrap_begin(void);
/* No longer standard output, for what must stay as it is: files, full screens. */
void text_wrap_end(void);

#endif
