/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "common/clock.h"
#include "daemon/base/crashpoint.h"
#include "daemon/base/event.h"
#include "daemon/bond/daemon.h"
#include "daemon/dataplane/attach.h"
#include "daemon/slave/slave.h"
#include "daemon/slave/slave_rx.h"

/* What others have at a slave's ingress, as last seen. */
struct hooks {
	bool filters, shared; /* there are clsact filters; they are in a block that devices share */
	bool in_tcx;	      /* our program is among the TCX ones */
	unsigned int tcx_before, tcx_after; /* ours */
	uint32_t tcx_others;
	bool known; /* the other fields have been filled in */
	bool changed;
	bool moved, refused;
	bool had_others;
	/* When a program that had to go first tries again, and how long it waits next time. */
	uint64_t retry_ns, wait_ns;
	struct stray_frames *strays; /* NULL: none */
};

static struct hooks *hooks_of(const struct bond *bond, unsigned int slot)
{
	return part_of_member(bond, &hooks_part, slot);
}

/* The places where it can be. */
enum rx_place { PLACE_TCX_LAST, PLACE_TCX_FIRST, PLACE_CLSACT_LAST, PLACE_CLSACT_FIRST };

static bool rx_place_is_tcx(struct bond *bond)
{
	return bond_pin(bond)->hook == XBOND_HOOK_TCX;
}

/* Our program comes first, because one of the others ends the way of frames. */
static bool rx_place_is_first(struct bond *bond, unsigned int slot)
{
	return bond_slave(bond, slot)->trouble & XBOND_TROUBLE_ENDING;
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
	struct hooks *hooks = hooks_of(bond, slot);
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
	struct hooks *hooks = hooks_of(bond, slot);
	struct tcx_order order = tcx_look(&point, bond->dataplane.rx_fd);

	hooks->changed |= hooks->known && order.others != hooks->tcx_others;
	hooks->tcx_others = order.others;
	hooks->tcx_before = order.before;
	hooks->tcx_after = order.after;
	hooks->in_tcx = order.is_there;
}

static enum rx_place rx_place_wanted(struct bond *bond, unsigned int slot)
{
	const struct hooks *hooks = hooks_of(bond, slot);
	const struct xbond_slave *slave = bond_slave(bond, slot);
	bool own_clsact = slave->clsact && !(slave->before.flags & XBOND_SLAVE_HAD_CLSACT);

	if (rx_place_is_first(bond, slot) || bond_is_team(bond_pin(bond)))
		return rx_place_is_tcx(bond) ? PLACE_TCX_FIRST : PLACE_CLSACT_FIRST;
	if (!rx_place_is_tcx(bond) || (hooks->filters && !hooks->shared))
		return PLACE_CLSACT_LAST;
	/* Making or removing a qdisc loses packets that the slave is sending at that moment. */
	return own_clsact ? PLACE_CLSACT_LAST : PLACE_TCX_LAST;
}

void rx_place_choose(struct bond *bond, unsigned int slot)
{
	rx_place_look_at_filters(bond, slot);
	rx_place_look_at_tcx(bond, slot);
	hooks_of(bond, slot)->changed = false;
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
	attach_remove(&point);
}

static const unsigned int rx_place_priorities[] = {
	ATTACH_FIRST_PRIORITY,
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
	hooks_of(bond, slot)->moved = true;
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
		r = attach_remove(&tcx);
	if (r)
		return err_set(err, -r, "its TCX link cannot be detached: %s", strerror(-r));
	if (hooks_of(bond, slot)->moved || !hooks_of(bond, slot)->known)
		rx_place_drop_filters(bond, slot, priority);
	return 0;
}

