/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which network manager configures a device: by the state files that managers leave below /run, and
 * by their configuration. None of them has to be there, and none is asked.
 */
#ifndef XBOND_COMMON_MANAGERS_H
#define XBOND_COMMON_MANAGERS_H

#include <stdbool.h>

/*
 * Are these files about the devices that this process sees? They are about those of the namespace
 * that the first process is in. In a container that hides this, they are the container's own.
 */
bool managers_are_here(void);

/* Its name, or NULL. ret_is_sure: it acts on the device; otherwise it may only have brought it up.
 */
const char *managers_find(int ifindex, const char *name, bool *ret_is_sure);

/*
 * The manager whose configuration names a device that need not exist yet, or NULL. root: "", or the
 * directory that stands for /. Files that cannot be read name nothing.
 */
const char *managers_configured(const char *root, const char *name);

#endif
