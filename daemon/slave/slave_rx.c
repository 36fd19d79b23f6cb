/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/slave/slave_rx.h"

#include <stdio.h>
#include <string.h>

#include "daemon/base/crashpoint.h"
#include "daemon/bond/attach_check.h"
#include "daemon/bond/daemon.h"
#include "daemon/dataplane/attach.h"
#include "daemon/slave/slave.h"
#include "network/filters.h"

/* With a team nobody behind it misses a frame, and nobody before it may end a frame's way. */
static bool slave_rx_goes_first(struct bond *bond, unsigned int slot)
{
	return bond_is_team(bond_pin(bond)) ||
	       bond_slave(bond, slot)->trouble & XBOND_TROUBLE_ENDING;
}

struct attach_point slave_rx_point(struct bond *bond, unsigned int slot, enum xbond_hook hook)
{
	struct attach_point point = {
		.hook = hook,
		.ifindex = (int)bond_slave(bond, slot)->ifindex,
	};

	if (hook == XBOND_HOOK_CLSACT)
		point.priority = slave_rx_goes_first(bond, slot) ? ATTACH_FIRST_PRIORITY
								 : ATTACH_LAST_PRIORITY;
	snprintf(point.pin, sizeof(point.pin), "%s/" XBOND_PIN_LINK_RX "%u",
		 bond->dataplane.pins.dir, slot);
	return point;
}

enum xbond_hook slave_rx_hook(struct bond *bond, unsigned int slot)
{
	return bond_slave(bond, slot)->clsact ? XBOND_HOOK_CLSACT : bond_pin(bond)->hook;
}

struct attach_point slave_rx_now(struct bond *bond, unsigned int slot)
{
	return slave_rx_point(bond, slot, slave_rx_hook(bond, slot));
}

void slave_rx_record_clsact(struct bond *bond, unsigned int slot)
{
	struct xbond_slave *slave = bond_slave(bond, slot);
	/* If nobody knows, it is left alone later: it may be somebody's. */
	bool there = filters_has_clsact(&bond->daemon->nl, (int)slave->ifindex) != 0;
	__u32 flags = slave->before.flags;

	if (!there) /* if it ever had one, it has been removed */
		flags &= ~(__u32)XBOND_SLAVE_HAD_CLSACT;
	else if (!(flags & XBOND_SLAVE_CLSACT_KNOWN))
		flags |= XBOND_SLAVE_HAD_CLSACT;
	slave->before.flags = flags | XBOND_SLAVE_CLSACT_KNOWN;
}

/* Attaches it, for the first time or again. */
static int slave_rx_attach(struct bond *bond, unsigned int slot, struct err *err)
{
	struct attach_point point = slave_rx_now(bond, slot);

	if (point.hook == XBOND_HOOK_CLSACT)
		slave_rx_record_clsact(bond, slot);
	return attach_add(&point, bond->dataplane.rx_fd, err);
}

static int slave_rx_put_back(const struct attach_place *place, struct err *err)
{
	return slave_rx_attach(place->bond, place->slot, err);
}

void slave_rx_check(struct bond *bond, unsigned int slot)
{
	struct attach_place place = {
		.bond = bond,
		.slot = slot,
		.point = slave_rx_point(bond, slot, slave_rx_hook(bond, slot)),
		.program_fd = bond->dataplane.rx_fd,
		.put_back = slave_rx_put_back,
		.device = bond_slave(bond, slot)->name,
	};

	attach_check_place(&place);
}

static int rx_enslave(struct bond *bond, unsigned int slot, struct err *err)
{
	const struct xbond_slave *slave = bond_slave(bond, slot);
	int r;

	crashpoint("enslave-changed");
	rx_place_choose(bond, slot);
	r = dataplane_set_slot(&bond->dataplane, slot, (int)slave->ifindex);
	if (r)
		return err_set(err, -r, "cannot make the BPF programs send by %s: %s", slave->name,
			       strerror(-r));
	return slave_rx_attach(bond, slot, err);
}

static bool rx_made_clsact(struct bond *bond, unsigned int slot)
{
	const struct xbond_slave *slave = bond_slave(bond, slot);
	bool is_known = slave->before.flags & XBOND_SLAVE_CLSACT_KNOWN;

	if (slave->before.flags & XBOND_SLAVE_HAD_CLSACT)
		return false;
	return is_known || (slave->state != XBOND_SLOT_ENSLAVING &&
			    slave_rx_hook(bond, slot) == XBOND_HOOK_CLSACT);
}

/* The kernel takes filters off a device that it moves. */
static int rx_restore(struct bond *bond, unsigned int slot, const struct place *place,
		      struct err *err)
{
	int r;

	if (place->away)
		return 0;
	r = rx_place_remove(bond, slot);
	if (!r && rx_made_clsact(bond, slot))
		r = attach_remove_clsact(place->nl, place->ifindex);
	crashpoint("release-detached");
	return r ? err_set(err, -r, "%s", strerror(-r)) : 0;
}

static void rx_forget(struct bond *bond, unsigned int slot)
{
	struct attach_point point = slave_rx_point(bond, slot, bond_pin(bond)->hook);

	if (point.hook == XBOND_HOOK_TCX)
		attach_remove(&point);
	attach_check_forget(bond, slot);
}

static void rx_settle(struct bond *bond, unsigned int slot, uint32_t news)
{
	slave_rx_check(bond, slot);
}

struct part rx_part = {
	.restores = XBOND_RESTORED_INGRESS,
	.enslave = rx_enslave,
	.restore = rx_restore,
	.forget = rx_forget,
	.hears = NEWS_FILTER | NEWS_TIME | NEWS_LOST,
	.settle = rx_settle,
};
