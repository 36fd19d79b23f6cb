/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A bond is adopted from an earlier bondd: as it runs, or its making or its end is undone. */
#include "daemon/manage/lifecycle.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>

#include "bpf/slots.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/mac.h"
#include "common/memory.h"
#include "daemon/base/event.h"
#include "daemon/bond/attach_check.h"
#include "daemon/bond/awaited.h"
#include "daemon/bond/evaluate.h"
#include "daemon/dataplane/dataplane_pins.h"
#include "daemon/device/device.h"
#include "daemon/manage/apply.h"
#include "daemon/manage/plan.h"
#include "daemon/monitor/monitor.h"
#include "daemon/slave/slave.h"
#include "daemon/slave/slave_rx.h"

#define ADOPT_TRIES 3

/* The bond has taken the MAC of its first slave, which then did not become one. */
static void adopt_take_back_mac(struct bond *bond, unsigned int slot)
{
	struct xbond_bond *pin = bond_pin(bond);
	const struct xbond_slave *slave = bond_slave(bond, slot);

	if (slave->state == XBOND_SLOT_ENSLAVING && !bond_members(bond) &&
	    mac_is_same(pin->mac, slave->before.mac))
		device_set_mac(bond, pin->random_mac, NULL);
}

static void adopt_drop_slave(struct bond *bond, unsigned int slot)
{
	const struct xbond_slave *slave = bond_slave(bond, slot);

	event_config("del-slave", bond_pin(bond)->name, slave->name, "slave %s has gone",
		     slave->name);
	slave_restore_anywhere(bond, slot);
	if (slave->state == XBOND_SLOT_MEMBER)
		awaited_slave_lost(bond, slot);
	slave_forget(bond, slot);
}

static void adopt_member(struct bond *bond, unsigned int slot, const struct link_info *link)
{
	if (slave_was_away(bond, slot))
		slave_has_returned(bond, slot, link);
	dataplane_set_device(&bond->dataplane, slot, (int)bond_slave(bond, slot)->ifindex);
	bond->members[slot] = (struct member){ .since_ns = clock_now_ns() };
	verdict_adopt(bond, slot);
	verdict_set(bond, slot, XBOND_MONITOR_CARRIER, link->carrier);
	slave_adopt(bond, slot, link);
}

/* It stays a slave with the carrier that it had, until slave_lost_look() has an answer. */
static void adopt_unseen(struct bond *bond, unsigned int slot, int r)
{
	const char *name = bond_slave(bond, slot)->name;

	event_warning(bond_pin(bond)->name, name,
		      "the kernel does not say whether %s is there (%s); it stays a slave as it "
		      "was, and bondd asks again",
		      name, strerror(-r));
	dataplane_set_device(&bond->dataplane, slot, (int)bond_slave(bond, slot)->ifindex);
	bond->members[slot] = (struct member){ .since_ns = clock_now_ns(), .is_unseen = true };
	verdict_adopt(bond, slot);
	bond->due.read = true;
}

static void adopt_slave(struct bond *bond, unsigned int slot)
{
	const struct xbond_slave *slave = bond_slave(bond, slot);
	struct link_info link;
	int r;

	if (slave->state == XBOND_SLOT_FREE)
		return;
	r = slave_find_device(bond, slot, &link);
	if (r == -ENODEV) {
		adopt_drop_slave(bond, slot);
	} else if (slave->state != XBOND_SLOT_MEMBER) {
		event_notice(bond_pin(bond)->name, slave->name,
			     "bondd ended while it added or released %s, which is restored",
			     slave->name);
		adopt_take_back_mac(bond, slot);
		slave_undo(bond, slot);
	} else if (r) {
		adopt_unseen(bond, slot, r);
	} else {
		adopt_member(bond, slot, &link);
	}
}

/*
 * Loads the state as the last bondd saw it, so that the first evaluation changes nothing that has
 * not changed.
 */
static void adopt_recall(struct bond *bond)
{
	const struct pins *pins = &bond->dataplane.pins;
	struct link_info port;

	bond->device.away = pins->bond->netnsid >= 0;
	bond->device.port_up =
		!link_get(&bond->daemon->nl, -1, (int)pins->bond->port_ifindex, &port) &&
		(bond_is_team(pins->bond) ? port.carrier : port.flags & IFF_UP);
	fail_over_mac_recall(bond);
}

/* The slaves come first: until their carrier is known, an evaluation would consider them down. */
static void adopt_ready(struct bond *bond)
{
	struct xbond_bond *pin = bond_pin(bond);
	struct err err;

	adopt_recall(bond);
	slave_multicast_open(bond);
	lifecycle_enlist(bond);
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		adopt_slave(bond, slot);
	arp_configure(bond);
	bond_for_each_member (bond, slot)
		slave_rx_check(bond, slot);
	slave_team_keep(bond);
	bypass_read_captures(bond->daemon);
	if (device_sync(bond) == -ENODEV) {
		lifecycle_gone(bond);
		return;
	}
	device_give_mac(bond);
	bond_for_each_member (bond, slot) {
		slave_hooks_settle(bond, slot, true);
		xdp_upgrade_slave(bond, slot);
	}
	slave_multicast_join(bond, bond_members(bond));
	if (xdp_settle_tx(bond, &err))
		event_error(pin->name, NULL, "%s", err.text);
	xdp_upgrade_tx(bond);
	slave_lost_look(bond);
	monitor_bfd_adopt(bond);
	policy_settle_adopted(bond);
	dataplane_claim(&bond->dataplane);
	bond_evaluate(bond);
	dataplane_offer(&bond->dataplane);
	rx_turn_start(bond, NULL);
	if (lifecycle_start(bond, &err))
		event_error(pin->name, NULL, "%s", err.text);
	/* What the threads of LACP and BFD found before the bond was ready, nobody has taken. */
	monitor_bfd_take_news(bond->daemon);
	if (bond_lacp_thread(bond))
		bond_evaluate(bond);
	fail_over_mac_settle(bond);
	parts_hear(bond, PART_BOND, NEWS_LOST, NULL, false);
	pins_keep(bond);
	event_config("adopt", pin->name, NULL, "adopted with %u slaves", bond_slave_count(bond));
}

