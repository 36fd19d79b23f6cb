/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The contents of the kernel's files in /sys/class/net/BOND/bonding and DEV/bonding_slave, and of
 * those of both devices that checks of bonds read beside them.
 */
#ifndef XBOND_CLI_SHOW_SYSFS_VALUES_H
#define XBOND_CLI_SHOW_SYSFS_VALUES_H

#include <jansson.h>

#define SYSFS_VALUE_SIZE 4096 /* a page, as in the kernel */

/* The i-th file's name; NULL behind the last one. ret_value: its content, with its newline. */
const char *sysfs_bond_value(const json_t *bond, unsigned int i, char ret_value[SYSFS_VALUE_SIZE]);
const char *sysfs_slave_value(const json_t *bond, const json_t *slave, unsigned int i,
			      char ret_value[SYSFS_VALUE_SIZE]);
/* Of the bond's device, or of the slave's if that is not NULL. */
const char *sysfs_device_value(const json_t *bond, const json_t *slave, unsigned int i,
			       char ret_value[SYSFS_VALUE_SIZE]);

#endif
