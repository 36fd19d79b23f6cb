/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Migration: converts maps of an older ABI to those of this build, step by step.
 * A map that no step touches stays the same map, with everything that is written into it meanwhile.
 * A map that a step touches becomes a new map with a copy. A new directory with this build's
 * programs replaces the old one by one rename. Then the attached programs are replaced, as after
 * any upgrade.
 */
#ifndef XBOND_DAEMON_DATAPLANE_MIGRATE_H
#define XBOND_DAEMON_DATAPLANE_MIGRATE_H

#include "common/err.h"

/*
 * Called before a bond is opened. Returns 0 if the bond has this build's ABI, or has it now.
 * -EPROTO with a line in err: it has another ABI, and no steps lead from it to ours; nothing was
 * changed.
 */
int migrate(const char *bpf_dir, const char *name, struct err *err);

#endif
