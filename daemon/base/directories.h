/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The directories bondd lives in: made, on the right file system, and its alone. */
#ifndef XBOND_DAEMON_BASE_DIRECTORIES_H
#define XBOND_DAEMON_BASE_DIRECTORIES_H

#include "common/err.h"
#include "common/paths.h"

/*
 * Makes run_dir and bpf_dir, mounts bpffs at /sys/fs/bpf if bpf_dir is below and nothing is
 * there, and locks both directories against a second bondd until the process ends.
 */
int house_open(const struct paths *paths, struct err *err);
/* bpf_dir has gone: makes it anew, in the same way. Nothing is done if it is there. */
int house_reopen(const struct paths *paths, struct err *err);

#endif
