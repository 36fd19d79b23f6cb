/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/manage/lifecycle.h"

#include <errno.h>
#include <stdio.h>

#include "common/clock.h"
#include "common/pins.h"
#include "daemon/base/crashpoint.h"
#include "daemon/base/event.h"
#include "daemon/bond/attach_check.h"
#include "daemon/dataplane/dataplane_pins.h"
#include "daemon/slave/slave_rx.h"

#define PROGRAM_TRIES 2

static bool policy_settle_loaded(const struct bond *bond)
{
	return policy_is_loaded(bond->dataplane.pins.dir);
}

static bool policy_settle_flag(const struct bond *bond)
{
	return bond->dataplane.pins.table->flags & XBOND_F_POLICY;
}

/* Where nothing is attached, the pinned program will come, which asks if the bond's programs do. */
static bool policy_settle_asks(const struct bond *bond, uint32_t program_id)
{
	return program_id ? policy_is_asked_by(program_id) : policy_settle_flag(bond);
}

static uint32_t policy_settle_xdp_program(struct bond *bond)
{
	struct attach_point xdp = { 0 };

	pin_path(xdp.pin, bond->dataplane.pins.dir, XBOND_PIN_LINK_XDP_TX);
	return attach_linked_program(&xdp);
}

/*
 * The device whose program chooses slaves without asking a policy; NULL: there is none. Packets
 * that meet no program at bond0's egress reach the port. In another namespace all do.
 */
static const char *policy_settle_unasked(struct bond *bond)
{
	const struct xbond_bond *pin = bond_pin(bond);
	struct attach_point port = port_hooks_point(bond, false),
			    egress = port_hooks_point(bond, true);
	uint32_t at_egress = pin->netnsid < 0 ? attach_program(&egress) : 0,
		 by_xdp = policy_settle_xdp_program(bond);

	if (bond_is_team(pin))
		return policy_settle_asks(bond, at_egress) ? NULL : pin->name;
	if (at_egress && !policy_is_asked_by(at_egress))
		return pin->name;
	if (by_xdp && !policy_is_asked_by(by_xdp))
		return pin->port_name;
	return policy_settle_asks(bond, attach_program(&port)) ? NULL : pin->port_name;
}

void policy_settle_adopted(struct bond *bond)
{
	bool asks = policy_settle_loaded(bond) && !policy_settle_unasked(bond);

	dataplane_set_flags(&bond->dataplane, XBOND_F_POLICY, asks ? XBOND_F_POLICY : 0);
}

/* What attach_check.c and xdp_upgrade.c do at adoption, for the programs that transmit. */
static void policy_settle_attach(struct bond *bond)
{
	attach_check_renew_pair(bond);
	xdp_upgrade_tx(bond);
}

/* The bond gets the programs again that ask nobody. bondctl takes the policy back. */
static void policy_settle_undo(struct bond *bond)
{
	struct err err;

	if (upgrade_to(&bond->dataplane, false, "has its programs without a policy again:", &err) ||
	    dataplane_open_programs(&bond->dataplane, &err))
		event_error(bond_pin(bond)->name, NULL, "%s", err.text);
	else
		policy_settle_attach(bond);
}

static int policy_settle_refuse(struct bond *bond, const char *device, struct err *err)
{
	struct policy_program program;

	policy_program(bond->dataplane.pins.dir, XBOND_PIN_POLICY, &program);
	event_error(bond_pin(bond)->name, NULL,
		    "policy %s is not in use, because the program on %s does not call it",
		    program.name, device);
	return err_set(err, EBUSY,
		       "the program that calls a policy cannot be attached to %s; bondd's log says "
		       "why",
		       device);
}

static void policy_settle_tell(struct bond *bond)
{
	struct policy_program program;

	if (policy_settle_flag(bond) &&
	    policy_program(bond->dataplane.pins.dir, XBOND_PIN_POLICY, &program))
		event_config("policy", bond_pin(bond)->name, NULL, "policy %s is in use",
			     program.name);
	else
		event_config("policy", bond_pin(bond)->name, NULL, "no policy is in use now");
}

/* A call that failed for want of memory or descriptors may not fail again. */
static int policy_settle_programs(struct bond *bond, bool asks, struct err *err)
{
	int r = -EAGAIN;

	for (int try = 0; try < PROGRAM_TRIES && r; try++) {
		r = upgrade_to(
			&bond->dataplane, asks,
			"now has other programs, because a policy was loaded or removed:", err);
		crashpoint("policy-pinned");
		if (!r)
			r = dataplane_open_programs(&bond->dataplane, err);
	}
	return r;
}

/* asks: whether a policy is loaded */
static int policy_settle_to(struct bond *bond, bool asks, struct err *err)
{
	bool asked = policy_settle_flag(bond);
	int r = policy_settle_programs(bond, asks, err);
	const char *unasked;

	if (r)
		return r;
	policy_settle_attach(bond);
	unasked = asks && policy_settle_loaded(bond) ? policy_settle_unasked(bond) : NULL;
	policy_settle_adopted(bond);
	if (!unasked) {
		policy_settle_tell(bond);
		return 0;
	}
	if (!asked)
		policy_settle_undo(bond);
	return policy_settle_refuse(bond, unasked, err);
}

/* bondctl may load or remove a policy meanwhile. */
int policy_settle(struct bond *bond, struct err *err)
{
	bool asks;
	int r;

	do {
		asks = policy_settle_loaded(bond);
		r = policy_settle_to(bond, asks, err);
	} while (!r && policy_settle_loaded(bond) != asks);
	return r;
}

/* Whatever took it off: bondctl died or took bondd for away, or somebody removed the pins. */
static void policy_settle_removed(struct bond *bond, uint32_t news)
{
	struct retry *retry = part_of_bond(bond, &policy_part);
	struct err err;

	(void)news;
	if (!policy_settle_flag(bond) || !policy_is_gone(bond->dataplane.pins.dir))
		*retry = (struct retry){ 0 };
	else if (clock_now_ns() >= retry->next_ns && policy_settle(bond, &err))
		retry_later(retry);
}

struct part policy_part = { .bond_size = sizeof(struct retry),
			    .hears = NEWS_TIME,
			    .settle_bond = policy_settle_removed };
