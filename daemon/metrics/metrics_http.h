/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Speaks HTTP on a listening socket, by libmicrohttpd, in the thread that calls
 * metrics_http_turn(). What clients can use up is bounded: connections, their time, and the memory
 * of answers that they do not read.
 */
#ifndef XBOND_DAEMON_METRICS_METRICS_HTTP_H
#define XBOND_DAEMON_METRICS_METRICS_HTTP_H

#include <stdbool.h>

#include "common/paths.h"

struct metrics_http;

/*
 * listen_fd stays the caller's. any_host: requests may name any. Returns NULL if libmicrohttpd
 * does not start.
 */
struct metrics_http *metrics_http_new(const struct paths *paths, int listen_fd, bool any_host);
void metrics_http_free(struct metrics_http *http);

/* Readable when there is something to do. */
int metrics_http_fd(const struct metrics_http *http);
/* Does what there is to do. Returns after how many ms it is to be called, at the latest. */
int metrics_http_turn(struct metrics_http *http);

#endif
