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
 * (rx_turn_steps.h). If it is refused, TC is used, and ret_why, which may be NULL, has the reason.
 * The log says so, unless rx_hook is auto and the driver has refused. -EMSGSIZE: refused at this
 * MTU. -EALREADY: the driver has refused before; it is not asked again until xdp_ask_again().
 */
int xdp_follow_slave(struct bond *bond, unsigned int slot, struct err *ret_why);
/* Returns true if it had been refused. */
bool xdp_ask_again(struct bond *bond, unsigned int slot);
/* Would xdp_follow_slave() neither attach nor detach? */
bool xdp_is_settled(struct bond *bond, unsigned int slot);
/*
 * Is it certain that its driver does not reset for xdp_follow_slave()? True for a veth, and for a
 * driver that is known to have no XDP.
 */
bool xdp_is_gentle(struct bond *bond, unsigned int slot);
/* Uses TC until xdp_ask_again(), for an MTU that the driver may refuse with XDP. */
void xdp_yield(struct bond *bond, unsigned int slot);
/*
 * Detaches it and restores what it needed. The device may be gone. Returns 0, or -errno if its link
 * goes on. libxdp's refusals are logged.
 */
int xdp_release_slave(struct bond *bond, unsigned int slot);
/*
 * xdp_tx: attaches to the port side, or detaches. The programs choose only when bond_evaluate()
 * says so.
 */
int xdp_follow_tx(struct bond *bond, struct err *err);

#endif
