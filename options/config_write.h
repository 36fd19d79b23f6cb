/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of a configuration file, written so that config_file.c reads the same. Called by those who
 * make such files (save, import).
 */
#ifndef XBOND_OPTIONS_CONFIG_WRITE_H
#define XBOND_OPTIONS_CONFIG_WRITE_H

#include <stdio.h>

#include "options/options.h"

/* Would the reader take this name differently from how it is written? Returns 0 or -EINVAL. */
int config_write_check_name(const char *name, struct err *err);
/* One line, or several for a long list. */
void config_write_option(FILE *file, const struct option_spec *option,
			 const struct option_value *value);

/*
 * Ends a file that was written beside its place: complete on disk, closed, and with the permissions
 * and the owner of the file that it will replace. Without one (or with NULL), all may read it.
 * Returns 0 or -errno; it is closed in any case.
 */
int config_write_end(FILE *file, const char *replaced);
/* So that the new name of a file outlives a loss of power. */
void config_write_sync_dir(const char *dir);

#endif
