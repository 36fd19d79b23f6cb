/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/slave_hooks.h"

#include "common/clock.h"
#include "daemon/attach.h"
#include "daemon/crashpoint.h"
#include "daemon/daemon.h"
#include "daemon/idle.h"
#include "daemon/log.h"
#include "daemon/mirred.h"
#include "daemon/net/nft.h"
#include "daemon/slave.h"
#include "daemon/tcx.h"
#include "daemon/witness.h"
#include "daemon/xdp.h"

/* Who changes filters all the time shall not cost frames each time. */
#define FIRST_WAIT_NS (10000 * NS_PER_MS)
#define LONGEST_WAIT_NS (3600000 * NS_PER_MS)

enum place { PLACE_TCX_LAST, PLACE_TCX_FIRST, PLACE_CLSACT_LAST, PLACE_CLSACT_FIRST };

static bool hooks_is_tcx(struct bond *bond)
{
	return bond_pin(bond)->hook == XBOND_HOOK_TCX;
}

static struct attach_point hooks_point(struct bond *bond, unsigned int slot, unsigned int priority)
{
	struct attach_point point = slave_attach_point(bond, slot, XBOND_HOOK_CLSACT);

	point.priority = priority;
	return point;
}

static bool hooks_has_trouble(struct bond *bond, unsigned int slot, uint32_t trouble)
{
	return bond_slave(bond, slot)->trouble & trouble;
}

static void hooks_look_at_filters(struct bond *bond, unsigned int slot)
{
	struct hooks *hooks = &bond->members[slot].hooks;
	struct filters_others others;

	if (attach_look_for_filters(&bond->daemon->nl, (int)bond_slave(bond, slot)->ifindex,
				    &others))
		return;
	hooks->filters = others.any;
	hooks->shared = others.shared;
}

static void hooks_look_at_tcx(struct bond *bond, unsigned int slot)
{
	struct attach_point point = slave_attach_point(bond, slot, XBOND_HOOK_TCX);
	struct hooks *hooks = &bond->members[slot].hooks;
	struct tcx_order order = tcx_look(&point);

	hooks->changed |= hooks->known && order.others != hooks->tcx_others;
	hooks->tcx_others = order.others;
	hooks->tcx_before = order.before;
	hooks->tcx_after = order.after;
	hooks->in_tcx = order.is_there;
}

static enum place hooks_place(struct bond *bond, unsigned int slot)
{
	const struct hooks *hooks = &bond->members[slot].hooks;
	const struct xbond_slave *slave = bond_slave(bond, slot);
	bool own_clsact = slave->clsact && !(slave->before.flags & XBOND_SLAVE_HAD_CLSACT);

	if (hooks_has_trouble(bond, slot, XBOND_TROUBLE_ENDING))
		return hooks_is_tcx(bond) ? PLACE_TCX_FIRST : PLACE_CLSACT_FIRST;
	if (!hooks_is_tcx(bond) || (hooks->filters && !hooks->shared))
		return PLACE_CLSACT_LAST;
	/* To make a qdisc or to remove it is to lose what the slave sends just then. */
	return own_clsact || (slave->clsact && !bond_pin(bond)->rx_backlog) ? PLACE_CLSACT_LAST
									    : PLACE_TCX_LAST;
}

void slave_hooks_choose(struct bond *bond, unsigned int slot)
{
	hooks_look_at_filters(bond, slot);
	hooks_look_at_tcx(bond, slot);
	bond->members[slot].hooks.changed = false;
	bond_slave(bond, slot)->clsact =
		hooks_is_tcx(bond) && hooks_place(bond, slot) == PLACE_CLSACT_LAST;
}

static bool hooks_has_filter(struct bond *bond, unsigned int slot, unsigned int priority)
{
	return attach_has_rx_filter((int)bond_slave(bond, slot)->ifindex, priority);
}

static void hooks_drop_filter(struct bond *bond, unsigned int slot, unsigned int priority)
{
	struct attach_point point = hooks_point(bond, slot, priority);

	if (!hooks_has_filter(bond, slot, priority))
		return;
	dataplane_quiesce(); /* a packet that is past the new place needs the old one */
	attach_remove(&bond->daemon->nl, &point, true);
}

