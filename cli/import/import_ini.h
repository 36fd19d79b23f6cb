/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of sections with lines KEY=VALUE, as systemd and NetworkManager have them. libinih, which
 * reads xbond's own files, does not tell lines and joins what these do not.
 */
#ifndef XBOND_CLI_IMPORT_IMPORT_INI_H
#define XBOND_CLI_IMPORT_IMPORT_INI_H

#include "cli/import/import_files.h"

struct import_ini_entry {
	const char *section; /* "" before the first one */
	const char *key, *value;
	const char *variable; /* of the shell, that the entry is made of; NULL: it is none */
	struct import_line line;
};

struct import_ini {
	struct import_ini_entry *entries;
	size_t count;
	struct import_index variables; /* those that entries were made of, by their names */
};

/* Adds what the file has. */
void import_ini_read(struct import *import, const struct import_file *file, enum import_joins joins,
		     struct import_ini *ini);
void import_ini_add(struct import *import, struct import_ini *ini,
		    const struct import_ini_entry *entry);
/* The last entry of that section and key; NULL if there is none. */
const struct import_ini_entry *import_ini_find(const struct import_ini *ini, const char *section,
					       const char *key);
/* Its value; "" if there is none. */
const char *import_ini_value(const struct import_ini *ini, const char *section, const char *key);
/* The values of all its entries, with spaces between them; an empty one ends the list so far. */
char *import_ini_list(struct import *import, const struct import_ini *ini, const char *section,
		      const char *key);
bool import_ini_has_section(const struct import_ini *ini, const char *section);

#endif
