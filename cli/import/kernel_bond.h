/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bond of the kernel's driver, as its files show it. They show every option, so what is the
 * default for xbond, too, is left out.
 */
#ifndef XBOND_CLI_IMPORT_KERNEL_BOND_H
#define XBOND_CLI_IMPORT_KERNEL_BOND_H

#include "cli/import/import_sources.h"

/* As import_apply_key(), but nothing happens if the value is xbond's default or empty. */
void kernel_apply(struct import *import, const struct import_key *key, struct import_bond *bond,
		  struct import_slave *slave, const char *value, const struct import_line *line);

/* Has sysfs of every kernel a file for it? */
bool kernel_is_in_sysfs(enum option_id id);

extern const struct import_key kernel_proc_keys[], kernel_proc_slave_keys[], kernel_ip_keys[],
	kernel_ip_slave_keys[];

/*
 * Takes a file of /proc/net/bonding. beside_sysfs: only what sysfs has no file for. Returns -EINVAL
 * with a line in err if it is no such file.
 */
int kernel_take_proc(struct import *import, const struct import_file *file, const char *name,
		     bool beside_sysfs, struct err *err);

/*
 * Takes the output of 'ip -details -json link show'; of only one bond if `only` is not NULL.
 * Returns -EINVAL with a line in err if it is none.
 */
int kernel_take_ip(struct import *import, const struct import_file *file, const char *only,
		   struct err *err);
/* Asks the driver for what sysfs has no file for, of the bonds that were found. */
void kernel_ask_driver(struct import *import);

#endif
