/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stanzas of interfaces(5), of a file and of those that it sources. Knows nothing of bonds. */
#ifndef XBOND_CLI_IMPORT_IFUPDOWN_STANZA_H
#define XBOND_CLI_IMPORT_IFUPDOWN_STANZA_H

#include "cli/import/import.h"

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

#endif
