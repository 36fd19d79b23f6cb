/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits for something that takes long. Meanwhile, work that must not wait that long has its turn.
 * Knows neither; meanwhile.c says what is done.
 */
#ifndef XBOND_DAEMON_BASE_IDLE_H
#define XBOND_DAEMON_BASE_IDLE_H

#include <stdbool.h>

struct idle_work {
	int fd; /* work to do at once when readable, and otherwise from time to time */
	void (*turn)(void *arg);
	void *arg;
};

/* NULL: nothing is done meanwhile. The struct is not copied. */
void idle_set_work(const struct idle_work *work);

/* Waits until fd is readable. Returns false if it was not within limit_ms. */
bool idle_wait(int fd, int limit_ms);
/*
 * Waits until a thread has done the work. The work must touch nothing that belongs to the main
 * loop.
 */
void idle_run(void (*work)(void *arg), void *arg);
/*
 * Call it between two steps of long work, when bonds are in a state in which bond_evaluate() may
 * find them.
 */
void idle_turn(void);

#endif
