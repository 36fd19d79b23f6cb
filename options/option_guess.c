/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options/option_guess.h"

#include <ctype.h>
#include <string.h>
#include <sys/param.h>

#define GUESS_LENGTH 40
#define GUESS_DISTANCE 2 /* letters that may differ */

/* A hyphen counts as an underscore, and a capital as a small letter. */
static bool option_guess_is_same(char a, char b)
{
	return tolower((unsigned char)(a == '-' ? '_' : a)) == b;
}

/* How many letters must be put in, left out or changed (Levenshtein). */
static unsigned int option_guess_distance(const char *a, const char *b)
{
	unsigned int row[GUESS_LENGTH + 1];
	size_t length = strlen(b);

	for (size_t j = 0; j <= length; j++)
		row[j] = (unsigned int)j;
	for (size_t i = 0; a[i]; i++) {
		unsigned int diagonal = row[0];

		row[0] = (unsigned int)i + 1;
		for (size_t j = 0; j < length; j++) {
			unsigned int changed = diagonal + !option_guess_is_same(a[i], b[j]);

			diagonal = row[j + 1];
			row[j + 1] = MIN(changed, MIN(row[j], diagonal) + 1);
		}
	}
	return row[length];
}

const char *option_guess(enum option_scope scope, const char *name)
{
	unsigned int best = GUESS_DISTANCE + 1;
	const char *guess = NULL;

	if (strlen(name) > GUESS_LENGTH)
		return NULL;
	for (int id = 0; id < OPT_COUNT; id++) {
		const struct option_spec *option = option_at(id);
		unsigned int distance;

		if (option->scope != scope || strlen(option->name) > GUESS_LENGTH)
			continue;
		distance = option_guess_distance(name, option->name);
		if (distance >= best || distance >= strlen(option->name))
			continue;
		best = distance;
		guess = option->name;
	}
	return guess;
}
