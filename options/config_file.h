/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The configuration of one bond in memory, as bondd and bondctl read it from BOND.conf and its
 * drop-ins: parsed and checked, but not applied. Also a target of the fuzzers.
 */
#ifndef XBOND_OPTIONS_CONFIG_FILE_H
#define XBOND_OPTIONS_CONFIG_FILE_H

#include <dirent.h>
#include <stdio.h>

#include "options/config_mistakes.h"
#include "options/config_model.h"

#define CONFIG_DROP_INS_SUFFIX ".d" /* BOND.conf.d has the drop-ins of BOND.conf */

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

/* For scandir(): files whose names make them configuration, by the bytes of their names. */
int config_file_is_entry(const struct dirent *entry);
int config_file_compare_entries(const struct dirent **a, const struct dirent **b);

#endif
