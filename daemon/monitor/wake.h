/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Wakes bondd when a link changes, before the kernel's message does: by what a packet tells that
 * avoids a slave (bpf/netdev.h), and by carrier_watch.h for links without packets. In each case all
 * slaves are looked at (look.h).
 */
#ifndef XBOND_DAEMON_MONITOR_WAKE_H
#define XBOND_DAEMON_MONITOR_WAKE_H

#include "daemon/bond/daemon.h"

/* Returns 0 or -errno. */
int wake_init(struct daemon *daemon);
void wake_done(struct daemon *daemon);
/* The bond begins and ends. */
void wake_add(struct bond *bond);
void wake_remove(struct bond *bond);
/* Readable when there is something for wake_read(). */
int wake_fd(const struct daemon *daemon);
/* Reads what there is. Evaluates. */
void wake_read(struct daemon *daemon);
/* Watches the slaves that there are now. Called twice a second. */
void wake_follow(struct daemon *daemon);

#endif
