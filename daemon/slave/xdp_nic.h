/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What XDP needs of a NIC apart from the program, and what a driver changes for XDP. Recorded in
 * the slave's entry before the change. Called by xdp_hooks.c; not for veths.
 */
#ifndef XBOND_DAEMON_SLAVE_XDP_NIC_H
#define XBOND_DAEMON_SLAVE_XDP_NIC_H

#include "daemon/bond/bond.h"

/*
 * Finds out what makes XDP impossible there, as far as that can be known; changes nothing. Returns
 * 0, or -EOPNOTSUPP with the reason.
 */
int xdp_nic_check(struct bond *bond, const struct xbond_slave *slave, struct err *err);
/*
 * What the refusal r of a driver means: -EMSGSIZE if the MTU is too large for it, otherwise r, with
 * err unchanged.
 */
int xdp_nic_explain(struct bond *bond, const struct xbond_slave *slave, int r, struct err *err);
/*
 * A tag that the NIC strips would be lost. Its stripping is turned off if it is on, which resets
 * some NICs.
 */
int xdp_nic_keep_tags(struct bond *bond, struct xbond_slave *slave, struct err *err);
/* Called after the program is detached. */
void xdp_nic_restore(struct bond *bond, unsigned int slot);

/*
 * bond0's generic receive offload (GRO), which it needs while slaves receive by XDP: a veth without
 * GRO takes no frames.
 */

/* Turns it on and records that it was off. */
int xdp_gro_want(struct bond *bond, struct err *err);
/* Somebody may have turned it off. */
void xdp_gro_keep(struct bond *bond);
/* Restores it when the last slave that needs it has gone. */
void xdp_gro_restore(struct bond *bond);

#endif