static void hooks_drop_filters(struct bond *bond, unsigned int slot, unsigned int but)
{
	static const unsigned int priorities[] = { ATTACH_FIRST_PRIORITY, ATTACH_FILTER_PRIORITY,
						   ATTACH_LAST_PRIORITY };

	for (size_t i = 0; i < sizeof(priorities) / sizeof(priorities[0]); i++)
		if (priorities[i] != but)
			hooks_drop_filter(bond, slot, priorities[i]);
}

/*
 * A bondd that dies before the filter is there finds the link, and begins anew; after that it takes
 * the link off.
 */
static int hooks_put_filter(struct bond *bond, unsigned int slot, unsigned int priority,
			    struct err *err)
{
	struct attach_point point = hooks_point(bond, slot, priority);
	struct xbond_slave *slave = bond_slave(bond, slot);
	bool was_clsact = slave_hook(bond, slot) == XBOND_HOOK_CLSACT;
	int r;

	if (was_clsact && hooks_has_filter(bond, slot, priority))
		return 0;
	slave_record_clsact(bond, slot);
	r = attach_add(&point, bond->dataplane.rx_fd, err);
	if (r)
		return r;
	crashpoint("hooks-filter");
	bond->members[slot].hooks.moved = true;
	if (hooks_is_tcx(bond))
		slave->clsact = 1;
	return 0;
}

static int hooks_put_clsact(struct bond *bond, unsigned int slot, unsigned int priority,
			    struct err *err)
{
	struct attach_point tcx = slave_attach_point(bond, slot, XBOND_HOOK_TCX);
	int r = hooks_put_filter(bond, slot, priority, err);

	if (r)
		return r;
	crashpoint("hooks-moved");
	if (hooks_is_tcx(bond))
		attach_remove(&bond->daemon->nl, &tcx, true);
	if (bond->members[slot].hooks.moved || !bond->members[slot].hooks.known)
		hooks_drop_filters(bond, slot, priority);
	return 0;
}

int slave_hooks_to_clsact(struct bond *bond, unsigned int slot, struct err *err)
{
	return hooks_put_clsact(bond, slot, ATTACH_LAST_PRIORITY, err);
}

static int hooks_put_tcx(struct bond *bond, unsigned int slot, enum tcx_end end, struct err *err)
{
	struct attach_point point = slave_attach_point(bond, slot, XBOND_HOOK_TCX);
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
	mirred_remove(bond, slot);
	slave->clsact = 0;
	hooks_drop_filters(bond, slot, 0);
	return 0;
}

static int hooks_put(struct bond *bond, unsigned int slot, enum place place, struct err *err)
{
	switch (place) {
	case PLACE_TCX_LAST: return hooks_put_tcx(bond, slot, TCX_LAST, err);
	case PLACE_TCX_FIRST: return hooks_put_tcx(bond, slot, TCX_FIRST, err);
	case PLACE_CLSACT_LAST: return hooks_put_clsact(bond, slot, ATTACH_LAST_PRIORITY, err);
	case PLACE_CLSACT_FIRST: return hooks_put_clsact(bond, slot, ATTACH_FIRST_PRIORITY, err);
	}
	return 0;
}

bool slave_hooks_has_others(struct bond *bond, unsigned int slot)
{
	const struct hooks *hooks = &bond->members[slot].hooks;

	return hooks->filters || hooks->tcx_before || hooks->tcx_after;
}

bool slave_hooks_forbid_mirred(struct bond *bond, unsigned int slot)
{
	return bond->members[slot].hooks.filters ||
	       hooks_has_trouble(bond, slot, XBOND_TROUBLE_ENDING);
}

/* When others have changed what they have there, it may be that nothing ends any more. */
static void hooks_retry(struct bond *bond, unsigned int slot)
{
	struct hooks *hooks = &bond->members[slot].hooks;
	struct xbond_slave *slave = bond_slave(bond, slot);

	if (!slave_hooks_has_others(bond, slot))
		hooks->wait_ns = 0;
	if (!(slave->trouble & XBOND_TROUBLE_ENDING) || !hooks->known)
		return;
	if (!slave_hooks_has_others(bond, slot))
		log_info("%s: slave %s has no filters of others any more", bond_pin(bond)->name,
			 slave->name);
	else if (!hooks->changed || clock_now_ns() < hooks->retry_ns)
		return;
	hooks->changed = false;
	slave->trouble &= ~(uint32_t)XBOND_TROUBLE_ENDING;
}

