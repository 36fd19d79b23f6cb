/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of import share: the bonds that one call has found in the configuration of another
 * tool, and the remarks about lines of it that xbond has no place for. A source (netplan.c and so
 * on) reads files and calls import_bond(), import_slave() and import_option(); import_write.c makes
 * xbond's configuration of what is there. The option table says what is a value.
 *
 * All memory belongs to the call and goes with import_free(). Without memory the program ends.
 */
#ifndef XBOND_CLI_IMPORT_IMPORT_H
#define XBOND_CLI_IMPORT_IMPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "bpf/abi.h"
#include "common/err.h"
#include "common/mac.h"
#include "options/options.h"

struct import_file {
	const char *path;  /* as it is printed: with the root */
	unsigned int rank; /* files are numbered as they are read */
	const char *text;  /* ends with a NUL character, and has no other */
	int lines_before;  /* of a part of a file: lines of the file before it */
};

/* A line of the tool's configuration. Its texts live as long as the call. */
struct import_line {
	const struct import_file *file;
	int number;	  /* 0: the file as a whole */
	const char *what; /* the line as a remark shows it: key and value */
};

struct import_option {
	enum option_id id;
	struct option_value value;
	struct import_line line;
};

struct import_options {
	struct import_option *list;
	size_t count;
};

struct import_bond;

struct import_slave {
	char name[MAC_FORMAT_SIZE]; /* or its permanent MAC address */
	struct import_bond *bond;
	struct import_options options;
};

struct import_bond {
	char name[XBOND_NAME_SIZE];
	struct import_line line;
	struct import_options options;
	struct import_slave **slaves;
	size_t slave_count;
	bool is_not_of_driver;	 /* of teamd or Open vSwitch, though the tool's others are */
	const char *primary_mac; /* NULL: the primary, if any, has a name */
	struct import_line primary_line;
	struct import_line refused;	  /* by import_refuse(); without a file: it was not */
	const char *path, *configuration; /* for JSON: its file, and what is in it */
};

enum import_fate {
	IMPORT_LOST,	/* not carried over */
	IMPORT_CHANGED, /* carried over as something that is not quite the same */
	IMPORT_STAYS,	/* not a matter of the bond: addresses, routes, VLANs, MTU */
};

struct import_remark {
	enum import_fate fate;
	struct import_line line;
	const char *bond; /* NULL: of no bond alone */
	const char *why;  /* NULL with IMPORT_STAYS */
	size_t order;	  /* in which they were made */
};

struct import_text;

struct import_index_entry {
	const void *of, *what;
	const char *name;
};

/* Finds things by a name within something else, however many there are. Starts as zeros. */
struct import_index {
	struct import_index_entry *entries;
	size_t count, room;
};

struct import {
	const char *tool;
	bool is_of_driver; /* it sets up bonds of the kernel's driver */
	const char *root;  /* before the tool's own paths; "" for this machine */
	unsigned int file_count;
	size_t bytes_read; /* of all files */
	struct import_bond **bonds;
	size_t bond_count;
	struct import_bond **refused_bonds; /* import_settle() takes them out of the others */
	size_t refused_count;
	bool is_incomplete;	    /* import_refuse() was called for a bond that has no name */
	struct import_index slaves; /* by their names, of NULL */
	struct import_remark *remarks;
	size_t remark_count;
	struct import_text *texts; /* all memory of the call */
};

void import_free(struct import *import);

