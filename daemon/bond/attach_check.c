/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/bond/attach_check.h"

#include "bpf/slots.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/pins.h"
#include "daemon/base/crashpoint.h"
#include "daemon/base/event.h"
#include "daemon/bond/daemon.h"
#include "daemon/dataplane/attach.h"
#include "daemon/dataplane/dataplane_pins.h"

#define NO_SLOT XBOND_MAX_SLAVES

struct pair {
	struct xbond_attached attached; /* in place of the pinned one, if that could not be made */
	struct retry retry; /* the kernel has refused the programs that the path needs */
};

static struct pair *attach_check_pair_of(struct bond *bond)
{
	return part_of_bond(bond, &pair_part);
}

static struct xbond_attached *attach_check_record(struct bond *bond)
{
	struct xbond_attached *pinned = bond->dataplane.pins.attached;

	return pinned ? pinned : &attach_check_pair_of(bond)->attached;
}

static bool attach_check_is_missing(const struct attach_place *place)
{
	const struct xbond_attached *attached = attach_check_record(place->bond);

	return place->slot < NO_SLOT ? slots_have(attached->missing, place->slot)
				     : attached->missing_bond & place->end;
}

static void attach_check_set_missing(const struct attach_place *place, bool missing)
{
	struct xbond_attached *attached = attach_check_record(place->bond);
	uint64_t bit = slots_bit(place->slot);

	attached->missing = missing ? attached->missing | bit : attached->missing & ~bit;
	if (place->slot == NO_SLOT)
		attached->missing_bond = missing ? attached->missing_bond | place->end
						 : attached->missing_bond & ~place->end;
}

void attach_check_count(struct bond *bond, unsigned int slot)
{
	struct xbond_attached *attached = attach_check_record(bond);

	if (slot < NO_SLOT)
		attached->detached[slot]++;
	else
		attached->detached_bond++;
}

static int attach_check_put_back_port(const struct attach_place *place, struct err *err)
{
	return attach_add(&place->point, place->program_fd, err);
}

static int attach_check_put_back_egress(const struct attach_place *place, struct err *err)
{
	return port_hooks_attach_egress(place->bond, &place->point, err);
}

/*
 * Where no program was seen, the kernel may not have answered. A device that is just being removed
 * takes its programs along; news of that is on its way.
 */
static bool attach_check_is_off(const struct attach_place *place)
{
	struct link_info link;

	return !link_get(&place->bond->daemon->nl, -1, place->point.ifindex, &link) &&
	       !attach_is_there(&place->point);
}

/* Once for each loss, not at each check. */
static void attach_check_tell(const struct attach_place *place, bool replaced, int r,
			      const struct err *err)
{
	const char *name = bond_pin(place->bond)->name;
	const char *slave = place->slot < NO_SLOT ? place->device : NULL;

	if (r && !attach_check_is_missing(place))
		event_error(name, slave,
			    replaced ? "the program on %s cannot be replaced: %s"
				     : "the program on %s is not attached and cannot be "
				       "attached: %s",
			    place->device, err->text);
	else if (!r && attach_check_is_missing(place))
		event_line(EVENT_ATTACHED, LOG_NOTICE, name, slave,
			   "the program on %s is in place again", place->device);
	else if (!r && !place->expected)
		event_attached(name, slave, "somebody has %s the program on %s; it is put back",
			       replaced ? "replaced" : "taken off", place->device);
}

static void attach_check_found(const struct attach_place *place)
{
	if (!attach_check_is_missing(place))
		return;
	attach_check_tell(place, false, 0, NULL);
	attach_check_set_missing(place, false);
}

void attach_check_place(struct attach_place *place)
{
	uint32_t wanted = pin_program_id(place->program_fd),
		 found = attach_has(&place->point, wanted) ? wanted : attach_program(&place->point);
	struct err err;
	int r;

	/* The link may exist without its pin. */
	if (!found && place->point.hook != XBOND_HOOK_CLSACT) {
		if (!pins_keep(place->bond))
			return;
		found = attach_program(&place->point);
	}
	if (!wanted || (!found && !attach_check_is_off(place)))
		return;
	if (found == wanted) {
		attach_check_found(place);
		return;
	}
	place->expected |= found && attach_is_of_xbond(found);
	r = found ? attach_replace(&place->point, place->program_fd, &err)
		  : place->put_back(place, &err);
	if (!attach_check_is_missing(place) && !place->expected)
		attach_check_count(place->bond, place->slot);
	crashpoint("upgrade-attached");
	attach_check_tell(place, found, r, &err);
	attach_check_set_missing(place, r);
}

static void attach_check_port(struct bond *bond, bool expected)
{
	struct attach_place place = {
		.bond = bond,
		.slot = NO_SLOT,
		.end = XBOND_ATTACHED_PORT,
		.point = port_hooks_point(bond, false),
		.program_fd = bond->dataplane.port_fd,
		.put_back = attach_check_put_back_port,
		.device = bond_pin(bond)->port_name,
		.expected = expected,
	};

	attach_check_place(&place);
}

/*
 * For a bond in another namespace, links can still be reached, but nothing else: an ifindex means
 * another device here.
 */
static void attach_check_egress(struct bond *bond, bool expected)
{
	struct attach_place place = {
		.bond = bond,
		.slot = NO_SLOT,
		.end = XBOND_ATTACHED_EGRESS,
		.point = port_hooks_point(bond, true),
		.program_fd = bond->dataplane.egress_fd,
		.put_back = attach_check_put_back_egress,
		.device = bond_pin(bond)->name,
		.expected = expected,
	};
	bool away = bond_pin(bond)->netnsid >= 0;

	if (!port_hooks_need_egress(bond))
		attach_check_set_missing(&place, false);
	else if (!away || (place.point.hook != XBOND_HOOK_CLSACT && attach_program(&place.point)))
		attach_check_place(&place);
}

void attach_check_pair(struct bond *bond, bool came_back)
{
	if (!bond_is_team(bond_pin(bond)))
		attach_check_port(bond, false);
	attach_check_egress(bond, came_back);
}

void attach_check_renew_pair(struct bond *bond)
{
	if (!bond_is_team(bond_pin(bond)))
		attach_check_port(bond, true);
	attach_check_egress(bond, true);
}

int attach_check_settle_path(struct bond *bond, struct err *err)
{
	int r;

	if (!upgrade_is_due(&bond->dataplane))
		return 0;
	r = upgrade_to(&bond->dataplane, false,
		       "now has other programs, because path or xdp_tx was set:", err);
	if (!r)
		r = dataplane_open_programs(&bond->dataplane, err);
	if (!r)
		attach_check_renew_pair(bond);
	return r;
}

void attach_check_forget(struct bond *bond, unsigned int slot)
{
	struct xbond_attached *attached = attach_check_record(bond);

	attached->missing &= ~slots_bit(slot);
	attached->detached[slot] = 0;
}

static void pair_settle(struct bond *bond, uint32_t news)
{
	struct retry *retry = &attach_check_pair_of(bond)->retry;

	/* bondctl makes no request if bondd is so busy that it seems to be away. */
	if (!upgrade_is_due(&bond->dataplane))
		*retry = (struct retry){ 0 };
	else if (clock_now_ns() >= retry->next_ns && attach_check_settle_path(bond, NULL))
		retry_later(retry);
	if (news & NEWS_FILTER) /* else device_sync() has just done it */
		attach_check_pair(bond, false);
}

struct part pair_part = { .bond_size = sizeof(struct pair),
			  .hears = NEWS_FILTER | NEWS_TIME,
			  .settle_bond = pair_settle };
