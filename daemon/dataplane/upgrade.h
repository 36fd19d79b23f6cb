/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bond that an earlier or later build has made gets the programs of this one, and the maps that
 * build did not know. Pins only: what is attached is brought up to them by attach_check.c and
 * xdp_upgrade.c. Maps of another ABI: migrate.c.
 */
#ifndef XBOND_DAEMON_DATAPLANE_UPGRADE_H
#define XBOND_DAEMON_DATAPLANE_UPGRADE_H

#include "daemon/dataplane/dataplane.h"

/*
 * After dataplane_open_maps(). Where this build's program has another tag than the pinned one, or
 * none is pinned, its pin is replaced. On failure the bond can go on with what it has.
 */
int upgrade_pins(struct dataplane *dataplane, struct err *err);

#endif
