/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which bonds CONFIG_DIR has a file for. Called by bondd and bondctl. */
#ifndef XBOND_OPTIONS_CONFIG_DIR_H
#define XBOND_OPTIONS_CONFIG_DIR_H

#include <stddef.h>

#include "common/err.h"

/* CONFIG_DIR/BOND.conf. -ENAMETOOLONG: it does not fit. */
int config_dir_path(char *ret_path, size_t size, const char *config_dir, const char *bond);
/*
 * The names of the bonds, in the order of their bytes, with NULL at the end; free them with
 * config_dir_free(). A directory that does not exist has none.
 */
int config_dir_bonds(const char *config_dir, char ***ret_names, struct err *err);
void config_dir_free(char **names);

#endif
