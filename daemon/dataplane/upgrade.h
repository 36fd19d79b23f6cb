/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Upgrade: a bond that an earlier or later build has made gets the programs of this build, and the
 * maps that the other build did not have. This concerns only pins; attach_check.c and xdp_upgrade.c
 * replace the attached programs. migrate.c converts maps of another ABI.
 */
#ifndef XBOND_DAEMON_DATAPLANE_UPGRADE_H
#define XBOND_DAEMON_DATAPLANE_UPGRADE_H

#include "common/err.h"
#include "daemon/dataplane/dataplane.h"

/*
 * Called after dataplane_open_maps(). If a program of this build has another tag than the pinned
 * one, or none is pinned, the pin is replaced. A bond with a policy has other programs. If this
 * fails, the bond can go on with what it has.
 */
int upgrade_pins(struct dataplane *dataplane, struct err *err);
/* The same when the user has loaded (asks) or removed a policy. */
int upgrade_for_policy(struct dataplane *dataplane, bool asks, struct err *err);
/* As if no policy were loaded: the programs that ask one could not be attached. */
int upgrade_without_policy(struct dataplane *dataplane, struct err *err);
/* Whether the user has set what needs other programs, as `path direct`; and then these. */
bool upgrade_is_due(const struct dataplane *dataplane);
int upgrade_for_path(struct dataplane *dataplane, struct err *err);

/*
 * Migration: converts maps of an older ABI to those of this build, step by step.
 * A map that no step touches stays the same map, with everything that is written into it meanwhile.
 * A map that a step touches becomes a new map with a copy. A new directory with this build's
 * programs replaces the old one by one rename. Then the attached programs are replaced, as after
 * any upgrade.
 */

/*
 * Called before a bond is opened. Returns 0 if the bond has this build's ABI, or has it now.
 * -EPROTO with a line in err: it has another ABI, and no steps lead from it to ours; nothing was
 * changed.
 */
int migrate(const char *bpf_dir, const char *name, struct err *err);

#endif
