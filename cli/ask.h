/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What bondd tells members of the group xbond, who may not read the pinned maps. Called by
 * cmd_show.c after that was refused.
 */
#ifndef XBOND_CLI_ASK_H
#define XBOND_CLI_ASK_H

#include <jansson.h>
#include <stdbool.h>

#include "common/err.h"

/* Sorted names, NULL at the end, to be released by pins_names_free(). */
int ask_names(const char *run_dir, char ***ret_names, struct err *err);
/* method: "show" or "stats". *ret_view is a new reference. */
int ask_view(const char *run_dir, const char *method, const char *name, json_t **ret_view,
	     bool *ret_forced_counted, struct err *err);

#endif
