/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which names a bond or a slave may have: names of network devices that are also
 * safe as a file name below BPF_DIR and CONFIG_DIR. Used by bondd and bondctl.
 */
#ifndef XBOND_OPTIONS_NAMES_H
#define XBOND_OPTIONS_NAMES_H

#include "common/err.h"

/* what: "bond" or "slave", for the line in err. Returns 0 or -EINVAL. */
int name_check(const char *what, const char *name, struct err *err);

#endif
