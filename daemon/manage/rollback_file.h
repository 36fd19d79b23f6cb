/* SPDX-License-Identifier: GPL-2.0-or-later */
/* RUN_DIR/BOND.rollback: a snapshot and when the bond goes back to it. For rollback.c. */
#ifndef XBOND_DAEMON_MANAGE_ROLLBACK_FILE_H
#define XBOND_DAEMON_MANAGE_ROLLBACK_FILE_H

#include <jansson.h>
#include <stdint.h>

#include "common/paths.h"

struct rollback_record {
	json_t *snapshot;
	uint64_t at_us; /* by clock_boot_us() */
	uint64_t apply; /* see struct rollback_terms */
};
/* Writes it completely, and to the disk if there is one, or not at all. Returns 0 or -errno. */
int rollback_file_write(const struct paths *paths, const char *bond,
			const struct rollback_record *record);
void rollback_file_remove(const struct paths *paths, const char *bond);

/* Takes the reference to the snapshot. What was written before the machine was started last is due
 * at once. */
typedef void (*rollback_file_visitor)(const char *bond, const struct rollback_record *record,
				      void *arg);
/* Every file that can be read; the others are removed, which the log says. */
void rollback_file_visit(const struct paths *paths, rollback_file_visitor visit, void *arg);

#endif
