/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What somebody may have meant who wrote a word that does not exist. For messages only. */
#ifndef XBOND_COMMON_GUESS_H
#define XBOND_COMMON_GUESS_H

struct guess {
	const char *word; /* what was written */
	const char *best; /* the candidate that is most like it; NULL: none is nearly like it */
	unsigned int distance; /* of best */
};

/* Begin with { .word = WORD } and offer every word that exists. They outlive the guess. */
void guess_offer(struct guess *guess, const char *candidate);

#endif
