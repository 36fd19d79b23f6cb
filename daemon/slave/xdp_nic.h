/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What XDP needs of a NIC beside the program, and what a driver changes for it: recorded in the
 * slave's entry before it is changed. Called by xdp_hooks.c; not for veths.
 */
#ifndef XBOND_DAEMON_SLAVE_XDP_NIC_H
#define XBOND_DAEMON_SLAVE_XDP_NIC_H

#include "daemon/bond/bond.h"

/*
 * Changes nothing: what makes XDP impossible there, as far as that can be known. 0, or -EOPNOTSUPP
 * and why.
 */
int xdp_nic_check(struct bond *bond, const struct xbond_slave *slave, struct err *err);
/*
 * What the refusal r of a driver means: -EMSGSIZE, that the MTU is too large for it; or r, and err
 * as it was.
 */
int xdp_nic_explain(struct bond *bond, const struct xbond_slave *slave, int r, struct err *err);
/*
 * A tag that the NIC takes off would be lost: its stripping is turned off if it is on, which resets
 * some NICs.
 */
int xdp_nic_keep_tags(struct bond *bond, struct xbond_slave *slave, struct err *err);
/* After the program is off. */
void xdp_nic_restore(struct bond *bond, unsigned int slot);

#endif
