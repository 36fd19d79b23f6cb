/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/slave/rx_place.h"

#include <string.h>

#include "daemon/base/crashpoint.h"
#include "daemon/bond/daemon.h"
#include "daemon/dataplane/attach.h"
#include "daemon/slave/slave_rx.h"

/* The places where it can be. */
enum rx_place { PLACE_TCX_LAST, PLACE_TCX_FIRST, PLACE_CLSACT_LAST, PLACE_CLSACT_FIRST };

static bool rx_place_is_tcx(struct bond *bond)
{
	return bond_pin(bond)->hook == XBOND_HOOK_TCX;
}

static bool rx_place_has_trouble(struct bond *bond, unsigned int slot, uint32_t trouble)
{
	return bond_slave(bond, slot)->trouble & trouble;
}

static struct attach_point rx_place_point(struct bond *bond, unsigned int slot,
					  unsigned int priority)
{
	struct attach_point point = slave_rx_point(bond, slot, XBOND_HOOK_CLSACT);

	point.priority = priority;
	return point;
}

static void rx_place_look_at_filters(struct bond *bond, unsigned int slot)
{
	struct hooks *hooks = &bond->members[slot].hooks;
	struct filters_others others;

	if (attach_look_for_filters(&bond->daemon->nl, (int)bond_slave(bond, slot)->ifindex,
				    &others))
		return;
	hooks->filters = others.any;
	hooks->shared = others.shared;
}

static void rx_place_look_at_tcx(struct bond *bond, unsigned int slot)
{
	struct attach_point point = slave_rx_point(bond, slot, XBOND_HOOK_TCX);
	struct hooks *hooks = &bond->members[slot].hooks;
	struct tcx_order order = tcx_look(&point);

	hooks->changed |= hooks->known && order.others != hooks->tcx_others;
	hooks->tcx_others = order.others;
	hooks->tcx_before = order.before;
	hooks->tcx_after = order.after;
	hooks->in_tcx = order.is_there;
}

static enum rx_place rx_place_wanted(struct bond *bond, unsigned int slot)
{
	const struct hooks *hooks = &bond->members[slot].hooks;
	const struct xbond_slave *slave = bond_slave(bond, slot);
	bool own_clsact = slave->clsact && !(slave->before.flags & XBOND_SLAVE_HAD_CLSACT);

	if (rx_place_has_trouble(bond, slot, XBOND_TROUBLE_ENDING) || bond_is_team(bond_pin(bond)))
		return rx_place_is_tcx(bond) ? PLACE_TCX_FIRST : PLACE_CLSACT_FIRST;
	if (!rx_place_is_tcx(bond) || (hooks->filters && !hooks->shared))
		return PLACE_CLSACT_LAST;
	/* Making or removing a qdisc loses packets that the slave is sending at that moment. */
	return own_clsact || (slave->clsact && !bond_pin(bond)->rx_backlog) ? PLACE_CLSACT_LAST
									    : PLACE_TCX_LAST;
}

void rx_place_choose(struct bond *bond, unsigned int slot)
{
	rx_place_look_at_filters(bond, slot);
	rx_place_look_at_tcx(bond, slot);
	bond->members[slot].hooks.changed = false;
	bond_slave(bond, slot)->clsact =
		rx_place_is_tcx(bond) && rx_place_wanted(bond, slot) == PLACE_CLSACT_LAST;
}

static bool rx_place_has_filter(struct bond *bond, unsigned int slot, unsigned int priority)
{
	return attach_has_rx_filter((int)bond_slave(bond, slot)->ifindex, priority);
}

static void rx_place_drop_filter(struct bond *bond, unsigned int slot, unsigned int priority)
{
	struct attach_point point = rx_place_point(bond, slot, priority);

	if (!rx_place_has_filter(bond, slot, priority))
		return;
	dataplane_quiesce(); /* a packet that is past the new rx_place needs the old one */
	attach_remove(&bond->daemon->nl, &point, true);
}

static const unsigned int rx_place_priorities[] = {
	ATTACH_FIRST_PRIORITY,
	ATTACH_FILTER_PRIORITY,
	ATTACH_LAST_PRIORITY,
};

static void rx_place_drop_filters(struct bond *bond, unsigned int slot, unsigned int but)
{
	for (size_t i = 0; i < sizeof(rx_place_priorities) / sizeof(rx_place_priorities[0]); i++)
		if (rx_place_priorities[i] != but)
			rx_place_drop_filter(bond, slot, rx_place_priorities[i]);
}

/*
 * If bondd dies before the filter is there, the next one finds the link and starts again. After
 * that, it removes the link.
 */
static int rx_place_put_filter(struct bond *bond, unsigned int slot, unsigned int priority,
			       struct err *err)
{
	struct attach_point point = rx_place_point(bond, slot, priority);
	struct xbond_slave *slave = bond_slave(bond, slot);
	bool was_clsact = slave_rx_hook(bond, slot) == XBOND_HOOK_CLSACT;
	int r;

	if (was_clsact && rx_place_has_filter(bond, slot, priority))
		return 0;
	slave_rx_record_clsact(bond, slot);
	r = attach_add(&point, bond->dataplane.rx_fd, err);
	if (r)
		return r;
	crashpoint("hooks-filter");
	bond->members[slot].hooks.moved = true;
	if (rx_place_is_tcx(bond))
		slave->clsact = 1;
	return 0;
}

