/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waiting without being deaf: whoever must not wait that long has a turn meanwhile. Knows nothing
 * of either; meanwhile.c says what is done.
 */
#ifndef XBOND_DAEMON_BASE_IDLE_H
#define XBOND_DAEMON_BASE_IDLE_H

#include <stdbool.h>

struct idle_work {
	int fd; /* readable: at once; else from time to time */
	void (*turn)(void *arg);
	void *arg;
};

/* NULL: nothing is done. It is not copied. */
void idle_set_work(const struct idle_work *work);

/* Until fd is readable. False: it was not within limit_ms. */
bool idle_wait(int fd, int limit_ms);
/*
 * Until work has ended, which a thread does. It must touch nothing that belongs to the main loop.
 */
void idle_run(void (*work)(void *arg), void *arg);
/* Between two steps of what takes long: bonds are as bond_evaluate() may find them. */
void idle_turn(void);

#endif