static int rx_place_put_tcx(struct bond *bond, unsigned int slot, enum tcx_end end, struct err *err)
{
	struct attach_point point = slave_rx_point(bond, slot, XBOND_HOOK_TCX);
	struct hooks *hooks = hooks_of(bond, slot);
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

/* Call it after rx_place_look(): moves the program to its right place. */
static int rx_place_settle(struct bond *bond, unsigned int slot, struct err *err)
{
	/* Somebody has written a hook that does not exist into the pins: nothing is moved. */
	if (!rx_place_is_tcx(bond) && bond_pin(bond)->hook != XBOND_HOOK_CLSACT)
		return 0;
	return rx_place_put(bond, slot, rx_place_wanted(bond, slot), err);
}

/*
 * Reads what others have there into member.hooks. all: also things that the kernel reports by
 * messages.
 */
static void rx_place_look(struct bond *bond, unsigned int slot, bool all)
{
	if (all || !hooks_of(bond, slot)->known)
		rx_place_look_at_filters(bond, slot);
	rx_place_look_at_tcx(bond, slot);
}

bool rx_place_has_others(struct bond *bond, unsigned int slot)
{
	const struct hooks *hooks = hooks_of(bond, slot);

	return hooks->filters || hooks->tcx_before || hooks->tcx_after;
}

/* By what was last seen; the filter as it is now. */
static bool rx_place_is_attached(struct bond *bond, unsigned int slot)
{
	return slave_rx_hook(bond, slot) == XBOND_HOOK_CLSACT
		       ? rx_place_has_filter(bond, slot, ATTACH_LAST_PRIORITY)
		       : hooks_of(bond, slot)->in_tcx;
}

void rx_place_tidy(struct bond *bond, unsigned int slot)
{
	struct attach_point tcx = slave_rx_point(bond, slot, XBOND_HOOK_TCX);

	tcx_tidy(&tcx, bond->dataplane.rx_fd);
	if (slave_rx_hook(bond, slot) != XBOND_HOOK_CLSACT)
		rx_place_drop_filters(bond, slot, 0);
}

/* Everywhere where it may be, also if bondd died while it was moved. */
int rx_place_remove(struct bond *bond, unsigned int slot)
{
	struct attach_point tcx = slave_rx_point(bond, slot, XBOND_HOOK_TCX);
	int r = tcx_tidy(&tcx, bond->dataplane.rx_fd);

	if (!r)
		r = attach_remove(&tcx);
	for (size_t i = 0; i < sizeof(rx_place_priorities) / sizeof(rx_place_priorities[0]) && !r;
	     i++) {
		struct attach_point point = rx_place_point(bond, slot, rx_place_priorities[i]);

		r = attach_remove(&point);
	}
	return r;
}

/* Somebody who changes filters all the time shall not cost frames each time. */
#define FIRST_WAIT_NS (10000 * NS_PER_MS)
#define LONGEST_WAIT_NS (3600000 * NS_PER_MS)

/* When others have changed their filters, it may be that none ends the way of frames any more. */
static void hooks_retry(struct bond *bond, unsigned int slot)
{
	struct hooks *hooks = hooks_of(bond, slot);
	struct xbond_slave *slave = bond_slave(bond, slot);

	if (!rx_place_has_others(bond, slot))
		hooks->wait_ns = 0;
	if (!(slave->trouble & XBOND_TROUBLE_ENDING) || !hooks->known)
		return;
	if (!rx_place_has_others(bond, slot))
		event_info(bond_pin(bond)->name, slave->name,
			   "slave %s no longer has filters of others", slave->name);
	else if (!hooks->changed || clock_now_ns() < hooks->retry_ns)
		return;
	hooks->changed = false;
	slave->trouble &= ~(uint32_t)XBOND_TROUBLE_ENDING;
}

static void hooks_move(struct bond *bond, unsigned int slot)
{
	struct hooks *hooks = hooks_of(bond, slot);
	struct err err;
	int r = rx_place_settle(bond, slot, &err);

	if (r && !hooks->refused)
		event_warning(bond_pin(bond)->name, bond_slave(bond, slot)->name,
			      "%s takes its frames before filters of others see them: %s",
			      bond_slave(bond, slot)->name, err.text);
	hooks->refused = r;
}

/* XDP always comes first; the other kinds cannot be followed. */
static const char *hooks_why_unmet(struct bond *bond, unsigned int slot)
{
	const struct hooks *hooks = hooks_of(bond, slot);

	if (!rx_place_has_others(bond, slot) || rx_place_is_first(bond, slot))
		return NULL;
	if (bond_slave(bond, slot)->rx_hook == XBOND_RX_XDP)
		return "it receives through XDP; 'rx_hook tc' or auto respects them";
	if (hooks->shared && bond_pin(bond)->hook == XBOND_HOOK_TCX)
		return "they are in a shared block";
	return hooks->refused ? "xbond's cannot run after them" : NULL;
}

static void hooks_tell_unmet(struct bond *bond, unsigned int slot)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	const char *why = hooks_why_unmet(bond, slot);

	if (!why == !(slave->trouble & XBOND_TROUBLE_UNMET))
		return;
	slave->trouble ^= XBOND_TROUBLE_UNMET;
	if (why)
		event_warning(bond_pin(bond)->name, slave->name,
			      "filters on the ingress of slave %s do not see what the bond "
			      "receives: %s",
			      slave->name, why);
	else
		event_info(bond_pin(bond)->name, slave->name,
			   "no filter on slave %s is bypassed now", slave->name);
}

