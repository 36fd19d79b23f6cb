/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slaves go over to another receive hook in turns: many NICs reset for XDP, which costs their
 * carrier for seconds. One that carries traffic leaves first: its flows are handed over (in 802.3ad
 * behind markers), its LACP partner is told; then the hook is changed, and the next has its turn
 * when this one works again. What changes without that is done at once.
 */
#ifndef XBOND_DAEMON_SLAVE_RX_TURN_STEPS_H
#define XBOND_DAEMON_SLAVE_RX_TURN_STEPS_H

#include "daemon/bond/bond.h"

/*
 * Every member gets what rx_hook asks for. What needs no turns is done when this returns; ret_why,
 * which may be NULL, is of the first that was refused until then. 0, or that refusal.
 */
int rx_turn_start(struct bond *bond, struct err *ret_why);
/*
 * The same for one, also while it becomes a member; while the bond is adopted, rx_turn_start() is
 * still to come.
 */
void rx_turn_ask(struct bond *bond, unsigned int slot);
/*
 * The same for those whose driver was asked before and refused: what it did not like may have
 * changed.
 */
void rx_turn_ask_again(struct bond *bond);
/* Goes on; called twice a second. */
void rx_turn_step(struct bond *bond);

#endif
