/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control socket: one JSON object per line in, one out (docs/control.md). Checks who
 * asks and that the words are there; requests.c does the rest.
 */
#ifndef XBOND_DAEMON_CONTROL_CONTROL_H
#define XBOND_DAEMON_CONTROL_CONTROL_H

#include <jansson.h>

#include "daemon/bond/daemon.h"

/* Listens on RUN_DIR/bondd.sock. 0, or -errno and a line in err. */
int control_init(struct daemon *daemon, struct err *err);
/* Removes the socket's file. */
void control_done(struct daemon *daemon);

/* One request line to its answer (jansson reference). root: may change things. Also for fuzzing. */
json_t *control_answer(struct daemon *daemon, const char *line, size_t length, bool root);

#endif
