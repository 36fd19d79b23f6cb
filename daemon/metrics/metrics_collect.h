/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is answered to HTTP requests, made from the pinned maps: metrics as text, and all bonds as
 * JSON. Knows no HTTP.
 */
#ifndef XBOND_DAEMON_METRICS_METRICS_COLLECT_H
#define XBOND_DAEMON_METRICS_METRICS_COLLECT_H

#include <stddef.h>

#include "daemon/metrics/metrics_pins.h"
#include "daemon/metrics/metrics_text.h"

/*
 * run_dir has the figures of the main loop. Both return memory to be freed, or NULL if the bonds
 * cannot be listed.
 */
char *metrics_collect_text(struct metrics_pins *pins, const char *run_dir,
			   enum metrics_format format, size_t *ret_length);
/* An array as `bondctl -j show` prints it. */
char *metrics_collect_json(struct metrics_pins *pins, const char *run_dir, size_t *ret_length);

#endif
