/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks bondd for what the pinned maps would tell, for members of the group xbond who cannot read
 * them: after opening the maps was refused.
 */
#ifndef XBOND_CLI_BASE_ASK_H
#define XBOND_CLI_BASE_ASK_H

#include <jansson.h>
#include <stdbool.h>

#include "common/err.h"

/* Sorted names with NULL at the end; release them with pins_names_free(). */
int ask_names(const char *run_dir, char ***ret_names, struct err *err);
/* method: "show" or "stats". *ret_view is a new reference. */
int ask_view(const char *run_dir, const char *method, const char *name, json_t **ret_view,
	     bool *ret_forced_counted, struct err *err);

#endif
