/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Directories of pins and single pins in them: made, replaced and removed in one step each, so
 * that a bondd that dies leaves a whole directory or a staging one. Knows nothing of what is
 * pinned.
 */
#ifndef XBOND_DAEMON_DATAPLANE_PIN_DIRS_H
#define XBOND_DAEMON_DATAPLANE_PIN_DIRS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"
#include "common/pin.h"

/* Where a bond's directory is while it is made or removed. */
void pin_dirs_staging(char *ret_path, size_t size, const char *bpf_dir, const char *name);
/* An empty directory; what a bondd that died has left there goes. */
int pin_dirs_make(const char *dir, struct err *err);
/* With all that is in it. Nothing there is no error. */
void pin_dirs_remove(const char *dir);
/* Every staging directory. */
void pin_dirs_remove_staging(const char *bpf_dir);

/* Is anything pinned there by this name? */
bool pin_dirs_has(const char *dir, const char *name);
int pin_dirs_pin(int fd, const char *dir, const char *name, struct err *err);
/* In place of what is pinned there, if anything is: there is never no pin of this name. */
int pin_dirs_replace(int fd, const char *dir, const char *name, struct err *err);
/* What a bondd that died in pin_dirs_replace() has left. */
void pin_dirs_tidy(const char *dir, const char *name);

/* For each pin, until one call fails; -errno of that or of the directory. */
int pin_dirs_visit(const char *dir, int (*visit)(const char *dir, const char *name, void *arg),
		   void *arg);

#endif
