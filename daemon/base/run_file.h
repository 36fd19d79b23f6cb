/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RUN_DIR/NAME: a JSON object that the next bondd reads, with the boot in which it was written. For
 * rollback_file.c and snapshot.c.
 */
#ifndef XBOND_DAEMON_BASE_RUN_FILE_H
#define XBOND_DAEMON_BASE_RUN_FILE_H

#include <jansson.h>
#include <stdbool.h>

#include "common/paths.h"

/*
 * Writes it completely, and to the disk if there is one, or not at all. Takes the reference.
 * Returns 0 or -errno.
 */
int run_file_write(const struct paths *paths, const char *name, json_t *json);
/* A new reference; NULL: there is none that can be read. */
json_t *run_file_read(const struct paths *paths, const char *name, bool *ret_is_of_this_boot);
void run_file_remove(const struct paths *paths, const char *name);

#endif
