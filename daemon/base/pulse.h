/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tells the service manager that bondd lives, as long as all its threads do (WatchdogSec= of
 * systemd). Does nothing if the service manager does not ask for it. Threads are in worker.c,
 * realtime.c, idle.c and daemon/metrics/.
 */
#ifndef XBOND_DAEMON_BASE_PULSE_H
#define XBOND_DAEMON_BASE_PULSE_H

#include <stdint.h>

#define PULSE_NEVER UINT64_MAX

struct pulse {
	struct pulse *next;
	const char *name; /* of the thread */
	uint64_t due_ns;  /* as clock_now_ns() */
};

/* Reads what the service manager asks for. */
void pulse_init(void);

/* Both by the main loop. A new thread owes nothing. */
void pulse_add(struct pulse *pulse, const char *name);
void pulse_remove(struct pulse *pulse);

/*
 * By the thread: from then on it owes another call. When it begins something, that is now. When it
 * rests, it is the time at which it will go on, or PULSE_NEVER.
 */
void pulse_owe(struct pulse *pulse, uint64_t due_ns);
/* By whoever wakes it, never at the same time as pulse_owe(): it owes a call from now on. */
void pulse_wake(struct pulse *pulse);

/* The main loop does this several times a second. */
void pulse_beat(void);

#endif
