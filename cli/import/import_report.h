/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What import prints: the configurations and the remarks, as text or as JSON. */
#ifndef XBOND_CLI_IMPORT_IMPORT_REPORT_H
#define XBOND_CLI_IMPORT_IMPORT_REPORT_H

#include <jansson.h>

#include "cli/import/import_keys.h"

/* One line each, to stderr. */
void import_print_remarks(const struct import *import);
/* One line to stderr for each bond that is not written. Returns false if there is none. */
bool import_print_refused(const struct import *import);
/* dir: where the configurations were written; NULL: nowhere. Returns a new reference, or NULL. */
json_t *import_json(struct import *import, const char *dir, struct err *err);

#endif
