/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/base/aftermath.h"

#include "cli/base/carriers.h"
#include "common/clock.h"
#include "common/mode.h"
#include "common/slots.h"
#include "view/view_bond.h"

static uint64_t aftermath_linked(const struct pins *pins, uint64_t slots)
{
	uint64_t linked = 0;

	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (pins_is_member(pins, slot) && pins->slaves[slot].link == XBOND_LINK_UP)
			linked |= slots_bit(slot);
	return slots & linked;
}

/*
 * Slots whose partners have nothing left to agree to. Chosen ones begin before bondd shares out
 * the buckets, because the LACP thread comes first.
 */
static uint64_t aftermath_agreed(const struct lacp_system *system)
{
	uint8_t needed = LACP_SYNCHRONIZATION;
	uint64_t agreed = 0;

	if (!system->state.config.coupled)
		needed |= LACP_COLLECTING;
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (!(needed & ~system->port[slot].partner.state))
			agreed |= slots_bit(slot);
	return agreed;
}

/* And those that have failed while bondd is away, which LACP does not know. */
static uint64_t aftermath_leaving(const struct pins *pins, unsigned int failed)
{
	return slots_bit(failed) | ~carriers_live(pins, UINT64_MAX);
}

/* Returns the slots that may transmit then. */
static uint64_t aftermath_by_lacp(const struct pins *pins, unsigned int failed,
				  uint64_t *ret_unsure)
{
	struct lacp_prospect prospect;
	struct lacp_system system;
	uint64_t stay, come;

	view_lacp_read(pins, &system);
	prospect = lacp_prospect(&system, aftermath_leaving(pins, failed), clock_now_ns());
	stay = pins->table->tx_mask & (prospect.distributing | ~system.used);
	come = prospect.chosen & prospect.standby & aftermath_agreed(&system);
	come = aftermath_linked(pins, come | prospect.fallback);
	*ret_unsure = aftermath_linked(pins, prospect.chosen) & ~stay & ~come;
	return stay | come;
}

struct aftermath aftermath_of(const struct pins *pins, unsigned int failed)
{
	uint64_t others = pins->table->tx_mask & ~slots_bit(failed);
	struct aftermath after = { .at_once = carriers_live(pins, others) & ~slots_bit(failed) };

	after.settled = after.at_once;
	if (mode_has(pins->bond->mode, MODE_LACP)) {
		others = aftermath_by_lacp(pins, failed, &after.unsure);
		after.settled = others ? carriers_live(pins, others) & ~slots_bit(failed) : 0;
	}
	return after;
}
