/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Those who follow the events (the method `monitor`): each has a connection that gets a line for
 * each event. They read out of the ring of events at their own pace. Who is too slow misses events
 * and is told how many; nobody can delay the main loop or make bondd grow.
 */
#ifndef XBOND_DAEMON_CONTROL_FOLLOWER_H
#define XBOND_DAEMON_CONTROL_FOLLOWER_H

#include <sys/types.h>

#include "common/err.h"
#include "daemon/bond/daemon.h"

/* Returns -EBUSY, with a line in err, if there are too many. */
int follower_check(uid_t uid, struct err *err);
/* Takes the connection. from: the number of the first event. */
void follower_add(struct daemon *daemon, int fd, uid_t uid, uint64_t from);
/* Ends all connections. */
void follower_done(void);

#endif
