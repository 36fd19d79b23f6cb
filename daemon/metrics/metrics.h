/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `bondd --metrics`: metrics and a page about the bonds, over HTTP, by a thread of its own. It
 * reads pinned maps as bondctl does and knows nothing of the main loop, which neither waits for it
 * nor is asked by it.
 */
#ifndef XBOND_DAEMON_METRICS_METRICS_H
#define XBOND_DAEMON_METRICS_METRICS_H

#include <sys/types.h>

#include "common/err.h"
#include "common/paths.h"

struct metrics;

/* -EINVAL: text is no address. */
int metrics_check(const char *text, struct err *err);
/*
 * Starts the thread. If the address is taken, the log says so, and the thread tries again until it
 * is free. text and paths stay in use. Members of the group may use a Unix socket; (gid_t)-1: there
 * is none. NULL, with a line in err, if there is no thread.
 */
struct metrics *metrics_new(const char *text, const struct paths *paths, gid_t group,
			    struct err *err);
/* NULL: nothing. Waits for an answer that is being made. */
void metrics_free(struct metrics *metrics);

#endif
