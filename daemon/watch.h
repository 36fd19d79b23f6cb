/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Everything that reaches bondd from the kernel: messages about links, qdiscs, filters and
 * addresses, and the slow tick. The tick is the safety net under the messages (heartbeat, bond0 in
 * another namespace, lost messages).
 */
#ifndef XBOND_DAEMON_WATCH_H
#define XBOND_DAEMON_WATCH_H

#include "daemon/bond/daemon.h"

/* Starts listening. Call it before adoption, so that nothing is missed in between. */
int watch_init(struct daemon *daemon);
void watch_done(struct daemon *daemon);

/* parts.c: makes the table of all parts known. Before there are bonds. */
void parts_list(void);

#endif
