/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The configuration of one bond in memory, as bondd and bondctl read it from BOND.conf and its
 * drop-ins: parsed and checked, but not applied. Also a target of the fuzzers.
 */
#ifndef XBOND_OPTIONS_CONFIG_FILE_H
#define XBOND_OPTIONS_CONFIG_FILE_H

#include <dirent.h>
#include <stdio.h>

#include "common/mac.h"
#include "options/config_mistakes.h"
#include "options/option_set.h"

#define CONFIG_DROP_INS_SUFFIX ".d" /* BOND.conf.d has the drop-ins of BOND.conf */

struct config_slave {
	char name[XBOND_NAME_SIZE];	  /* "": it is known by its permanent MAC address */
	uint8_t perm_mac[XBOND_MAC_SIZE]; /* zero: it is known by its name */
	struct option_set options;
	struct config_place place; /* of its first section */
	struct config_place at[OPT_COUNT];
};

struct config_file {
	struct option_set bond;
	struct config_place at[OPT_COUNT]; /* of the bond's options */
	struct config_slave *slaves;
	size_t slave_count;
	char **paths; /* the file, then its drop-ins */
	unsigned int path_count;
};

/*
 * BOND.conf with its drop-ins: the regular files BOND.conf.d/<name>.conf, by name. An option in a
 * drop-in replaces its value in the files before; slaves join. Returns 0 or -errno, with every
 * mistake in the list, which the caller frees in any case. After success, free the file with
 * config_file_free().
 */
int config_file_read(struct config_file *ret_file, const char *path,
		     struct config_mistakes *ret_mistakes);
/* The same with the first mistake only. */
int config_file_read_or_err(struct config_file *ret_file, const char *path, struct err *err);
/* One file without drop-ins. */
int config_file_read_alone(struct config_file *ret_file, const char *path, struct err *err);

struct config_stream {
	FILE *stream; /* is closed */
	const char *name;
};

/* The first one is the file, the others its drop-ins. */
int config_file_read_streams(struct config_file *ret_file, const struct config_stream *streams,
			     size_t count, struct config_mistakes *ret_mistakes);
/* One stream without drop-ins, and the first mistake only. */
int config_file_read_stream(struct config_file *ret_file, FILE *stream, const char *name,
			    struct err *err);
void config_file_free(struct config_file *file);

/* For scandir(): files whose names make them configuration, by the bytes of their names. */
int config_file_is_entry(const struct dirent *entry);
int config_file_compare_entries(const struct dirent **a, const struct dirent **b);

struct config_slave *config_file_find_slave(const struct config_file *file,
					    const struct config_slave *like);
/* A new one like this, without options; NULL: out of memory. */
struct config_slave *config_file_add_slave(struct config_file *file,
					   const struct config_slave *like);
/* As its section names it. Any slave's name or MAC address fits. */
const char *config_slave_name(const struct config_slave *slave, char ret_text[MAC_FORMAT_SIZE]);
static inline bool config_slave_is_by_mac(const struct config_slave *slave)
{
	return !slave->name[0];
}

#endif
