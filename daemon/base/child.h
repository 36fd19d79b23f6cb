/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs work in a child because it would affect bondd itself: its namespace, its descriptors, its
 * time. Knows nothing of the work.
 */
#ifndef XBOND_DAEMON_BASE_CHILD_H
#define XBOND_DAEMON_BASE_CHILD_H

/*
 * Runs work(arg), which returns 0 or -errno, in a child. The child has ten seconds, ends with
 * bondd, and has no descriptors except the standard ones and keep_fd (-1: none). Returns what work
 * returned, or -ETIMEDOUT. Meanwhile links and timers of bonds are followed (idle.h).
 */
int child_run(int (*work)(const void *arg), const void *arg, int keep_fd);

#endif
