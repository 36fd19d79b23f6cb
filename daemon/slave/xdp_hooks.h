/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * XDP of a bond: on slaves for receiving (rx_hook), on the port side for what other XDP
 * programs send (xdp_tx). The TC programs stay where they are and take what XDP lets pass.
 */
#ifndef XBOND_DAEMON_SLAVE_XDP_HOOKS_H
#define XBOND_DAEMON_SLAVE_XDP_HOOKS_H

#include "daemon/bond/bond.h"

/*
 * What rx_hook asks for on a member: attaches or detaches, whatever that costs (rx_turn.h). A
 * refusal leaves TC, is told in the log if XDP was asked for by name, and in ret_why, which may be
 * NULL: -EMSGSIZE, at this MTU. The driver is not asked again, -EALREADY, until xdp_ask_again().
 */
int xdp_follow_slave(struct bond *bond, unsigned int slot, struct err *ret_why);
/* True: it had been refused. */
bool xdp_ask_again(struct bond *bond, unsigned int slot);
/* xdp_follow_slave() would neither attach nor detach. */
bool xdp_is_settled(struct bond *bond, unsigned int slot);
/*
 * Its driver does not reset for what xdp_follow_slave() would do: a veth, or one that is known to
 * have no XDP.
 */
bool xdp_is_gentle(struct bond *bond, unsigned int slot);
/* TC until xdp_ask_again(), for an MTU that the driver may not take with XDP. */
void xdp_yield(struct bond *bond, unsigned int slot);
/*
 * If somebody has taken the program off, the slave receives by TC until xdp_follow_slave() is
 * called.
 */
void xdp_check_slave(struct bond *bond, unsigned int slot);
/* Takes it off again and restores what it needed. The device may be gone. */
void xdp_release_slave(struct bond *bond, unsigned int slot);
/*
 * Of one that was moved to another namespace; xdp_release_slave() does the rest. True: an empty
 * dispatcher is attached there, to be taken off.
 */
bool xdp_release_moved(struct bond *bond, unsigned int slot);
/*
 * xdp_tx: attaches to the port side, or detaches. The programs choose only once bond_evaluate()
 * says so.
 */
int xdp_follow_tx(struct bond *bond, struct err *err);
/*
 * If somebody has detached it: attaches it again. Until then what it would have taken goes by TC.
 */
void xdp_check_tx(struct bond *bond);

#endif
