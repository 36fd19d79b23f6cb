/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/import/import_keys.h"

#include <string.h>

const struct import_key *import_find_key(const struct import_key *table, const char *name,
					 import_key_compare *compare)
{
	for (const struct import_key *key = table; key->name; key++)
		if (!compare(key->name, name))
			return key;
	return NULL;
}

void import_apply_key(struct import *import, const struct import_key *key, struct import_bond *bond,
		      struct import_slave *slave, const char *value, const struct import_line *line)
{
	const char *text = key->convert ? key->convert(import, value) : value;

	if (key->why_lost) {
		if (!key->usual || !text || strcmp(text, key->usual))
			import_lost(import, bond, line, "%s", key->why_lost);
		return;
	}
	if (!text && key->option == OPT_MODE)
		import_refuse(import, bond, line, "%s cannot read this value", import->tool);
	else if (!text)
		import_lost(import, bond, line, "%s cannot read this value", import->tool);
	else
		import_option(import, bond, slave, key->option, text, key->more, line);
}
