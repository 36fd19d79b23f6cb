/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/attach_check.h"

#include "daemon/attach.h"
#include "daemon/crashpoint.h"
#include "daemon/daemon.h"
#include "daemon/device.h"
#include "daemon/log.h"
#include "daemon/mirred.h"
#include "daemon/pins_keep.h"
#include "daemon/slave.h"

#define NO_SLOT XBOND_MAX_SLAVES

/* One attachment. */
struct place {
	struct bond *bond;
	unsigned int slot; /* or NO_SLOT: of the pair */
	uint32_t end;	   /* of the pair: XBOND_ATTACHED_PORT or _EGRESS */
	struct attach_point point;
	int program_fd;
	const char *device;
	bool expected; /* what is missing there is nobody's doing: put right, and not counted */
};

static struct xbond_attached *record(struct bond *bond)
{
	struct xbond_attached *pinned = bond->dataplane.pins.attached;

	return pinned ? pinned : &bond->attached_unpinned;
}

static bool is_missing(const struct place *place)
{
	const struct xbond_attached *attached = record(place->bond);

	return place->slot < NO_SLOT ? attached->missing >> place->slot & 1
				     : attached->missing_bond & place->end;
}

static void set_missing(const struct place *place, bool missing)
{
	struct xbond_attached *attached = record(place->bond);
	uint64_t bit = place->slot < NO_SLOT ? UINT64_C(1) << place->slot : 0;

	attached->missing = missing ? attached->missing | bit : attached->missing & ~bit;
	if (place->slot == NO_SLOT)
		attached->missing_bond = missing ? attached->missing_bond | place->end
						 : attached->missing_bond & ~place->end;
}

void attach_check_count(struct bond *bond, unsigned int slot)
{
	struct xbond_attached *attached = record(bond);

	if (slot < NO_SLOT)
		attached->detached[slot]++;
	else
		attached->detached_bond++;
}

static int put_back(const struct place *place, struct err *err)
{
	if (place->slot < NO_SLOT)
		return slave_attach(place->bond, place->slot, err);
	return place->end == XBOND_ATTACHED_EGRESS
		       ? device_attach_egress(place->bond, &place->point, err)
		       : attach_add(&place->point, place->program_fd, err);
}

/* A device that is just going takes its programs along, and news of it is on its way. */
static bool is_there(const struct place *place)
{
	struct link_info link;

	return !link_get(&place->bond->daemon->nl, -1, place->point.ifindex, &link);
}

/* Once for each loss, not at each look. */
static void tell(const struct place *place, bool replaced, int r, const struct err *err)
{
	const char *name = bond_pin(place->bond)->name;

	if (r && !is_missing(place))
		log_error("%s: the program on %s is not attached, and cannot be: %s", name,
			  place->device, err->text);
	else if (!r && is_missing(place))
		log_notice("%s: the program on %s is in place again", name, place->device);
	else if (!r && !place->expected)
		log_warning("%s: somebody has %s the program on %s; it is put back", name,
			    replaced ? "replaced" : "taken off", place->device);
}

static void found_in_place(const struct place *place)
{
	if (!is_missing(place))
		return;
	tell(place, false, 0, NULL);
	set_missing(place, false);
}

static void check(struct place *place)
{
	uint32_t wanted = attach_program_id(place->program_fd),
		 found = attach_program(&place->point);
	struct err err;
	int r;

	/* The link may be there without its pin. */
	if (!found && place->point.hook != XBOND_HOOK_CLSACT) {
		if (!pins_keep(place->bond))
			return;
		found = attach_program(&place->point);
	}
	if (found == wanted || (!found && !is_there(place))) {
		if (found)
			found_in_place(place);
		return;
	}
	place->expected |= found && place->bond->adopting;
	r = found ? attach_replace(&place->point, place->program_fd, &err) : put_back(place, &err);
	if (!is_missing(place) && !place->expected)
		attach_check_count(place->bond, place->slot);
	crashpoint("upgrade-attached");
	tell(place, found, r, &err);
	set_missing(place, r);
}

void attach_check_slave(struct bond *bond, unsigned int slot)
{
	struct place place = {
		.bond = bond,
		.slot = slot,
		.point = slave_attach_point(bond, slot, slave_hook(bond, slot)),
		.program_fd = bond->dataplane.rx_fd,
		.device = bond_slave(bond, slot)->name,
	};

	/* Earlier builds had it before the filters of others. slave_hooks.c removes that one. */
	if (bond->adopting && place.point.hook == XBOND_HOOK_CLSACT)
		place.expected = attach_has_rx_filter(place.point.ifindex, ATTACH_FILTER_PRIORITY);
	check(&place);
	if (mirred_is_missing(bond, slot))
		mirred_follow(bond, slot);
}

static void check_port(struct bond *bond)
{
	struct place place = {
		.bond = bond,
		.slot = NO_SLOT,
		.end = XBOND_ATTACHED_PORT,
		.point = device_attach_point(bond, false),
		.program_fd = bond->dataplane.port_fd,
		.device = bond_pin(bond)->port_name,
	};

	check(&place);
}

/*
 * Of a bond in another namespace a link can be reached all the same, and nothing else: a number
 * means another device here.
 */
static void check_egress(struct bond *bond, bool came_back)
{
	struct place place = {
		.bond = bond,
		.slot = NO_SLOT,
		.end = XBOND_ATTACHED_EGRESS,
		.point = device_attach_point(bond, true),
		.program_fd = bond->dataplane.egress_fd,
		.device = bond_pin(bond)->name,
		.expected = came_back,
	};
	bool away = bond_pin(bond)->netnsid >= 0;

	if (!device_needs_egress(bond))
		set_missing(&place, false);
	else if (!away || (place.point.hook != XBOND_HOOK_CLSACT && attach_program(&place.point)))
		check(&place);
}

void attach_check_pair(struct bond *bond, bool came_back)
{
	check_port(bond);
	check_egress(bond, came_back);
}

void attach_check(struct bond *bond)
{
	bond_for_each_member (bond, slot)
		attach_check_slave(bond, slot);
	attach_check_pair(bond, false);
}

void attach_check_forget(struct bond *bond, unsigned int slot)
{
	struct xbond_attached *attached = record(bond);

	attached->missing &= ~(UINT64_C(1) << slot);
	attached->detached[slot] = 0;
}
