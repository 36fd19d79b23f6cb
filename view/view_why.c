/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Goes by the pinned maps, and asks the kernel only for what they do not have; in the order in
 * which bondd decides: the slave's link, LACP, the choice among the slaves that could be used, the
 * programs, the bond. The first reason is told.
 */
#include "view/view_why.h"

#include <net/if.h>
#include <stdio.h>

#include "common/mode.h"
#include "common/readings.h"
#include "common/slots.h"
#include "options/values.h"
#include "rules/link_state.h"
#include "view/json_value.h"
#include "view/view_bfd.h"
#include "view/view_lacp.h"
#include "view/view_quality.h"

#define WHY_SIZE 256
#define QUEUE_SIZE 80

/* The monitor's words, and how long the slave is still held down; "" if no monitor says no. */
static void view_why_monitor(const struct pins *pins, unsigned int slot, char text[WHY_SIZE])
{
	const struct xbond_verdict *verdict = pins->monitors ? &pins->monitors[slot] : NULL;
	uint32_t refusing =
		verdict ? verdict->spoken & ~verdict->works & ((1u << XBOND_MONITORS) - 1) : 0;
	enum xbond_monitor monitor;
	uint64_t left_ms;

	text[0] = '\0';
	if (!refusing)
		return;
	monitor = (enum xbond_monitor)__builtin_ctz(refusing);
	left_ms = view_quality_left_ms(pins, slot, monitor);
	if (left_ms)
		snprintf(text, WHY_SIZE, "%s; it is tried again in %llu s",
			 monitor_finding(monitor), (unsigned long long)((left_ms + 999) / 1000));
	else
		snprintf(text, WHY_SIZE, "%s", monitor_finding(monitor));
}

/* Who has taken the link; NULL if that is not known. */
static json_t *view_why_held(const struct xbond_slave *slave)
{
	char name[IF_NAMESIZE];

	if (slave->trouble & XBOND_TROUBLE_PROTODOWN)
		return json_sprintf("it is held down by protodown ('ip link set %s protodown off' "
				    "ends that)",
				    slave->name);
	if (slave->ifindex && if_indextoname(slave->ifindex, name) && set_down_is(name, slave->mac))
		return json_sprintf(
			"it is administratively down ('ip link set %s up' brings it up)", name);
	return NULL;
}

static json_t *view_why_link(const struct pins *pins, unsigned int slot)
{
	const struct xbond_bond *bond = pins->bond;
	char found[WHY_SIZE];
	json_t *held;

	view_why_monitor(pins, slot, found);
	switch ((enum xbond_link)pins->slaves[slot].link) {
	case XBOND_LINK_UP: return NULL;
	case XBOND_LINK_GOING_UP:
		return json_sprintf("its link works again, and updelay (%u ms) runs",
				    bond->updelay_ms);
	case XBOND_LINK_GOING_DOWN:
		return json_sprintf("%s; downdelay (%u ms) runs", found[0] ? found : "no carrier",
				    bond->downdelay_ms);
	case XBOND_LINK_DOWN: break;
	}
	held = view_why_held(&pins->slaves[slot]);
	if (held)
		return held;
	if (found[0])
		return json_string(found);
	return json_string(pins->monitors ? "no monitor has found its link working yet"
					  : "its link is down");
}

/* What it transmits nevertheless. */
static const char *view_why_queue(const struct pins *pins, unsigned int slot, char text[QUEUE_SIZE])
{
	text[0] = '\0';
	if (pins->slaves[slot].queue_id)
		snprintf(text, QUEUE_SIZE, "; it carries the packets of queue %u (queue_id)",
			 pins->slaves[slot].queue_id);
	return text;
}

static json_t *view_why_backup(const struct pins *pins, unsigned int slot)
{
	unsigned int active = values_active_slot(pins);
	char text[WHY_SIZE], queue[QUEUE_SIZE];

	if (pins->table->selection != XBOND_SELECT_ACTIVE || active == slot)
		return NULL;
	if (active >= XBOND_MAX_SLAVES)
		return json_string("backup: no slave is active");
	snprintf(text, sizeof(text), "backup: the active slave is %s%s", pins->slaves[active].name,
		 view_why_queue(pins, slot, queue));
	return json_value_text(text);
}

/* Of a slave whose link works. */
static json_t *view_why_left_out(const struct pins *pins, const struct lacp_system *lacp,
				 unsigned int slot)
{
	json_t *why = view_bfd_why(pins, slot);

	if (why)
		return why;
	return lacp ? view_lacp_why(pins, lacp, slot)
		    : json_string("bondd has taken it out of use for a moment");
}

static json_t *view_why_chosen(const struct pins *pins, const struct lacp_system *lacp,
			       unsigned int slot)
{
	uint64_t may = __atomic_load_n(&pins->table->tx_mask, __ATOMIC_RELAXED);
	char queue[QUEUE_SIZE];

	if (!slots_have(may, slot))
		return view_why_left_out(pins, lacp, slot);
	if (!slots_have(values_undrained(pins, may), slot))
		return json_sprintf("drained: it carries traffic only when no other slave can%s",
				    view_why_queue(pins, slot, queue));
	return view_why_backup(pins, slot);
}

/* Of a slave that would be in use. */
static json_t *view_why_bond(const struct pins *pins, unsigned int slot)
{
	const struct xbond_bond *bond = pins->bond;
	uint64_t may = __atomic_load_n(&pins->table->tx_mask, __ATOMIC_RELAXED);

	if (attached_slave(pins, slot) == ATTACHED_NOT)
		return json_string("it sends, but receives nothing: its receive program was taken "
				   "off");
	if (attached_pair(pins) == ATTACHED_NOT)
		return json_string("the bond's own programs were taken off");
	if (bond->carrier)
		return NULL;
	if (carrier_has_enough(may, bond->min_links))
		return json_string("the bond has no carrier");
	return json_sprintf("the bond has no carrier: of %u slaves that it needs (min_links) %u "
			    "can be used",
			    bond->min_links ? bond->min_links : 1, slots_count(may));
}

json_t *view_why(const struct pins *pins, const struct lacp_system *lacp, unsigned int slot)
{
	json_t *why = view_why_link(pins, slot);

	if (!why)
		why = view_why_chosen(pins, lacp, slot);
	if (!why)
		why = view_why_bond(pins, slot);
	return why ? why : json_null();
}
