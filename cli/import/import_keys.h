/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of a tool's keys: which option of xbond each is, or why it is none. A source has one for
 * each kind of place where the tool has keys. 'bondctl import --keys' prints them, and a test holds
 * docs/operators/migration.md against that.
 */
#ifndef XBOND_CLI_IMPORT_IMPORT_KEYS_H
#define XBOND_CLI_IMPORT_IMPORT_KEYS_H

#include "cli/import/import.h"

/* The tool's value as the option table takes it; NULL: the tool would refuse it. */
typedef const char *import_convert(struct import *import, const char *value);

struct import_key {
	const char *name; /* NULL ends a table */
	enum option_id option;
	import_convert *convert; /* NULL: the value is the same */
	const char *why_lost;	 /* not NULL: it is no option of xbond, and option does not count */
	const char *usual;   /* with why_lost: the value, converted, with which nothing is lost */
	const char *becomes; /* not NULL: the source itself knows what to do; in words */
	bool more;	     /* a key that is given again adds to a list */
};

/* As strcmp() for two keys: 0 if the tool takes them for the same. */
typedef int import_key_compare(const char *left, const char *right);

/* NULL if there is none. */
const struct import_key *import_find_key(const struct import_key *table, const char *name,
					 import_key_compare *compare);

/* Does what the row says. slave may be NULL if the table has only options of bonds. */
void import_apply_key(struct import *import, const struct import_key *key, struct import_bond *bond,
		      struct import_slave *slave, const char *value,
		      const struct import_line *line);

/* Values as several tools write them. */
import_convert import_switch;	  /* yes, no, true, false, on, off, 1, 0, of any case */
import_convert import_list;	  /* words with blanks, commas or semicolons between them */
import_convert import_mac;	  /* 02-00-5e-10-00-01 and 0200.5e10.0001 get colons; others stay */
import_convert import_first_word; /* "802.3ad 4" of sysfs */
import_convert import_ms_of_s;	  /* a time span; without a unit in seconds */
import_convert import_ms_of_ms;	  /* the same, without a unit in milliseconds */
import_convert import_s_of_s;	  /* as import_ms_of_s, in whole seconds */

/* Options of kernel bonding under the kernel's names, for the tools that have them as they are. */
extern const struct import_key import_bonding_keys[];

#endif