static void hooks_move(struct bond *bond, unsigned int slot)
{
	struct hooks *hooks = &bond->members[slot].hooks;
	struct err err;
	int r = hooks_put(bond, slot, hooks_place(bond, slot), &err);

	if (r && !hooks->refused)
		log_warning("%s: %s takes its frames before filters of others see them: %s",
			    bond_pin(bond)->name, bond_slave(bond, slot)->name, err.text);
	hooks->refused = r;
}

/* XDP goes first by nature; the others cannot be followed. */
static const char *hooks_why_unmet(struct bond *bond, unsigned int slot)
{
	const struct hooks *hooks = &bond->members[slot].hooks;

	if (!slave_hooks_has_others(bond, slot) ||
	    hooks_has_trouble(bond, slot, XBOND_TROUBLE_ENDING))
		return NULL;
	if (bond_slave(bond, slot)->rx_hook == XBOND_RX_XDP)
		return "it receives by XDP; 'rx_hook tc' or auto minds them";
	if (hooks->shared && hooks_is_tcx(bond))
		return "they are in a block that devices share";
	return hooks->refused ? "ours cannot stand after them" : NULL;
}

static void hooks_tell_unmet(struct bond *bond, unsigned int slot)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	const char *why = hooks_why_unmet(bond, slot);

	if (!why == !(slave->trouble & XBOND_TROUBLE_UNMET))
		return;
	slave->trouble ^= XBOND_TROUBLE_UNMET;
	if (why)
		log_warning("%s: filters on the ingress of slave %s do not see what the bond "
			    "receives: %s",
			    bond_pin(bond)->name, slave->name, why);
	else
		log_info("%s: no filter on slave %s is passed by any more", bond_pin(bond)->name,
			 slave->name);
}

/* No message tells of them; the number of the last change does. */
static bool hooks_has_new_rules(struct bond *bond, unsigned int slot)
{
	struct hooks *hooks = &bond->members[slot].hooks;
	uint32_t before = hooks->nft_generation;

	hooks->nft_generation = nft_generation();
	return hooks->nft_generation != before;
}

/* The kernel runs them after TC. */
static void hooks_look_for_chains(struct bond *bond, unsigned int slot)
{
	struct xbond_slave *slave = bond_slave(bond, slot);

	if (nft_has_ingress(slave->name) == hooks_has_trouble(bond, slot, XBOND_TROUBLE_NFT))
		return;
	slave->trouble ^= XBOND_TROUBLE_NFT;
	if (slave->trouble & XBOND_TROUBLE_NFT)
		log_warning("%s: slave %s has an nft chain at its ingress, which sees nothing of "
			    "what the bond "
			    "receives; put it on %s, or filter by tc",
			    bond_pin(bond)->name, slave->name, bond_pin(bond)->name);
	else
		log_info("%s: slave %s has no nft chain at its ingress any more",
			 bond_pin(bond)->name, slave->name);
}

static void hooks_on_frame(struct bond *bond, unsigned int slot);

static void hooks_follow_witness(struct bond *bond, unsigned int slot)
{
	struct witness **witness = &bond->members[slot].hooks.witness;
	bool wanted = slave_hooks_has_others(bond, slot) &&
		      !hooks_has_trouble(bond, slot, XBOND_TROUBLE_ENDING);

	if (wanted && !*witness)
		*witness = witness_new(bond->daemon->event, (int)bond_slave(bond, slot)->ifindex,
				       hooks_on_frame, bond, slot);
	if (!wanted)
		slave_hooks_end(bond, slot);
	else if (*witness && bond->members[slot].hooks.moved)
		witness_reset(*witness);
}

static void hooks_follow_users(struct bond *bond, unsigned int slot)
{
	struct hooks *hooks = &bond->members[slot].hooks;
	bool others = slave_hooks_has_others(bond, slot),
	     forbidden = slave_hooks_forbid_mirred(bond, slot);

	if (others != hooks->had_others && bond_pin(bond)->rx_hook == XBOND_RX_AUTO)
		rx_turn_ask(bond, slot);
	if (forbidden != hooks->forbade_mirred && !bond_pin(bond)->rx_backlog)
		mirred_follow(bond, slot);
	hooks->had_others = others;
	hooks->forbade_mirred = forbidden;
}

/*
 * An action must be gone before the receive program leaves clsact, and cannot come before that is
 * there.
 */
