/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What goes on while the main loop waits for a child, which may take ten seconds: carriers, news of
 * LACP, delays, polls and heartbeats of all bonds. Everything else waits, including requests.
 */
#ifndef XBOND_DAEMON_MEANWHILE_H
#define XBOND_DAEMON_MEANWHILE_H

struct daemon;

/* Call it after the listener, the LACP thread and burst_init(). Returns 0 or -errno. */
int meanwhile_init(struct daemon *daemon);
void meanwhile_done(void);

#endif
