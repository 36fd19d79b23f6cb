/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures how long each turn of the main loop takes, in which it can answer to nothing else:
 * main.c says when a turn begins and ends, who does the work says what it is.
 */
#ifndef XBOND_DAEMON_BASE_LATENCY_H
#define XBOND_DAEMON_BASE_LATENCY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/loop_figures.h"

/* How long one piece of work that can be taken up again later may go on. */
#define LATENCY_SLICE_NS 2000000ull

/* Without figures nothing is measured, which harms nobody. Once. */
void latency_start(const char *run_dir);
void latency_stop(const char *run_dir);
/* NULL: nothing is measured. */
const struct loop_figures *latency_figures(void);

void latency_begin_turn(void);
void latency_end_turn(void);
/*
 * In the midst of one: what must not wait is answered to from here on. The rest, from
 * latency_resume() on, is a turn of its own.
 */
const char *latency_pause(void);
void latency_resume(const char *work);
/* What this turn is for: a word of at most 15 characters. */
void latency_note(const char *work);

#endif
