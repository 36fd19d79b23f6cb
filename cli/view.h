/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bond as a JSON object, as the contract has it. Both outputs, for scripts and for
 * people, are made from it.
 */
#ifndef XBOND_CLI_VIEW_H
#define XBOND_CLI_VIEW_H

#include <jansson.h>

#include "common/pins.h"

/* What `show` prints. New references; NULL when memory or the counters fail. */
json_t *view_bond(const struct pins *pins, const char *name, const char *run_dir);

/* What `stats` prints. */
json_t *view_stats(const struct pins *pins, const char *name);

#endif
