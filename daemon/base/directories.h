/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The directories of bondd, and the files that it keeps there for the next bondd. */
#ifndef XBOND_DAEMON_BASE_DIRECTORIES_H
#define XBOND_DAEMON_BASE_DIRECTORIES_H

#include <jansson.h>
#include <stdbool.h>

#include "common/err.h"
#include "common/paths.h"

/*
 * The directories of bondd: makes them on the right file system and locks them, so that no other
 * bondd uses them.
 */

/*
 * Makes run_dir and bpf_dir. Mounts a BPF file system at /sys/fs/bpf if bpf_dir is below and
 * nothing is mounted there. Locks both directories against a second bondd until the process ends.
 */
int directories_open(const struct paths *paths, struct err *err);
/*
 * Makes run_dir and its lock again if somebody has removed them. -EBUSY: another bondd has it by
 * now.
 */
int directories_keep_run_dir(const char *run_dir, struct err *err);
/* bpf_dir has gone: makes it again in the same way. Does nothing if it exists. */
int directories_reopen(const struct paths *paths, struct err *err);

/*
 * RUN_DIR/NAME: a record for the next bondd, a JSON object with the boot and the network
 * namespace in which it was written: a container that is restarted has another one, and finds its
 * files again. Used for what a bond was (snapshot.c) and how far a handover is (handover_plan.c).
 */

/*
 * Writes it completely, and to the disk if there is one, or not at all. Takes the reference.
 * Returns 0 or -errno.
 */
int run_file_write(const struct paths *paths, const char *name, json_t *json);
/* A new reference; NULL: there is none that can be read, or it is not bondd's. */
json_t *run_file_read(const struct paths *paths, const char *name, bool *ret_is_of_this_boot);
void run_file_remove(const struct paths *paths, const char *name);
/*
 * Every bond of which there is RUN_DIR/FOLDER/BOND and this suffix. folder: "" for none. -errno:
 * they cannot be listed.
 */
typedef void (*run_file_visitor)(const char *bond, void *arg);
int run_file_visit(const struct paths *paths, const char *folder, const char *suffix,
		   run_file_visitor visit, void *arg);

#endif