void slave_hooks_follow(struct bond *bond, unsigned int slot, bool all)
{
	struct hooks *hooks = &bond->members[slot].hooks;

	if (all || !hooks->known)
		hooks_look_at_filters(bond, slot);
	hooks_look_at_tcx(bond, slot);
	hooks_retry(bond, slot);
	hooks->moved = false;
	hooks_move(bond, slot);
	hooks_follow_users(bond, slot);
	hooks_tell_unmet(bond, slot);
	if (hooks_has_new_rules(bond, slot) || all || !hooks->known)
		hooks_look_for_chains(bond, slot);
	hooks_follow_witness(bond, slot);
	hooks->known = true;
	hooks->noted = false;
	if (!hooks_has_trouble(bond, slot, XBOND_TROUBLE_ENDING))
		hooks->changed = false;
}

static bool hooks_is_attached(struct bond *bond, unsigned int slot)
{
	return slave_hook(bond, slot) == XBOND_HOOK_CLSACT
		       ? hooks_has_filter(bond, slot, ATTACH_LAST_PRIORITY)
		       : bond->members[slot].hooks.in_tcx;
}

/*
 * The slave keeps what is the bond's: somebody lets it pass for good, or ours has just been taken
 * off.
 */
static void hooks_on_frame(struct bond *bond, unsigned int slot)
{
	struct hooks *hooks = &bond->members[slot].hooks;
	struct xbond_slave *slave = bond_slave(bond, slot);

	slave_hooks_follow(bond, slot, true);
	if (hooks->moved || !hooks->witness || !hooks_is_attached(bond, slot)) {
		if (hooks->witness)
			witness_reset(hooks->witness);
		return;
	}
	slave->trouble |= XBOND_TROUBLE_ENDING;
	if (!hooks->wait_ns)
		hooks->wait_ns = FIRST_WAIT_NS;
	hooks->retry_ns = clock_now_ns() + hooks->wait_ns;
	if (hooks->wait_ns < LONGEST_WAIT_NS)
		hooks->wait_ns *= 2;
	slave_hooks_follow(bond, slot, false);
	log_warning("%s: a filter or TCX program on the ingress of slave %s lets frames pass for "
		    "good, and the "
		    "bond "
		    "would lose them: xbond's goes before all filters there; those that leave the "
		    "frame to the "
		    "next one ('continue', TC_ACT_UNSPEC) are heeded",
		    bond_pin(bond)->name, slave->name);
}

void slave_hooks_note(struct bond *bond, unsigned int slot, bool changed)
{
	bond->members[slot].hooks.noted = true;
	bond->members[slot].hooks.changed |= changed;
}

void slave_hooks_follow_noted(struct daemon *daemon)
{
	for (struct bond *bond = daemon->bonds; bond; bond = bond->next)
		bond_for_each_member (bond, slot)
			if (bond->members[slot].hooks.noted) {
				slave_hooks_follow(bond, slot, true);
				idle_turn();
			}
}

/* The filter of an earlier build stands before others, and goes when there is one in its place. */
static void hooks_replace_earlier(struct bond *bond, unsigned int slot)
{
	struct attach_point point = slave_attach_point(bond, slot, XBOND_HOOK_CLSACT);

	if (hooks_has_filter(bond, slot, ATTACH_FILTER_PRIORITY) &&
	    !attach_add(&point, bond->dataplane.rx_fd, NULL))
		hooks_drop_filters(bond, slot, point.priority);
}

void slave_hooks_tidy(struct bond *bond, unsigned int slot)
{
	struct attach_point tcx = slave_attach_point(bond, slot, XBOND_HOOK_TCX);

	tcx_tidy(&tcx, bond->dataplane.rx_fd);
	if (slave_hook(bond, slot) == XBOND_HOOK_CLSACT)
		hooks_replace_earlier(bond, slot);
	else
		hooks_drop_filters(bond, slot, 0);
}

void slave_hooks_remove(struct bond *bond, unsigned int slot)
{
	struct attach_point tcx = slave_attach_point(bond, slot, XBOND_HOOK_TCX);
	struct attach_point now = slave_attach_point(bond, slot, slave_hook(bond, slot));

	tcx_tidy(&tcx, bond->dataplane.rx_fd);
	hooks_drop_filters(bond, slot, now.priority);
}

void slave_hooks_end(struct bond *bond, unsigned int slot)
{
	struct hooks *hooks = &bond->members[slot].hooks;

	witness_free(hooks->witness);
	hooks->witness = NULL;
}
