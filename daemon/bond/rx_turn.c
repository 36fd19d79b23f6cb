/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/bond/rx_turn.h"

#include "common/slots.h"
#include "daemon/bond/bond.h"

uint64_t rx_turn_drained(const struct bond *bond)
{
	const struct rx_turn *turn = &bond->rx_turn;

	return turn->step == RX_TURN_DRAINING || turn->step == RX_TURN_LEAVING
		       ? slots_bit(turn->slot)
		       : 0;
}

uint64_t rx_turn_out(const struct bond *bond)
{
	return bond->rx_turn.step == RX_TURN_LEAVING ? slots_bit(bond->rx_turn.slot) : 0;
}

bool rx_turn_has_reset(const struct bond *bond, unsigned int slot)
{
	return bond->rx_turn.reset & slots_bit(slot);
}
