/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slaves change their receive hook in turns, because many NICs reset for XDP, which costs their
 * carrier for seconds. A slave that carries traffic first hands over its flows (in 802.3ad behind
 * markers), and its LACP partner is told. Then its hook is changed. When it works again, it is the
 * next one's turn. A slave that needs none of this changes at once.
 */
#ifndef XBOND_DAEMON_SLAVE_RX_TURN_STEPS_H
#define XBOND_DAEMON_SLAVE_RX_TURN_STEPS_H

#include "daemon/bond/bond.h"

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
