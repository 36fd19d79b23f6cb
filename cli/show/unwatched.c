/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shows a copy of the maps, in which the slaves without carrier are down, as bondd would write it.
 * What bondd has written of other slaves stays: the programs do not use one whose link is back
 * before bondd is.
 */
#include "cli/show/unwatched.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/successor.h"
#include "cli/base/carrier_look.h"
#include "common/memory.h"
#include "common/mode.h"
#include "common/slots.h"
#include "options/values.h"
#include "view/view_bond.h"

#define SINCE_UNKNOWN UINT64_MAX /* shown as 0 ms */

struct unwatched {
	struct pins pins; /* with the copies below */
	struct xbond_table table;
	struct xbond_bond bond;
	struct xbond_slave slaves[XBOND_MAX_SLAVES];
	struct xbond_verdict monitors[XBOND_MAX_SLAVES];
};

/* Slots of slaves that bondd has left as up. */
static uint64_t unwatched_lost(const struct pins *pins)
{
	int fd = carrier_look_open(pins);
	uint64_t up, lost = 0;

	if (fd < 0)
		return 0;
	carrier_look(fd, pins, &up, &lost);
	close(fd);
	for (unsigned int slot = 0; lost && slot < XBOND_MAX_SLAVES; slot++)
		if (!pins_is_member(pins, slot) || pins->slaves[slot].link == XBOND_LINK_DOWN)
			lost &= ~slots_bit(slot);
	return lost;
}

static struct unwatched *unwatched_copy(const struct pins *pins)
{
	struct unwatched *copy = memory_need(malloc(sizeof(*copy)));

	copy->pins = *pins;
	copy->table = *pins->table;
	copy->bond = *pins->bond;
	memcpy(copy->slaves, pins->slaves, sizeof(copy->slaves));
	copy->pins.table = &copy->table;
	copy->pins.bond = &copy->bond;
	copy->pins.slaves = copy->slaves;
	if (pins->monitors) {
		memcpy(copy->monitors, pins->monitors, sizeof(copy->monitors));
		copy->pins.monitors = copy->monitors;
	}
	return copy;
}

static void unwatched_take_down(struct unwatched *copy, unsigned int slot)
{
	struct xbond_verdict *verdict = &copy->monitors[slot];
	uint32_t carrier = 1u << XBOND_MONITOR_CARRIER;

	copy->slaves[slot].link = XBOND_LINK_DOWN;
	verdict->spoken |= carrier;
	verdict->works &= ~carrier;
	verdict->since_ns[XBOND_MONITOR_CARRIER] = SINCE_UNKNOWN;
}

/* Who sends instead of the active slave, as the programs choose. */
static void unwatched_succeed(struct unwatched *copy)
{
	const struct pins *pins = &copy->pins;
	uint64_t mask = values_undrained(pins, copy->table.tx_mask);
	bool is_tlb = copy->table.flags & XBOND_F_TLB && pins->alb;

	if (mode_has(copy->bond.mode, MODE_ACTIVE) && !slots_have(mask, copy->bond.active_slot))
		copy->bond.active_slot = successor_of(
			is_tlb ? pins->alb->order : pins->buckets->bucket[copy->table.active & 1],
			mask);
}

json_t *unwatched_view(const struct pins *pins, const char *name, const struct loop_figures *loop)
{
	uint64_t lost = unwatched_lost(pins);
	struct unwatched *copy = lost ? unwatched_copy(pins) : NULL;
	json_t *view;

	if (!copy)
		return view_bond(pins, name, false, loop);
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		if (slots_have(lost, slot))
			unwatched_take_down(copy, slot);
	copy->table.tx_mask &= ~lost;
	if (!copy->table.tx_mask) /* as select_live() does */
		copy->table.tx_mask = copy->table.failed & ~lost;
	if (!copy->table.tx_mask)
		copy->bond.carrier = 0;
	unwatched_succeed(copy);
	view = view_bond(&copy->pins, name, false, loop);
	free(copy);
	return view;
}
