/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * XDP of a bond: on slaves for receiving (rx_hook), at the port side for frames that other XDP
 * programs send (xdp_tx). The TC programs stay in place and take what XDP lets pass.
 */
#ifndef XBOND_DAEMON_SLAVE_XDP_HOOKS_H
#define XBOND_DAEMON_SLAVE_XDP_HOOKS_H

#include "daemon/bond/bond.h"

/*
 * Gives a member what rx_hook asks for: attaches or detaches, whatever that costs
 * (rx_turn_steps.c). If it is refused, TC is used, and ret_why, which may be NULL, has the reason.
 * The log says so, unless rx_hook is auto and the driver has refused. -EMSGSIZE: refused at this
 * MTU. -EALREADY: the driver has refused before; it is not asked again until xdp_ask_again().
 */
int xdp_settle_slave(struct bond *bond, unsigned int slot, struct err *ret_why);
/* Returns true if it had been refused. */
bool xdp_ask_again(struct bond *bond, unsigned int slot);
/* Would xdp_settle_slave() neither attach nor detach? */
bool xdp_is_settled(struct bond *bond, unsigned int slot);
/*
 * Is it certain that its driver does not reset for xdp_settle_slave()? True for a veth, and for a
 * driver that is known to have no XDP.
 */
bool xdp_is_gentle(struct bond *bond, unsigned int slot);
/* Uses TC until xdp_ask_again(), for an MTU that the driver may refuse with XDP. */
void xdp_yield(struct bond *bond, unsigned int slot);
/*
 * xdp_tx: attaches to the port side, or detaches. The programs choose only when bond_evaluate()
 * says so.
 */
int xdp_settle_tx(struct bond *bond, struct err *err);

/*
 * What XDP needs of a NIC apart from the program, and what a driver changes for XDP. Recorded in
 * the slave's entry before the change. Called by xdp_hooks.c; not for veths.
 */

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

/* As last seen while slaves receive by XDP: in the state of xdp_part. */
struct xdp_gro {
	bool lost;
	bool deaf; /* the port side took no frames */
};

/* Turns it on and records that it was off. */
int xdp_gro_want(struct bond *bond, struct err *err);
/* Somebody may have turned it off. */
void xdp_gro_keep(struct bond *bond);
/* Restores it when the last slave that needs it has gone. */
void xdp_gro_restore(struct bond *bond);

/*
 * Replaces XDP programs that another build has attached by those of this build, in their links or
 * in libxdp's dispatcher. A program directly replaces a program, so no driver resets its NIC.
 */

/*
 * Called at adoption; xdp_upgrade_tx() also when a policy has come or gone. If this build's program
 * cannot be attached, the other one stays, and the log says so.
 */
void xdp_upgrade_slave(struct bond *bond, unsigned int slot);
void xdp_upgrade_tx(struct bond *bond);

#endif
