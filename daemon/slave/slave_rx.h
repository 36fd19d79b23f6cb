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

#endif
