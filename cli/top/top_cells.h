/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A line of the screen as text of an exact width: cells of words, rates, shares and sparklines.
 * Pure, but for the locale (LC_CTYPE), which says what a character is and how wide.
 */
#ifndef XBOND_CLI_TOP_TOP_CELLS_H
#define XBOND_CLI_TOP_TOP_CELLS_H

#include <stdbool.h>
#include <stddef.h>

#define TOP_LINE_CELLS 256 /* wider screens stay empty at the right */

struct top_line {
	char text[TOP_LINE_CELLS * 4 + 1];
	size_t length;	    /* bytes */
	unsigned int width; /* cells */
};

void top_line_clear(struct top_line *line);
/*
 * Appends the text in exactly so many cells, cut or filled with spaces. Characters that cannot be
 * shown become '?', so the text may come from outside.
 */
void top_line_add(struct top_line *line, const char *text, unsigned int cells, bool right);
/* Appends the text in as many cells as it takes, at most `cells` of them. */
void top_line_add_some(struct top_line *line, const char *text, unsigned int cells);

/*
 * Appends as many whole words as fit, or a part of the first one if that is longer. Returns what is
 * left of the text.
 */
const char *top_line_add_words(struct top_line *line, const char *text, unsigned int cells);

/*
 * Appends a sparkline with one cell for each rate; `full` is the height of the whole cell. A rate
 * of 0 or less (not known) is empty; a rate above 0 never is.
 */
void top_line_add_spark(struct top_line *line, const double *rates, unsigned int cells, double full,
			bool blocks);

#define TOP_NUMBER_SIZE 16

/* In at most 5 cells: 0, 999, 1.25k, 99.9M, 1000G. Returns ret_text. */
const char *top_cells_rate(char ret_text[TOP_NUMBER_SIZE], double rate);
/* Of 1, in at most 5 cells: 0%, 33.3%, 100%. Returns ret_text. */
const char *top_cells_share(char ret_text[TOP_NUMBER_SIZE], double share);

#endif
