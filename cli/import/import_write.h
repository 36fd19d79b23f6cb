/* SPDX-License-Identifier: GPL-2.0-or-later */
/* xbond's configuration of the bonds that were found: as text, and as files. */
#ifndef XBOND_CLI_IMPORT_IMPORT_WRITE_H
#define XBOND_CLI_IMPORT_IMPORT_WRITE_H

#include "cli/import/import.h"

/*
 * The contents of BOND.conf. bondd's own reader has taken it: if it refuses it, this returns
 * -errno, with a line in err.
 */
int import_configuration(struct import *import, const struct import_bond *bond,
			 const char **ret_text, struct err *err);
/* What -w writes, or would. */
const char *import_target(struct import *import, const char *dir, const struct import_bond *bond);
/*
 * Writes the files of these bonds: all of them, or none. A file that is there already is left
 * alone, and then this fails with -EEXIST. Returns -errno, with a line in err.
 */
int import_write(struct import *import, const char *dir, struct import_bond *const *bonds,
		 size_t count, struct err *err);

#endif