static int rx_place_put_clsact(struct bond *bond, unsigned int slot, unsigned int priority,
			       struct err *err)
{
	struct attach_point tcx = slave_rx_point(bond, slot, XBOND_HOOK_TCX);
	int r = rx_place_put_filter(bond, slot, priority, err);

	if (r)
		return r;
	crashpoint("hooks-moved");
	if (rx_place_is_tcx(bond))
		r = attach_remove(&bond->daemon->nl, &tcx, true);
	if (r)
		return err_set(err, -r, "its TCX link cannot be detached: %s", strerror(-r));
	if (bond->members[slot].hooks.moved || !bond->members[slot].hooks.known)
		rx_place_drop_filters(bond, slot, priority);
	return 0;
}

int rx_place_to_clsact(struct bond *bond, unsigned int slot, struct err *err)
{
	return rx_place_put_clsact(bond, slot, ATTACH_LAST_PRIORITY, err);
}

static int rx_place_put_tcx(struct bond *bond, unsigned int slot, enum tcx_end end, struct err *err)
{
	struct attach_point point = slave_rx_point(bond, slot, XBOND_HOOK_TCX);
	struct hooks *hooks = &bond->members[slot].hooks;
	struct xbond_slave *slave = bond_slave(bond, slot);
	bool in_place = hooks->in_tcx && !(end == TCX_LAST ? hooks->tcx_after : hooks->tcx_before);
	int r = 0;

	if (!in_place && (hooks->in_tcx || slave->clsact)) {
		r = tcx_move(&point, bond->dataplane.rx_fd, end, err);
		hooks->moved |= !r;
	}
	if (r || !slave->clsact)
		return r;
	crashpoint("hooks-back");
	slave_rx_drop_backlog_skip(bond, slot);
	slave->clsact = 0;
	rx_place_drop_filters(bond, slot, 0);
	return 0;
}

static int rx_place_put(struct bond *bond, unsigned int slot, enum rx_place place, struct err *err)
{
	switch (place) {
	case PLACE_TCX_LAST: return rx_place_put_tcx(bond, slot, TCX_LAST, err);
	case PLACE_TCX_FIRST: return rx_place_put_tcx(bond, slot, TCX_FIRST, err);
	case PLACE_CLSACT_LAST: return rx_place_put_clsact(bond, slot, ATTACH_LAST_PRIORITY, err);
	case PLACE_CLSACT_FIRST: return rx_place_put_clsact(bond, slot, ATTACH_FIRST_PRIORITY, err);
	}
	return 0;
}

int rx_place_follow(struct bond *bond, unsigned int slot, struct err *err)
{
	/* Somebody has written a hook that does not exist into the pins: nothing is moved. */
	if (!rx_place_is_tcx(bond) && bond_pin(bond)->hook != XBOND_HOOK_CLSACT)
		return 0;
	return rx_place_put(bond, slot, rx_place_wanted(bond, slot), err);
}

void rx_place_look(struct bond *bond, unsigned int slot, bool all)
{
	if (all || !bond->members[slot].hooks.known)
		rx_place_look_at_filters(bond, slot);
	rx_place_look_at_tcx(bond, slot);
}

bool rx_place_has_others(struct bond *bond, unsigned int slot)
{
	const struct hooks *hooks = &bond->members[slot].hooks;

	return hooks->filters || hooks->tcx_before || hooks->tcx_after;
}

bool rx_place_forbids_backlog_skip(struct bond *bond, unsigned int slot)
{
	return bond->members[slot].hooks.filters ||
	       rx_place_has_trouble(bond, slot, XBOND_TROUBLE_ENDING);
}

bool rx_place_is_attached(struct bond *bond, unsigned int slot)
{
	return slave_rx_hook(bond, slot) == XBOND_HOOK_CLSACT
		       ? rx_place_has_filter(bond, slot, ATTACH_LAST_PRIORITY)
		       : bond->members[slot].hooks.in_tcx;
}

/*
 * The filter of an earlier build is in front of others. It is removed when there is one in the
 * right place.
 */
static void rx_place_replace_earlier(struct bond *bond, unsigned int slot)
{
	struct attach_point point = slave_rx_point(bond, slot, XBOND_HOOK_CLSACT);

	if (rx_place_has_filter(bond, slot, ATTACH_FILTER_PRIORITY) &&
	    !attach_add(&point, bond->dataplane.rx_fd, NULL))
		rx_place_drop_filters(bond, slot, point.priority);
}

void rx_place_tidy(struct bond *bond, unsigned int slot)
{
	struct attach_point tcx = slave_rx_point(bond, slot, XBOND_HOOK_TCX);

	tcx_tidy(&tcx, bond->dataplane.rx_fd);
	if (slave_rx_hook(bond, slot) == XBOND_HOOK_CLSACT)
		rx_place_replace_earlier(bond, slot);
	else
		rx_place_drop_filters(bond, slot, 0);
}

/* Everywhere where it may be, also if bondd died while it was moved. */
int rx_place_remove(struct bond *bond, unsigned int slot)
{
	struct attach_point tcx = slave_rx_point(bond, slot, XBOND_HOOK_TCX);
	int r = tcx_tidy(&tcx, bond->dataplane.rx_fd);

	if (!r)
		r = attach_remove(&bond->daemon->nl, &tcx, true);
	for (size_t i = 0; i < sizeof(rx_place_priorities) / sizeof(rx_place_priorities[0]) && !r;
	     i++) {
		struct attach_point point = rx_place_point(bond, slot, rx_place_priorities[i]);

		r = attach_remove(&bond->daemon->nl, &point, true);
	}
	return r;
}
