/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures how long each turn of the main loop takes. During a turn the loop can answer to nothing
 * else. bondd.c says when a turn begins and ends; the code that does the work says what it is.
 */
#ifndef XBOND_DAEMON_BASE_LATENCY_H
#define XBOND_DAEMON_BASE_LATENCY_H

#include "common/readings.h"

/* How long one piece of work may go on that can be continued later. */
#define LATENCY_SLICE_NS 2000000ull

/*
 * Call it once. If the file of the figures cannot be made, nothing is measured, and everything else
 * works.
 */
void latency_start(const char *run_dir);
void latency_stop(const char *run_dir);
/* Begins anew if somebody has removed the file. */
void latency_keep(const char *run_dir);
/* NULL if nothing is measured. */
const struct loop_figures *latency_figures(void);

void latency_begin_turn(void);
void latency_end_turn(void);
/*
 * In the middle of a turn: from here on the loop answers to what must not wait. The rest, from
 * latency_resume() on, is a turn of its own.
 */
const char *latency_pause(void);
void latency_resume(const char *work);
/* Says what this turn is for, in a word of at most 15 characters. */
void latency_note(const char *work);

#endif