/* Memory of the call, zeroed. */
void *import_memory(struct import *import, size_t size);
/* Makes room for one element more; call it before each. count is what is there already. */
void *import_grow(struct import *import, void *list, size_t count, size_t size);
char *import_text(struct import *import, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Replaces what was there. The name has to live as long as the index. */
void import_index_put(struct import *import, struct import_index *index, const void *of,
		      const char *name, const void *what);
/* NULL if there is none. */
const void *import_index_get(const struct import_index *index, const void *of, const char *name);

/* The bond of that name, found or made. NULL: no bond can have that name, which is refused. */
struct import_bond *import_bond(struct import *import, const char *name,
				const struct import_line *line);
/* The same for tools that have a bond in one place: another bond of that name is refused, and NULL.
 */
struct import_bond *import_new_bond(struct import *import, const char *name,
				    const struct import_line *line);
/* NULL if there is none. */
struct import_bond *import_find_bond(const struct import *import, const char *name);
/*
 * A slave of that bond, found or made, at the end: by its name or its permanent MAC address. NULL:
 * it cannot be one, and the bond is refused.
 */
struct import_slave *import_slave(struct import *import, struct import_bond *bond, const char *name,
				  const struct import_line *line);
/* NULL if there is none. ret_bond may be NULL. */
struct import_slave *import_find_slave(const struct import *import, const char *name,
				       struct import_bond **ret_bond);

/*
 * Sets an option of the bond, or of the slave if it is one of slaves, to what the text says. What
 * was set before is replaced; a list goes on if `more` says so. What cannot be set is remarked; a
 * mode that cannot be set refuses the bond.
 */
void import_option(struct import *import, struct import_bond *bond, struct import_slave *slave,
		   enum option_id id, const char *text, bool more, const struct import_line *line);
struct import_option *import_find_option(const struct import_options *options, enum option_id id);
void import_remove_option(struct import_options *options, enum option_id id);

/* Remarks that several tools need. */
#define IMPORT_NO_OPTION "xbond has no such option"
#define IMPORT_STATE                                                        \
	"this is state, not configuration; make the slave the primary, or " \
	"run 'bondctl set BOND active_slave DEV'"
#define IMPORT_NO_MODE                                                                           \
	"no mode is set; balance-rr is written, kernel bonding's default unless its module has " \
	"another"

/* bond may be NULL. */
void import_remark(struct import *import, enum import_fate fate, const struct import_bond *bond,
		   const struct import_line *line, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* For what the bond can do without. */
#define import_lost(import, ...) import_remark(import, IMPORT_LOST, __VA_ARGS__)
#define import_changed(import, ...) import_remark(import, IMPORT_CHANGED, __VA_ARGS__)
#define import_stays(import, ...) import_remark(import, IMPORT_STAYS, __VA_ARGS__, NULL)
/*
 * The line says what the bond is, its mode or a slave, and cannot be carried over: it is remarked,
 * and the bond is not written. bond NULL: a bond that cannot be told from others.
 */
void import_refuse(struct import *import, struct import_bond *bond, const struct import_line *line,
		   const char *format, ...) __attribute__((format(printf, 4, 5)));

/*
 * When all is read: options that the bond's mode refuses, or that the tool had without effect, are
 * taken out and remarked, the bonds that were refused are taken out, and the remarks are sorted.
 */
void import_settle(struct import *import);
/* Forgets all other bonds, and what was remarked about them. False, and nothing done: no such bond.
 */
bool import_settle_on(struct import *import, const char *bond);

/*
 * Tables of a tool's keys: which option of xbond each is, or why it is none. A source has one for
 * each kind of place where the tool has keys. 'bondctl import --keys' prints them, and `make
 * fields` writes them into docs/operators/migration.md.
 */

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

/* NULL if there is none. */
const struct import_key *import_find_key(const struct import_key *table, const char *name);

/*
 * Does what the row says, unless the source itself knows what to do; without a row there is no such
 * option. slave may be NULL if the table has only options of bonds.
 */
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

/* The word for what import_switch takes, or NULL. */
const char *import_switch_as(const char *value, const char *word_on, const char *word_off);
bool import_is_on(const char *value);

/* Options of kernel bonding under the kernel's names, for the tools that have them as they are. */
extern const struct import_key import_bonding_keys[];

/* The tools that import reads the configuration of. */

struct import_request {
	const char *const *files; /* files and directories; none: where the tool has its own */
	size_t file_count;
	const char *bond; /* the only one that is asked for; NULL: all */
};

struct import_keys {
	const char *title; /* NULL ends a list */
	const struct import_key *keys;
};

/* Returns -errno, with a line in err. Finding no bond is no failure. */
typedef int import_read(struct import *import, const struct import_request *request,
			struct err *err);

struct import_source {
	const char *name; /* NULL ends the table */
	const char *reads;
	const struct import_keys *tables;
	import_read *read;
	bool is_of_driver; /* it sets up bonds of the kernel's driver */
};

extern const struct import_source import_sources[];

import_read ifupdown_read, netplan_read, cloud_init_read, nmstate_read, networkd_read,
	networkmanager_read, kernel_read, teamd_read, ovs_read;

extern const struct import_keys ifupdown_tables[], netplan_tables[], cloud_init_tables[],
	nmstate_tables[], networkd_tables[], networkmanager_tables[], kernel_tables[],
	teamd_tables[], ovs_tables_of_keys[];

/* xbond's configuration of the bonds that were found: as text, and as files. */

/*
 * The contents of BOND.conf. bondd's own reader has taken it: if it refuses it, this returns
 * -errno, with a line in err.
 */
int import_configuration(struct import *import, const struct import_bond *bond,
			 const char **ret_text, struct err *err);
/* What -w writes, or would. */
const char *import_target(struct import *import, const char *dir, const struct import_bond *bond);
/*
 * Writes the files of these bonds: all of them, or none. A file that is there already is left
 * alone, and then this fails with -EEXIST. Returns -errno, with a line in err.
 */
int import_write(struct import *import, const char *dir, struct import_bond *const *bonds,
		 size_t count, struct err *err);

#endif
