/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the word may be: those words that begin as it does, each with a line of help. Knows nothing
 * of verbs and bonds.
 */
#ifndef XBOND_CLI_COMPLETE_OFFERS_H
#define XBOND_CLI_COMPLETE_OFFERS_H

#include <jansson.h>

/* The shell completes names of files better than bondctl, so it is only told to do so. */
enum offers_files { OFFERS_NO_FILES, OFFERS_FILES, OFFERS_DIRECTORIES };

struct offers {
	const char *begin; /* what the user has typed of the word */
	char *before;	   /* NULL, or stands before each word that is offered: "--slave=" */
	json_t *words;	   /* [{"word", "help"}] */
	enum offers_files files;
};

/*
 * Leaves out what does not fit, what is there already, and names that a shell or a terminal could
 * take for something else: those with control characters, and those that are not UTF-8.
 */
void offers_add(struct offers *offers, const char *word, const char *help);

json_t *offers_json(struct offers *offers);
/* A line each, "WORD\tHELP"; ":files" or ":directories" if the shell shall complete these. */
void offers_print(const struct offers *offers);

#endif
