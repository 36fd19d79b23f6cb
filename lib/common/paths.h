/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where bondd and bondctl find things, and which version they are. */
#ifndef XBOND_COMMON_PATHS_H
#define XBOND_COMMON_PATHS_H

#include <glob.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * The directories: from the command line, else from the environment, else the defaults. Used by
 * bondd and bondctl.
 */

struct paths {
	const char *run_dir;	/* /run/xbond, XBOND_RUN_DIR */
	const char *bpf_dir;	/* /sys/fs/bpf/xbond, XBOND_BPF_DIR */
	const char *config_dir; /* /etc/xbond, XBOND_CONFIG_DIR */
};

#define PATHS_SOCKET_NAME "bondd.sock"
#define PATHS_LOCK_NAME "bondd.lock"
#define PATHS_LOOP_NAME "bondd.loop" /* common/readings.h */

/* The end of the name of a bond's configuration file. */
#define PATHS_CONFIG_SUFFIX ".conf"

/* The value of a variable of the environment; `otherwise`, if it is not set or empty. */
const char *paths_from_env(const char *variable, const char *otherwise);
/* Sets each from the environment, or to its default. */
void paths_init(struct paths *paths);
/* The length of a directory's name without slashes at its end. DIR and DIR/ are the same. */
int paths_length(const char *directory);
/* What is behind the last slash. Into the same bytes. */
const char *paths_base(const char *path);
/*
 * Renames, as renameat2() does, which not every C library has: only if nothing is at `to`, or
 * (exchange) each gets what the other one has. Returns 0, or -1 and errno.
 */
int paths_rename(const char *from, const char *to, bool exchange);
/*
 * glob() of a pattern that may have one list in braces, which not every C library knows. Returns 0
 * if there are such files; then globfree() frees them.
 */
int paths_glob(const char *pattern, glob_t *ret_found);
/* Makes the directory, with this mode, and those above it. It is no error if it exists. */
int paths_make_dir(const char *path, mode_t mode);

/*
 * Before any other file is opened: none gets the number of standard input, output or error, should
 * one of these be closed, and so what is printed. Reading and writing these still fails.
 */
void paths_keep_standard(void);

/* The version as bondd and bondctl print it: the number, and the commit if the build knows it. */

extern const char xbond_version[];

#endif
