/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Work that is done elsewhere: in a child, or in another network namespace. */
#ifndef XBOND_DAEMON_BASE_CHILD_H
#define XBOND_DAEMON_BASE_CHILD_H

#include "network/nl.h"

/*
 * Runs work in a child because it would affect bondd itself: its namespace, its descriptors, its
 * time. Knows nothing of the work.
 */

/*
 * Runs work(arg), which returns 0 or -errno, in a child. The child has ten seconds, ends with
 * bondd, and has no descriptors except the standard ones and keep_fd (-1: none). Returns what work
 * returned, or -ETIMEDOUT. Meanwhile links and timers of bonds are followed (main_loop.h).
 */
int child_run(int (*work)(const void *arg), const void *arg, int keep_fd);

/*
 * Changes devices of another network namespace from within that namespace. (A message with
 * IFLA_TARGET_NETNSID can read there but not change: the kernel takes the device with that number
 * here and moves it there.)
 */

typedef int (*netns_work)(struct nl *nl, const void *arg);

/*
 * Calls work in the namespace nsid, with a netlink socket of that namespace. work returns 0 or
 * -errno. nsid -1 means here, with nl. -ENOENT: no process and no name in /run/netns leads there.
 */
int netns_call(struct nl *nl, int nsid, netns_work work, const void *arg, struct err *err);
/* The same for a thread other than the main one, which goes there itself and comes back. */
int netns_call_in_thread(struct nl *nl, int nsid, netns_work work, const void *arg);

#endif
