/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/import/networkd_match.h"

#include <fnmatch.h>
#include <string.h>

#include "cli/import/import_keys.h"

static const char *const keys[NETWORKD_MATCH_KEYS] = { "Name", "Type", "MACAddress",
						       "PermanentMACAddress" };

static bool networkd_match_word(struct import *import, const char *word, size_t length,
				const char *device, bool is_mac)
{
	char text[256];

	if (length >= sizeof(text))
		return false;
	memcpy(text, word, length);
	text[length] = '\0';
	return is_mac ? import_same(import_mac(import, text), device) : !fnmatch(text, device, 0);
}

static enum networkd_answer networkd_match_list(struct import *import, const char *list,
						const char *device, bool is_mac)
{
	bool is_inverted = *list == '!', found = false;
	size_t length;

	for (list += is_inverted; !found && *list; list += length) {
		list += strspn(list, " \t");
		length = strcspn(list, " \t");
		found = length && networkd_match_word(import, list, length, device, is_mac);
	}
	return found != is_inverted ? NETWORKD_MATCHES : NETWORKD_OTHER;
}

/* A device that can be a slave is of the type ether. */
static enum networkd_answer networkd_match_key(struct import *import, const char *list,
					       const char *key, const char *device)
{
	bool is_name = !strcmp(key, "Name"), is_mac = strstr(key, "MACAddress");
	bool known_by_mac = strchr(device, ':');

	if (!*list || (is_name && !strcmp(list, "*")))
		return NETWORKD_MATCHES;
	if ((is_name && !known_by_mac) || (is_mac && known_by_mac))
		return networkd_match_list(import, list, device, is_mac);
	if (!strcmp(key, "Type"))
		return networkd_match_list(import, list, "ether", false);
	return NETWORKD_MAYBE;
}

enum networkd_answer networkd_match_device(struct import *import,
					   const struct networkd_match *match, const char *device)
{
	enum networkd_answer all = match->has_others ? NETWORKD_MAYBE : NETWORKD_MATCHES;

	if (!match->is_there)
		return NETWORKD_OTHER;
	for (size_t i = 0; i < NETWORKD_MATCH_KEYS; i++) {
		enum networkd_answer one =
			networkd_match_key(import, match->lists[i], keys[i], device);

		all = one < all ? one : all;
	}
	return all;
}

void networkd_match_read(struct import *import, const struct import_ini *ini,
			 struct networkd_match *ret_match)
{
	*ret_match = (struct networkd_match){ .is_there = import_ini_has_section(ini, "Match") };
	for (size_t i = 0; i < NETWORKD_MATCH_KEYS; i++)
		ret_match->lists[i] = import_ini_list(import, ini, "Match", keys[i]);
	for (size_t i = 0; i < ini->count; i++) {
		size_t key = 0;

		while (key < NETWORKD_MATCH_KEYS && strcmp(keys[key], ini->entries[i].key) != 0)
			key++;
		ret_match->has_others |=
			key == NETWORKD_MATCH_KEYS && !strcmp(ini->entries[i].section, "Match");
	}
}
