/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Maps of an older ABI become those of this build's, step by step (migrate_steps.c). What a step
 * does not touch stays the same map, with all that is written into it meanwhile; what it touches
 * becomes a new map with a copy. A new directory, with this build's programs, takes the place of
 * the old one in one rename; then what is attached is brought up to it, as after any upgrade.
 */
#ifndef XBOND_DAEMON_DATAPLANE_MIGRATE_H
#define XBOND_DAEMON_DATAPLANE_MIGRATE_H

#include "common/err.h"

/*
 * Before a bond is opened: 0 when it has this build's ABI, or has it now. -EPROTO and a line in
 * err: it has another, from which no steps lead to ours, and nothing was touched.
 */
int migrate(const char *bpf_dir, const char *name, struct err *err);

#endif
