/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The terminal: taken for full-screen use, and given back as it was, however bondctl ends. One at
 * a time, because signal handlers know of it.
 */
#ifndef XBOND_CLI_TOP_TOP_TERMINAL_H
#define XBOND_CLI_TOP_TOP_TERMINAL_H

#include <stdbool.h>

#include "common/err.h"

int top_terminal_begin(struct err *err);
void top_terminal_end(void);

/*
 * Waits for a key, a change of the terminal's size or a signal, at most so long. Returns false when
 * the program has to end: it got a signal, or the terminal is gone.
 */
bool top_terminal_wait(unsigned int timeout_ms);
/* After top_terminal_end(): ends the program by the signal that it got, if it got one. */
void top_terminal_obey(void);

/* Can the terminal show Unicode's block elements? */
bool top_terminal_has_blocks(void);

#endif
