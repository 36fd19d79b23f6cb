/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes devices of another network namespace from within that namespace. (A message with
 * IFLA_TARGET_NETNSID can read there but not change: the kernel takes the device with that number
 * here and moves it there.)
 */
#ifndef XBOND_DAEMON_BASE_NETNS_CALL_H
#define XBOND_DAEMON_BASE_NETNS_CALL_H

#include "network/nl.h"

typedef int (*netns_work)(struct nl *nl, const void *arg);

/*
 * Calls work in the namespace nsid, with a netlink socket of that namespace. work returns 0 or
 * -errno. nsid -1 means here, with nl. -ENOENT: no process and no name in /run/netns leads there.
 */
int netns_call(struct nl *nl, int nsid, netns_work work, const void *arg, struct err *err);
/* The same for a thread other than the main one, which goes there itself and comes back. */
int netns_call_in_thread(struct nl *nl, int nsid, netns_work work, const void *arg);

#endif
