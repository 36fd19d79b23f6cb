/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Maps of an older ABI become those of this build's, step by step (migrate_steps.c). What a step
 * does not touch stays the same map, with all that is written into it meanwhile; what it touches
 * becomes a new map with a copy. A new directory, with this build's programs, takes the place of
 * the old one in one rename; then what is attached is brought up to it, as after any upgrade.
 */
#ifndef XBOND_DAEMON_DATAPLANE_MIGRATE_H
#define XBOND_DAEMON_DATAPLANE_MIGRATE_H

#include <stdint.h>

#include "common/err.h"

struct migrate;

/* From one ABI version to the next. May run twice, each time on what the maps hold then. */
struct migrate_step {
	uint32_t from;
	int (*run)(struct migrate *migrate, struct err *err);
};

/* Ends with one that does nothing. */
extern const struct migrate_step migrate_steps[];

/*
 * For steps. The value of a map (by its pin) at index, to be read or written: the map becomes a new
 * one. Of a per-CPU map the CPUs' copies follow each other. NULL: no such map, or no such index.
 */
void *migrate_value(struct migrate *migrate, const char *pin, uint32_t index);
/* Other sizes; what is new is zero. 0, -ENOENT or -ENOMEM. */
int migrate_resize(struct migrate *migrate, const char *pin, uint32_t value_size,
		   uint32_t max_entries);

/*
 * Before a bond is opened: 0 when it has this build's ABI, or has it now. -EPROTO and a line in
 * err: it has another, from which no steps lead to ours, and nothing was touched.
 */
int migrate(const char *bpf_dir, const char *name, struct err *err);

#endif
