/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long the turns of bondd's main loop took: figures in a file in its run directory, mapped into
 * memory. bondd writes them. Everybody may read them, even while bondd stands still.
 */
#ifndef XBOND_COMMON_LOOP_FIGURES_H
#define XBOND_COMMON_LOOP_FIGURES_H

#include <stdint.h>

#define LOOP_MAGIC 0x786c6f70 /* "xlop" */
#define LOOP_BUCKETS 28	      /* powers of two of microseconds; the last is 67 s and more */
#define LOOP_WORK_SIZE 16

/* During a turn the loop can answer to nothing else. Writer: bondd's main loop. */
struct loop_figures {
	uint32_t magic;
	uint32_t size;
	uint64_t turns;
	uint64_t began_ns; /* start of the running turn (CLOCK_MONOTONIC); 0: none is running */
	uint64_t total_ns; /* of all turns */
	uint64_t worst_ns;
	/* The worst time of any turn, without the time in which it waited for a CPU. */
	uint64_t worst_own_ns;
	char worst_work[LOOP_WORK_SIZE]; /* what the worst turn was for */
	/* [n]: turns that took less than 2^n us, but at least half of that. */
	uint64_t histogram[LOOP_BUCKETS];
};

/* For the writer; the memory is zero. Returns NULL and sets errno on failure. */
struct loop_figures *loop_create(const char *run_dir);
void loop_remove(struct loop_figures *figures, const char *run_dir);

/* Makes a copy. Returns 0, or -errno if there is no bondd or one of another version. */
int loop_read(const char *run_dir, struct loop_figures *ret_figures);

#endif
