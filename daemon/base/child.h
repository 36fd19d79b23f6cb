/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Work that must not touch bondd itself: its namespace, its descriptors, its time. Knows nothing of
 * the work.
 */
#ifndef XBOND_DAEMON_BASE_CHILD_H
#define XBOND_DAEMON_BASE_CHILD_H

/*
 * Runs work(arg), which returns 0 or -errno, in a child that has ten seconds, ends with
 * bondd, and has no descriptor but the standard ones and keep_fd (-1: none). Returns the same,
 * or -ETIMEDOUT. Links and timers of bonds are followed meanwhile (meanwhile.h).
 */
int child_run(int (*work)(const void *arg), const void *arg, int keep_fd);

#endif
