/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Upgrade: a bond that an earlier or later build has made gets the programs of this build, and the
 * maps that the other build did not have. This concerns only pins; attach_check.c and xdp_upgrade.c
 * replace the attached programs. migrate.c converts maps of another ABI.
 */
#ifndef XBOND_DAEMON_DATAPLANE_UPGRADE_H
#define XBOND_DAEMON_DATAPLANE_UPGRADE_H

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

#endif
