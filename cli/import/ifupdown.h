/* SPDX-License-Identifier: GPL-2.0-or-later */
/* interfaces(5): its stanzas, its commands, and its options of bonds. */
#ifndef XBOND_CLI_IMPORT_IFUPDOWN_H
#define XBOND_CLI_IMPORT_IFUPDOWN_H

#include "cli/import/import.h"

/* The stanzas of interfaces(5), of a file and of those that it sources. Knows nothing of bonds. */

struct ifupdown_option {
	const char *key, *value;
	struct import_line line;
};

/* "iface NAME ...". Of every other stanza (auto, mapping) only the names behind auto are kept. */
struct ifupdown_stanza {
	const char *name;     /* NULL: a template, which is no interface */
	const char *template; /* its name, by which others inherit */
	const char *inherits; /* NULL: nothing */
	bool is_inherited;    /* by another one; set by ifupdown_inherit() */
	bool is_manual;	      /* the method configures no address */
	struct import_line line;
	const struct import_line *computed; /* by a line of a template language; NULL: it is not */
	struct ifupdown_option *options;
	size_t count;
};

struct ifupdown_stanzas {
	struct import *import;
	struct ifupdown_stanza *list;
	size_t count;
	unsigned int file_count;
	const char **autos;
	size_t auto_count;
};

/* A file, or all files of a directory, NAME.cfg too. Returns -errno, with a line in err. */
int ifupdown_read_stanzas(struct ifupdown_stanzas *stanzas, const char *path, struct err *err);
/* Whether its value is for the shell. */
bool ifupdown_is_command(const char *key);
/* Whether ifupdown brings it up at boot. */
bool ifupdown_is_auto(const struct ifupdown_stanzas *stanzas, const char *name);
/* When all are read: stanzas get the options that they inherit. */
void ifupdown_inherit(struct ifupdown_stanzas *stanzas);

/*
 * The commands of a stanza (pre-up, up, post-up) that set up bonds of the kernel's driver:
 * ifenslave, modprobe bonding, ip link, and echo into files of sysfs. Runs nothing and knows no
 * shell: a command that is more than plain words is not understood.
 */

/* What a command sets: an option by the driver's name, "slaves", or nothing but the bond. */
struct ifupdown_setting {
	const char *bond; /* NULL: a parameter of the module, for all bonds that do not set it */
	const char *key;  /* NULL: the command makes the bond */
	const char *value;
};

struct ifupdown_command {
	struct ifupdown_setting *settings;
	size_t count;
	bool is_bonding;	  /* it speaks to the driver */
	const char *not_clear;	  /* the part that was not understood; NULL: all was */
	bool is_about_what_it_is; /* that part could set the mode or slaves */
};

/* iface: the stanza's interface, which commands call $IFACE. */
void ifupdown_command_read(struct import *import, const char *text, const char *iface,
			   struct ifupdown_command *ret_command);

/*
 * Options of a bond in interfaces(5), as lines bond-NAME and as commands, with the tolerance of
 * ifenslave and of the kernel's driver behind it. Knows nothing of how stanzas belong together.
 */

/* Those of bond-NAME that the kernel's driver does not have. */
extern const struct import_key ifupdown_keys[];

/* Words up to one that begins with '#'. */
void ifupdown_slaves(struct import *import, struct import_bond *bond, const char *value,
		     const struct import_line *line);
/* name: without "bond-", as the driver spells it. */
void ifupdown_bond_option(struct import *import, struct import_bond *bond, const char *name,
			  const struct ifupdown_option *option);
/*
 * Does what a command says, to all bonds that it names and that are known. bond: of the stanza, or
 * NULL.
 */
void ifupdown_bond_command(struct import *import, struct import_bond *bond,
			   const struct ifupdown_stanza *stanza,
			   const struct ifupdown_option *option);
/*
 * Parameters of the module, which are for all bonds that do not set them. To be called after all
 * ifupdown_bond_command(). has_own_mode: for each bond, whether it set its mode before these calls.
 */
void ifupdown_module_option(struct import *import, const struct ifupdown_stanza *stanza,
			    const struct ifupdown_option *option, const bool *has_own_mode);
/* Whether ifupdown_bond_command() has something to do, or to say. */
bool ifupdown_is_bond_command(struct import *import, const struct ifupdown_stanza *stanza,
			      const struct ifupdown_option *option);

#endif
