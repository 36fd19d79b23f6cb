/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/complete/offers.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool offers_has(const struct offers *offers, const char *word)
{
	const json_t *offer;
	size_t at;

	json_array_foreach (offers->words, at, offer)
		if (!strcmp(json_string_value(json_object_get(offer, "word")), word))
			return true;
	return false;
}

static bool offers_is_harmless(const char *word)
{
	for (; *word; word++)
		if (iscntrl((unsigned char)*word))
			return false;
	return true;
}

void offers_add(struct offers *offers, const char *word, const char *help)
{
	char whole[256];
	json_t *offer;

	if (!*word || strncmp(word, offers->begin, strlen(offers->begin)) ||
	    !offers_is_harmless(word))
		return;
	if (snprintf(whole, sizeof(whole), "%s%s", offers->before ? offers->before : "", word) >=
		    (int)sizeof(whole) ||
	    offers_has(offers, whole))
		return;
	offer = json_pack("{s:s, s:s}", "word", whole, "help", help);
	if (offer)
		json_array_append_new(offers->words, offer);
}

static const char *const offers_files_names[] = {
	[OFFERS_NO_FILES] = "none",
	[OFFERS_FILES] = "files",
	[OFFERS_DIRECTORIES] = "directories",
};

json_t *offers_json(struct offers *offers)
{
	return json_pack("{s:s, s:O}", "files", offers_files_names[offers->files], "words",
			 offers->words);
}

void offers_print(const struct offers *offers)
{
	const json_t *offer;
	size_t at;

	if (offers->files != OFFERS_NO_FILES)
		printf(":%s\n", offers_files_names[offers->files]);
	json_array_foreach (offers->words, at, offer)
		printf("%s\t%s\n", json_string_value(json_object_get(offer, "word")),
		       json_string_value(json_object_get(offer, "help")));
}
