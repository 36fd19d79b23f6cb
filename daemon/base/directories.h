/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The directories of bondd: makes them on the right file system and locks them, so that no other
 * bondd uses them.
 */
#ifndef XBOND_DAEMON_BASE_DIRECTORIES_H
#define XBOND_DAEMON_BASE_DIRECTORIES_H

#include "common/err.h"
#include "common/paths.h"

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

#endif
