/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The receive program of a slave: where it is attached, and how. rx_place.c has its place among
 * programs of others.
 */
#ifndef XBOND_DAEMON_SLAVE_SLAVE_RX_H
#define XBOND_DAEMON_SLAVE_SLAVE_RX_H

#include "daemon/bond/bond.h"
#include "daemon/dataplane/attach.h"

/* How the receive program of the slot is attached. */
enum xbond_hook slave_rx_hook(struct bond *bond, unsigned int slot);
/* Its attach point with this hook. */
struct attach_point slave_rx_point(struct bond *bond, unsigned int slot, enum xbond_hook hook);
/* Its attach point. */
struct attach_point slave_rx_now(struct bond *bond, unsigned int slot);
/*
 * Called before a filter is put there, which makes a clsact qdisc: records whether there already is
 * one.
 */
void slave_rx_record_clsact(struct bond *bond, unsigned int slot);
/* Is it there, and of this build? Puts it right. */
void slave_rx_check(struct bond *bond, unsigned int slot);

/*
 * The place of a slave's receive program among the filters and programs of others at its ingress:
 * the last of TCX, or the last clsact filter if there are others, because nothing behind it sees
 * what it takes. But it comes before all of them if one of them lets frames pass for good
 * (TC_ACT_OK), because the bond would lose these; XBOND_TROUBLE_ENDING is set then. Watches them,
 * moves the program without a gap, and reports what is passed by.
 */

/* Chooses the place before the receive program is attached for the first time. */
void rx_place_choose(struct bond *bond, unsigned int slot);
/* Removes it from everywhere where it may be. Returns 0 or -errno. */
int rx_place_remove(struct bond *bond, unsigned int slot);
/* Did others have anything at the slave's ingress when last seen? */
bool rx_place_has_others(struct bond *bond, unsigned int slot);
/* For a member that is adopted, before anything else: cleans up after a bondd that died. */
void rx_place_tidy(struct bond *bond, unsigned int slot);

/*
 * For a member: looks, moves, and goes on watching. all: also things that the kernel reports by
 * messages.
 */
void slave_hooks_settle(struct bond *bond, unsigned int slot, bool all);
/* A message reported filters of others on the slave; they are looked at when parts settle. */
void slave_hooks_note(struct bond *bond, unsigned int slot);

/*
 * Slaves change their receive hook in turns, because many NICs reset for XDP, which costs their
 * carrier for seconds. A slave that carries traffic first hands over its flows (in 802.3ad behind
 * markers), and its LACP partner is told. Then its hook is changed. When it works again, it is the
 * next one's turn. A slave that needs none of this changes at once.
 */

/*
 * Gives every member what rx_hook asks for. Slaves that need no turn are done when this returns.
 * ret_why, which may be NULL, has the reason of the first refusal until then. Returns 0 or that
 * refusal.
 */
int rx_turn_start(struct bond *bond, struct err *ret_why);
/*
 * The same for one slave, also while it becomes a member. While the bond is adopted,
 * rx_turn_start() is still to come.
 */
void rx_turn_ask(struct bond *bond, unsigned int slot);
/* The same for slaves whose driver has refused before: the reason may have gone. */
void rx_turn_ask_again(struct bond *bond);
/* Continues; called twice a second. */
void rx_turn_step(struct bond *bond);

/*
 * XDP of a bond: on slaves for receiving (rx_hook), at the port side for frames that other XDP
 * programs send (xdp_tx). The TC programs stay in place and take what XDP lets pass.
 */

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
/* The pin of the link of a slave's program. */
void xdp_slave_pin(char ret_path[PIN_PATH_SIZE], struct bond *bond, unsigned int slot);

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
