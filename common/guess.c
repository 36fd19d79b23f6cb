/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/guess.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <sys/param.h>

#define GUESS_LENGTH 40
#define GUESS_DISTANCE 2 /* letters that may differ */

/* A hyphen counts as an underscore, and a capital as a small letter. */
static char guess_letter(char c)
{
	return c == '-' ? '_' : (char)tolower((unsigned char)c);
}

static bool guess_is_same(char a, char b)
{
	return guess_letter(a) == guess_letter(b);
}

/* How many letters must be put in, left out or changed (Levenshtein). */
static unsigned int guess_distance(const char *a, const char *b)
{
	unsigned int row[GUESS_LENGTH + 1];
	size_t length = strlen(b);

	for (size_t j = 0; j <= length; j++)
		row[j] = (unsigned int)j;
	for (size_t i = 0; a[i]; i++) {
		unsigned int diagonal = row[0];

		row[0] = (unsigned int)i + 1;
		for (size_t j = 0; j < length; j++) {
			unsigned int changed = diagonal + !guess_is_same(a[i], b[j]);

			diagonal = row[j + 1];
			row[j + 1] = MIN(changed, MIN(row[j], diagonal) + 1);
		}
	}
	return row[length];
}

/* At least half of each word must be right. */
void guess_offer(struct guess *guess, const char *candidate)
{
	unsigned int distance;

	if (strlen(guess->word) > GUESS_LENGTH || strlen(candidate) > GUESS_LENGTH)
		return;
	distance = guess_distance(guess->word, candidate);
	if (distance > GUESS_DISTANCE || 2 * distance > strlen(candidate) ||
	    2 * distance > strlen(guess->word) || (guess->best && distance >= guess->distance))
		return;
	guess->best = candidate;
	guess->distance = distance;
}
