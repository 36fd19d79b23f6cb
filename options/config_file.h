/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One configuration file in memory: parsed and checked, but not applied. Also a target of the
 * fuzzers.
 */
#ifndef XBOND_OPTIONS_CONFIG_FILE_H
#define XBOND_OPTIONS_CONFIG_FILE_H

#include <stdio.h>

#include "options/option_set.h"

struct config_slave {
	char name[XBOND_NAME_SIZE];
	struct option_set options;
};

struct config_file {
	struct option_set bond;
	struct config_slave *slaves;
	size_t slave_count;
};

/*
 * On failure returns -errno, with "PATH:LINE: why" in err. After success, free it with
 * config_file_free().
 */
int config_file_read(struct config_file *ret_file, const char *path, struct err *err);
/* The same of a stream, which it closes; name is for the error. */
int config_file_read_stream(struct config_file *ret_file, FILE *stream, const char *name,
			    struct err *err);
void config_file_free(struct config_file *file);

#endif