/*
 * The bond was created or deleted only in part: there was no bond before, or there shall be none.
 */
static void adopt_finish_removal(struct bond *bond)
{
	struct xbond_bond *pin = bond_pin(bond);
	const char *done = pin->state == XBOND_BOND_CREATING ? "created" : "deleted";
	int r = device_remove(&bond->daemon->nl, pin);

	if (r)
		event_error(pin->name, NULL,
			    "bondd ended before it had %s this bond; its device cannot be removed "
			    "(%s), and bondd tries that again",
			    done, strerror(-r));
	else
		event_notice(pin->name, NULL,
			     "bondd ended before it had %s this bond; what there is of it is "
			     "removed",
			     done);
	bond->device.is_left = r;
	slave_multicast_open(bond);
	lifecycle_enlist(bond);
	lifecycle_end(bond, NULL);
}

/*
 * Opens it with the maps and programs of this build, if the kernel takes them; otherwise the bond
 * goes on with its own.
 */
static int adopt_open_pins(struct bond *bond, const char *name, struct err *err)
{
	const char *bpf_dir = bond->daemon->paths.bpf_dir;
	struct dataplane *dataplane = &bond->dataplane;
	struct err why;
	int r = migrate(bpf_dir, name, err);

	if (!r)
		r = dataplane_open_maps(dataplane, bpf_dir, name, err);
	if (!r && link_is_elsewhere(bond->dataplane.pins.table->netns_cookie))
		return err_set(err, EXDEV,
			       "it belongs to another network namespace; start bondd there, or "
			       "give this bondd its own --bpf-dir");
	if (!r && upgrade_pins(dataplane, &why))
		event_error(name, NULL, "continues with the programs of another build: %s",
			    why.text);
	if (!r)
		r = pins_open_added(&dataplane->pins, err);
	return r ? r : dataplane_open_programs(dataplane, err);
}

/*
 * Another build, another namespace, damage, or somebody has removed it. What fails otherwise may
 * succeed the next moment.
 */
static bool adopt_is_final(int r)
{
	return r == -ENOENT || r == -EBADMSG || r == -EPROTO || r == -EXDEV;
}

static int adopt_open(struct daemon *daemon, const char *name, struct bond **ret_bond,
		      struct err *err)
{
	int r = 0;

	for (int try = 0; try < ADOPT_TRIES && !adopt_is_final(r); try++) {
		*ret_bond = lifecycle_new(daemon);
		r = adopt_open_pins(*ret_bond, name, err);
		if (!r)
			break;
		lifecycle_free(*ret_bond, false);
	}
	return r;
}

static int adopt(struct daemon *daemon, const char *name, bool is_again)
{
	struct bond *bond;
	struct err err;
	int r = adopt_open(daemon, name, &bond, &err);

	if (r) {
		if (!is_again || (!memory_is_want(r) && r != -ENOENT))
			event_error(name, NULL, "not adopted: %s", err.text);
		return r;
	}
	bond->dataplane.settled = true; /* adopt_all() has waited */
	if (bond_pin(bond)->state == XBOND_BOND_READY) {
		adopt_ready(bond);
	} else {
		adopt_finish_removal(bond);
	}
	return 0;
}

/* Somebody may have removed its pins, and made another bond of this name. */
static bool adopt_is_another(struct daemon *daemon, const char *name)
{
	return daemon_find_bond(daemon, name) || lifecycle_ending(daemon, name);
}

/* What bondd_start() does when all are adopted. */
static void adopt_go_on(struct daemon *daemon, const char *name)
{
	struct bond *bond;

	config_apply(daemon, name);
	rollback_resume(daemon, name);
	bond = daemon_find_bond(daemon, name);
	if (bond)
		team_ports_look(bond);
}

/* Its record must not be that of a bond that is made with its name. */
static void adopt_give_up(struct daemon *daemon, const char *name)
{
	if (!rollback_left_s(name))
		snapshot_file_remove(&daemon->paths, name);
}

/* Of names, which it takes, daemon keeps those that may be adopted later. */
static void adopt_each(struct daemon *daemon, char **names, bool is_again)
{
	char **left = names;

	daemon->unadopted = NULL; /* names changes */
	for (char **name = names; *name; name++) {
		int r = adopt_is_another(daemon, *name) ? -ENOENT : adopt(daemon, *name, is_again);

		if (!r && is_again)
			adopt_go_on(daemon, *name);
		if (r && is_again && !memory_is_want(r))
			adopt_give_up(daemon, *name);
		if (memory_is_want(r))
			*left++ = *name;
		else
			free(*name);
	}
	*left = NULL;
	daemon->unadopted = names;
}

void adopt_again(struct daemon *daemon)
{
	if (daemon->unadopted && *daemon->unadopted)
		adopt_each(daemon, daemon->unadopted, true);
}

int adopt_all(struct daemon *daemon, struct err *err)
{
	char **names;
	int r;

	pin_dirs_remove_staging(daemon->paths.bpf_dir);
	r = pins_names(&names, daemon->paths.bpf_dir, err);
	if (r)
		return r;
	if (*names)
		dataplane_quiesce();
	adopt_each(daemon, names, false);
	return 0;
}
