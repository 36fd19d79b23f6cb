/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long bondd's main loop stood still: figures in a file of its run directory, mapped into
 * memory. bondd writes them, everybody may read them, also while it stands still.
 */
#ifndef XBOND_COMMON_LOOP_FIGURES_H
#define XBOND_COMMON_LOOP_FIGURES_H

#include <stdint.h>

#define LOOP_MAGIC 0x786c6f70 /* "xlop" */
#define LOOP_BUCKETS 28	      /* of powers of two of microseconds: the last has 67 s and more */
#define LOOP_WORK_SIZE 16

/*
 * A turn is the time in which the loop cannot answer to anything else. Writer: bondd's main loop.
 */
struct loop_figures {
	uint32_t magic;
	uint32_t size;
	uint64_t turns;
	uint64_t began_ns; /* of the turn that is under way (CLOCK_MONOTONIC); 0: none is */
	uint64_t worst_ns;
	/* Without the time in which it waited for a CPU; of whatever turn. */
	uint64_t worst_own_ns;
	char worst_work[LOOP_WORK_SIZE]; /* what the worst turn was for */
	/* [n]: turns of less than 2^n us and not less than half of that. */
	uint64_t histogram[LOOP_BUCKETS];
};

/* For who writes; memory is zero. NULL: errno. */
struct loop_figures *loop_create(const char *run_dir);
void loop_remove(struct loop_figures *figures, const char *run_dir);

/* A copy. 0 or -errno: there is no bondd, or one of another version. */
int loop_read(const char *run_dir, struct loop_figures *ret_figures);

#endif
