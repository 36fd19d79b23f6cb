/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What import prints: the configurations and the remarks, as text or as JSON. */
#ifndef XBOND_CLI_IMPORT_IMPORT_REPORT_H
#define XBOND_CLI_IMPORT_IMPORT_REPORT_H

#include <jansson.h>

#include "cli/import/import_keys.h"

/* One line each, to stderr; of only one bond if `of` is not NULL, and of none alone. */
void import_print_remarks(const struct import *import, const struct import_bond *of);
/* dir: where the configurations were written; NULL: nowhere. Returns a new reference, or NULL. */
json_t *import_json(struct import *import, struct import_bond *const *bonds, size_t count,
		    const struct import_bond *of, const char *dir, struct err *err);

#endif
