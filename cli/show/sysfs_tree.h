/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes bonds as files, as the kernel's bonding driver has them below /sys. */
#ifndef XBOND_CLI_SHOW_SYSFS_TREE_H
#define XBOND_CLI_SHOW_SYSFS_TREE_H

#include <jansson.h>

#include "common/err.h"

/*
 * bonds: an array of objects of view_bond(). The tree appears at dir completely: one rename puts it
 * there, in the place of an earlier one. A dir that is not empty and was not made by this function
 * is refused with -EEXIST.
 */
int sysfs_tree_write(const char *dir, const json_t *bonds, struct err *err);

#endif
