/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Directories of pins, and single pins in them. Each is made, replaced and removed in one step, so
 * a bondd that dies leaves a complete directory or a staging directory. Does not know what is
 * pinned.
 */
#ifndef XBOND_DAEMON_DATAPLANE_PIN_DIRS_H
#define XBOND_DAEMON_DATAPLANE_PIN_DIRS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"
#include "common/pins.h"

/* The staging directory, where a bond's directory is while it is made or removed. */
void pin_dirs_staging(char *ret_path, size_t size, const char *bpf_dir, const char *name);
/* Makes an empty directory; removes what a bondd that died has left there. */
int pin_dirs_make(const char *dir, struct err *err);
/* Removes it with its contents. It is no error if nothing is there. */
void pin_dirs_remove(const char *dir);
/* Removes every staging directory. */
void pin_dirs_remove_staging(const char *bpf_dir);

/* Is anything pinned there by this name? */
bool pin_dirs_has(const char *dir, const char *name);
int pin_dirs_pin(int fd, const char *dir, const char *name, struct err *err);
/*
 * Pins something, in place of an existing pin if there is one; a pin of this name exists all the
 * time.
 */
int pin_dirs_replace(int fd, const char *dir, const char *name, struct err *err);
/* Removes what a bondd that died in pin_dirs_replace() has left. */
void pin_dirs_tidy(const char *dir, const char *name);

/* Calls it for each pin until a call fails. Returns -errno of that call or of the directory. */
int pin_dirs_visit(const char *dir, int (*visit)(const char *dir, const char *name, void *arg),
		   void *arg);

#endif