static void slave_hooks_end(struct bond *bond, unsigned int slot);
static void hooks_on_frame(struct bond *bond, unsigned int slot);

static void hooks_settle_strays(struct bond *bond, unsigned int slot)
{
	struct stray_frames **strays = &hooks_of(bond, slot)->strays;
	bool wanted = rx_place_has_others(bond, slot) && !rx_place_is_first(bond, slot);

	if (wanted && !*strays)
		*strays =
			stray_frames_new(bond->daemon->event, (int)bond_slave(bond, slot)->ifindex,
					 hooks_on_frame, bond, slot);
	if (!wanted)
		slave_hooks_end(bond, slot);
	else if (*strays && hooks_of(bond, slot)->moved)
		stray_frames_reset(*strays);
}

static void hooks_settle_users(struct bond *bond, unsigned int slot)
{
	struct hooks *hooks = hooks_of(bond, slot);
	bool others = rx_place_has_others(bond, slot);

	if (others != hooks->had_others && bond_pin(bond)->rx_hook == XBOND_RX_AUTO)
		rx_turn_ask(bond, slot);
	hooks->had_others = others;
}

void slave_hooks_settle(struct bond *bond, unsigned int slot, bool all)
{
	struct hooks *hooks = hooks_of(bond, slot);

	rx_place_look(bond, slot, all);
	hooks_retry(bond, slot);
	hooks->moved = false;
	hooks_move(bond, slot);
	if (bond_is_team(bond_pin(bond))) { /* there they see what the bond receives */
		hooks->known = true;
		hooks->changed = false;
		return;
	}
	hooks_settle_users(bond, slot);
	hooks_tell_unmet(bond, slot);
	hooks_settle_strays(bond, slot);
	hooks->known = true;
	if (!rx_place_is_first(bond, slot))
		hooks->changed = false;
}

/*
 * The slave keeps frames of the bond: somebody lets them pass for good, or our program has just
 * been removed.
 */
static void hooks_on_frame(struct bond *bond, unsigned int slot)
{
	struct hooks *hooks = hooks_of(bond, slot);
	struct xbond_slave *slave = bond_slave(bond, slot);

	slave_hooks_settle(bond, slot, true);
	if (hooks->moved || !hooks->strays || !rx_place_is_attached(bond, slot)) {
		if (hooks->strays)
			stray_frames_reset(hooks->strays);
		return;
	}
	slave->trouble |= XBOND_TROUBLE_ENDING;
	if (!hooks->wait_ns)
		hooks->wait_ns = FIRST_WAIT_NS;
	hooks->retry_ns = clock_now_ns() + hooks->wait_ns;
	if (hooks->wait_ns < LONGEST_WAIT_NS)
		hooks->wait_ns *= 2;
	slave_hooks_settle(bond, slot, false);
	event_warning(bond_pin(bond)->name, slave->name,
		      "a filter or TCX program on the ingress of slave %s accepts frames before "
		      "xbond's program sees them, so the bond would lose them: xbond's program now "
		      "runs before all filters there; use filters that pass the frame on to the "
		      "next one ('continue', TC_ACT_UNSPEC)",
		      slave->name);
}

void slave_hooks_note(struct bond *bond, unsigned int slot)
{
	hooks_of(bond, slot)->changed = true;
}

static void slave_hooks_end(struct bond *bond, unsigned int slot)
{
	struct hooks *hooks = hooks_of(bond, slot);

	stray_frames_free(hooks->strays);
	hooks->strays = NULL;
}

static int hooks_enslave(struct bond *bond, unsigned int slot, struct err *err)
{
	slave_hooks_settle(bond, slot, false);
	return 0;
}

static void hooks_free(struct bond *bond)
{
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		slave_hooks_end(bond, slot);
}

static void hooks_settle(struct bond *bond, unsigned int slot, uint32_t news)
{
	slave_hooks_settle(bond, slot, news & (NEWS_FILTER | NEWS_LOST));
}

struct part hooks_part = { .member_size = sizeof(struct hooks),
			   .enslave = hooks_enslave,
			   .forget = slave_hooks_end,
			   .free = hooks_free,
			   .hears = NEWS_FILTER | NEWS_TIME | NEWS_LOST,
			   .settle = hooks_settle };
