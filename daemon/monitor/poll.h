/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The poll of carrier, the safety net under the kernel's messages. Every bond is polled at its
 * miimon. One timer serves all, so bonds with the same miimon cost one wakeup.
 */
#ifndef XBOND_DAEMON_MONITOR_POLL_H
#define XBOND_DAEMON_MONITOR_POLL_H

#include "daemon/bond/daemon.h"

/* Returns 0 or -errno. */
int poll_init(struct daemon *daemon);
void poll_done(struct daemon *daemon);
/* The bond is new or has another miimon: its next poll is one miimon from now. */
void poll_schedule(struct bond *bond);
/* The next poll asks for the slave's speed, too. */
void poll_want_speed(struct bond *bond, unsigned int slot);
/* Polls as soon as the poller has time. */
void poll_soon(struct bond *bond);
/*
 * Lets a thread ask the drivers of all bonds that are due (poller.h). Takes its answers and
 * evaluates the bonds.
 */
void poll_ask(struct daemon *daemon);
void poll_answer(struct daemon *daemon);

#endif
