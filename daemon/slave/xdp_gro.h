/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bond0's generic receive offload (GRO), which it needs while slaves receive by XDP: a veth without
 * GRO takes no frames.
 */
#ifndef XBOND_DAEMON_SLAVE_XDP_GRO_H
#define XBOND_DAEMON_SLAVE_XDP_GRO_H

#include "daemon/bond/bond.h"

/* Turns it on and records that it was off. */
int xdp_gro_want(struct bond *bond, struct err *err);
/* Somebody may have turned it off. */
void xdp_gro_keep(struct bond *bond);
/* Restores it when the last slave that needs it has gone. */
void xdp_gro_restore(struct bond *bond);

#endif
