/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/slots.h"
#include "daemon/alb/alb.h"
#include "daemon/manage/lifecycle.h"

#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/mac.h"
#include "common/memory.h"
#include "common/mode.h"
#include "common/readings.h"
#include "daemon/announce/announce.h"
#include "daemon/base/crashpoint.h"
#include "daemon/base/event.h"
#include "daemon/base/main_loop.h"
#include "daemon/bond/attach_check.h"
#include "daemon/bond/awaited.h"
#include "daemon/bond/evaluate.h"
#include "daemon/bond/part.h"
#include "daemon/bond/port_hooks.h"
#include "daemon/dataplane/dataplane_pins.h"
#include "daemon/device/device.h"
#include "daemon/monitor/monitor.h"
#include "daemon/slave/slave.h"
#include "daemon/slave/slave_rx.h"
#include "daemon/slave/xdp_hooks.h"
#include "options/names.h"

#define ADOPT_TRIES 3

static struct bond *lifecycle_new_bond(struct daemon *daemon)
{
	struct bond *bond = memory_need(calloc(1, sizeof(*bond)));

	bond->daemon = daemon;
	dataplane_clear(&bond->dataplane);
	parts_new(bond);
	return bond;
}

/* is_over: nothing is left for a next bondd. */
static void lifecycle_free_bond(struct bond *bond, bool is_over)
{
	parts_stop(bond, is_over);
	parts_free(bond);
	if (is_over)
		dataplane_remove(&bond->dataplane, bond->daemon->paths.bpf_dir);
	else
		dataplane_close(&bond->dataplane);
	free(bond);
}

static void lifecycle_enlist(struct bond *bond)
{
	bond->next = bond->daemon->bonds;
	bond->daemon->bonds = bond;
	poll_schedule(bond);
	quality_schedule(bond);
	wake_add(bond);
}

static void lifecycle_delist(struct bond *bond)
{
	struct bond **at = &bond->daemon->bonds;

	wake_remove(bond);
	while (*at && *at != bond)
		at = &(*at)->next;
	if (*at)
		*at = bond->next;
}

static int lifecycle_refuse_ending(struct bond *bond, struct err *err)
{
	char left[RESTORED_TEXT_SIZE];

	return err_set(err, EAGAIN,
		       "%s is deleted, but not all of its slaves are as before (%s); "
		       "bondd tries it again",
		       bond_pin(bond)->name, restored_left_of(&bond->dataplane.pins, left));
}

static struct bond **lifecycle_find_ending(struct daemon *daemon, const char *name)
{
	struct bond **at = &daemon->ending;

	while (*at && strcmp(bond_pin(*at)->name, name))
		at = &(*at)->next;
	return at;
}

struct bond *lifecycle_ending(struct daemon *daemon, const char *name)
{
	return *lifecycle_find_ending(daemon, name);
}

int lifecycle_check_ending(struct daemon *daemon, const char *name, struct err *err)
{
	struct bond **at = lifecycle_find_ending(daemon, name);

	return *at ? lifecycle_refuse_ending(*at, err) : 0;
}

static int lifecycle_check_new_name(struct daemon *daemon, const char *name, struct err *err)
{
	struct link_info link;
	char path[PATH_MAX];
	int r;

	if (name_check("bond", name, err))
		return -EINVAL;
	pins_path(path, sizeof(path), daemon->paths.bpf_dir, name);
	r = lifecycle_check_ending(daemon, name, err);
	if (r)
		return r;
	if (daemon_find_bond(daemon, name))
		return err_set(err, EEXIST,
			       "the bond %s exists already; 'bondctl show %s' shows it", name,
			       name);
	if (!link_get_by_name(&daemon->nl, name, &link))
		return err_set(err, EEXIST,
			       "the name %s is taken by a network device; choose another", name);
	if (!access(path, F_OK))
		return err_set(err, EEXIST,
			       "pins are in the way in %s, of no bond that bondd could adopt (its "
			       "log says why); " PINS_REMOVE,
			       path, path);
	return 0;
}

static int lifecycle_start(struct bond *bond, struct err *err)
{
	int r = parts_start(bond);

	return r ? err_set(err, -r, "cannot make a timer: %s", strerror(-r)) : 0;
}

int lifecycle_create(struct daemon *daemon, const struct xbond_bond *options,
		     const struct xbond_settings *settings, struct err *err)
{
	struct xbond_bond first = *options;
	struct bond *bond;
	int r;

	r = lifecycle_check_new_name(daemon, first.name, err);
	if (!r)
		r = device_port_name(&daemon->nl, first.name, first.port_name, err);
	if (r)
		return r;
	first.magic = XBOND_ABI_MAGIC;
	first.abi_version = XBOND_ABI_VERSION;
	first.state = XBOND_BOND_CREATING;
	first.netnsid = -1;
	first.active_slot = XBOND_NO_SLOT;
	device_choose(&daemon->nl, &first);
	mac_random(first.random_mac);
	memcpy(first.mac, first.random_mac, XBOND_MAC_SIZE);
	bond = lifecycle_new_bond(daemon);
	bond->device.is_down = true; /* like every new device; a message tells when it is up */
	r = dataplane_create(&bond->dataplane, daemon->paths.bpf_dir, &first, settings, err);
	if (r) {
		lifecycle_free_bond(bond, false);
		return r;
	}
	bond->dataplane.settled = true; /* none of its programs runs yet */
	slave_multicast_open(bond);
	r = device_create(bond, err);
	if (!r)
		r = port_hooks_attach(bond, err);
	if (!r && bond_pin(bond)->xdp_tx)
		r = xdp_settle_tx(bond, err);
	if (!r)
		r = lifecycle_start(bond, err);
	if (r) {
		if (device_remove(&daemon->nl, bond_pin(bond)))
			event_warning(first.name, NULL, "a device of it may be left: %s",
				      bond_pin(bond)->port_name);
		lifecycle_free_bond(bond, true);
		return r;
	}
	bond_pin(bond)->state = XBOND_BOND_READY;
	lifecycle_enlist(bond);
	arp_configure(bond);
	bond_evaluate(bond);
	dataplane_offer(&bond->dataplane);
	dataplane_beat(&bond->dataplane);
	pins_keep(bond);
	event_config("create", first.name, NULL, "created, mode %s", mode_name(first.mode));
	return 0;
}

/*
 * The device is gone already. -EAGAIN: slaves are not as before. Their record stays, so that this
 * bondd, or the next one, tries again.
 */
static int lifecycle_end(struct bond *bond, struct err *err)
{
	struct daemon *daemon = bond->daemon;

	bond->device.port_up = false;
	bond_pin(bond)->carrier = false;
	slave_release(bond, UINT64_MAX);
	awaited_remove(bond, NULL);
	announce_no_more(daemon->announcer, (int)bond_pin(bond)->port_ifindex);
	lifecycle_delist(bond);
	if (!bond_slave_count(bond)) {
		lifecycle_free_bond(bond, true);
		return 0;
	}
	parts_stop(bond, true);
	bond->next = daemon->ending;
	daemon->ending = bond;
	return lifecycle_refuse_ending(bond, err);
}

/* Returns false if there is more to do. */
static bool lifecycle_end_again(struct bond **at)
{
	struct bond *bond = *at;

	if (slave_undo_left(bond))
		return false;
	*at = bond->next;
	lifecycle_free_bond(bond, true);
	return true;
}

void lifecycle_tick(struct daemon *daemon)
{
	struct bond **at = &daemon->ending;

	while (*at) {
		dataplane_beat(&(*at)->dataplane);
		if (!lifecycle_end_again(at))
			at = &(*at)->next;
	}
}

int lifecycle_delete_again(struct daemon *daemon, const char *name, struct err *err)
{
	struct bond **at = lifecycle_find_ending(daemon, name);

	if (!*at)
		return -ENOENT;
	slave_undo_now(*at);
	return lifecycle_end_again(at) ? 0 : lifecycle_refuse_ending(*at, err);
}

struct pair_deletion {
	int port_ifindex, result;
	struct err *err;
};

static void lifecycle_do_delete_pair(void *arg)
{
	struct pair_deletion *deletion = arg;
	struct nl nl;

	deletion->result = nl_init(&nl);
	if (deletion->result) {
		err_set(deletion->err, -deletion->result, "cannot open a netlink socket: %s",
			strerror(-deletion->result));
		return;
	}
	deletion->result = link_delete(&nl, deletion->port_ifindex, deletion->err);
	nl_done(&nl);
}

/* The kernel also deletes the devices on the bond: some 50 ms for 300 of them. */
static int lifecycle_delete_pair(struct bond *bond, struct err *err)
{
	struct pair_deletion deletion = { .port_ifindex = (int)bond_pin(bond)->port_ifindex,
					  .err = err };

	idle_run(lifecycle_do_delete_pair, &deletion);
	return deletion.result;
}

int lifecycle_delete(struct bond *bond, struct err *err)
{
	struct xbond_bond *pin = bond_pin(bond);
	int r;

	pin->state = XBOND_BOND_DELETING;
	crashpoint("delete-started");
	/* Both tell the far ends. A team's ports go down with the team, so not afterwards. */
	bond_lacp_stop(bond, true);
	bond_bfd_stop(bond, true);
	r = lifecycle_delete_pair(bond, err);
	if (r && r != -ENODEV) {
		pin->state = XBOND_BOND_READY;
		bond_evaluate(bond);
		return r;
	}
	event_config("delete", pin->name, NULL, "deleted");
	return lifecycle_end(bond, err);
}

void lifecycle_gone(struct bond *bond)
{
	event_config("delete", bond_pin(bond)->name, NULL,
		     "the device was deleted%s; its slaves are released",
		     bond->device.away ? " with the namespace it was in" : "");
	bond_pin(bond)->state = XBOND_BOND_DELETING;
	bond_for_each_member (bond, slot)
		slave_keep_used(bond, slot);
	lifecycle_end(bond, NULL);
}

static bool lifecycle_has_members(struct bond *bond)
{
	bond_for_each_member (bond, slot)
		return true;
	return false;
}

/* The bond has taken the MAC of its first slave, which then did not become one. */
static void lifecycle_take_back_mac(struct bond *bond, unsigned int slot)
{
	struct xbond_bond *pin = bond_pin(bond);
	const struct xbond_slave *slave = bond_slave(bond, slot);

	if (slave->state == XBOND_SLOT_ENSLAVING && !lifecycle_has_members(bond) &&
	    !memcmp(pin->mac, slave->before.mac, XBOND_MAC_SIZE))
		device_set_mac(bond, pin->random_mac, NULL);
}

static void lifecycle_drop_slave(struct bond *bond, unsigned int slot)
{
	const struct xbond_slave *slave = bond_slave(bond, slot);

	event_config("del-slave", bond_pin(bond)->name, slave->name, "slave %s has gone",
		     slave->name);
	slave_lost_tell_mac(bond, slot);
	if (slave->state == XBOND_SLOT_MEMBER)
		awaited_slave_lost(bond, slot);
	slave_forget(bond, slot);
}

static void lifecycle_adopt_member(struct bond *bond, unsigned int slot,
				   const struct link_info *link)
{
	dataplane_set_device(&bond->dataplane, slot, (int)bond_slave(bond, slot)->ifindex);
	bond->members[slot] = (struct member){ .since_ns = clock_now_ns() };
	verdict_adopt(bond, slot);
	verdict_set(bond, slot, XBOND_MONITOR_CARRIER, link->carrier);
	slave_adopt(bond, slot, link);
}

/* It stays a slave with the carrier that it had, until slave_lost_look() has an answer. */
static void lifecycle_adopt_unseen(struct bond *bond, unsigned int slot, int r)
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

static void lifecycle_adopt_slave(struct bond *bond, unsigned int slot)
{
	const struct xbond_slave *slave = bond_slave(bond, slot);
	struct link_info link;
	int r;

	if (slave->state == XBOND_SLOT_FREE)
		return;
	r = slave_find_device(bond, slot, &link);
	if (r == -ENODEV) {
		lifecycle_drop_slave(bond, slot);
	} else if (slave->state != XBOND_SLOT_MEMBER) {
		event_notice(bond_pin(bond)->name, slave->name,
			     "bondd ended while it added or released %s, which is restored",
			     slave->name);
		lifecycle_take_back_mac(bond, slot);
		slave_undo(bond, slot);
	} else if (r) {
		lifecycle_adopt_unseen(bond, slot, r);
	} else {
		lifecycle_adopt_member(bond, slot, &link);
	}
}

static bool lifecycle_is_in_other_netns(struct bond *bond)
{
	uint64_t here = dataplane_netns_cookie(), theirs = bond->dataplane.pins.table->netns_cookie;

	return here && theirs && here != theirs;
}

/*
 * Loads the state as the last bondd saw it, so that the first evaluation changes nothing that has
 * not changed.
 */
static void lifecycle_recall(struct bond *bond)
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
static void lifecycle_adopt_ready(struct bond *bond)
{
	struct xbond_bond *pin = bond_pin(bond);
	uint64_t members = 0;
	struct err err;

	lifecycle_recall(bond);
	slave_multicast_open(bond);
	lifecycle_enlist(bond);
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		lifecycle_adopt_slave(bond, slot);
	arp_configure(bond);
	bond_for_each_member (bond, slot)
		slave_rx_check(bond, slot);
	slave_team_keep(bond);
	bypass_read_captures(bond->daemon);
	if (device_sync(bond) == -ENODEV) {
		lifecycle_gone(bond);
		return;
	}
	device_adopt_mac(bond);
	bond_for_each_member (bond, slot) {
		members |= slots_bit(slot);
		slave_hooks_settle(bond, slot, true);
		xdp_upgrade_slave(bond, slot);
		slave_rx_skip_backlog(bond, slot);
	}
	slave_multicast_join(bond, members);
	if (xdp_settle_tx(bond, &err))
		event_error(pin->name, NULL, "%s", err.text);
	xdp_upgrade_tx(bond);
	slave_lost_look(bond);
	monitor_bfd_adopt(bond);
	policy_settle_adopted(bond);
	bond_evaluate(bond);
	dataplane_offer(&bond->dataplane);
	rx_turn_start(bond, NULL);
	if (lifecycle_start(bond, &err))
		event_error(pin->name, NULL, "%s", err.text);
	/* What the threads of LACP and BFD found before the bond was ready, nobody has taken. */
	monitor_bfd_take_news(bond->daemon);
	if (bond->lacp.thread)
		bond_evaluate(bond);
	fail_over_mac_settle(bond);
	parts_hear(bond, PART_BOND, NEWS_LOST, NULL, false);
	pins_keep(bond);
	event_config("adopt", pin->name, NULL, "adopted with %u slaves", bond_slave_count(bond));
}

/*
 * The bond was created or deleted only in part: there was no bond before, or there shall be none.
 */
static void lifecycle_finish_removal(struct bond *bond)
{
	struct xbond_bond *pin = bond_pin(bond);
	const char *done = pin->state == XBOND_BOND_CREATING ? "made" : "deleted";
	int r = device_remove(&bond->daemon->nl, pin);

	if (r) {
		event_error(pin->name, NULL,
			    "bondd ended while it %s this bond, whose device cannot be removed "
			    "(%s); bondd tries again at its next start",
			    done, strerror(-r));
		lifecycle_free_bond(bond, false);
		return;
	}
	event_notice(pin->name, NULL,
		     "bondd ended while it %s this bond; the rest of it is removed", done);
	slave_multicast_open(bond);
	lifecycle_enlist(bond);
	lifecycle_end(bond, NULL);
}

/*
 * Opens it with the maps and programs of this build, if the kernel takes them; otherwise the bond
 * goes on with its own.
 */
static int lifecycle_open_pins(struct bond *bond, const char *name, struct err *err)
{
	const char *bpf_dir = bond->daemon->paths.bpf_dir;
	struct dataplane *dataplane = &bond->dataplane;
	struct err why;
	int r = migrate(bpf_dir, name, err);

	if (!r)
		r = dataplane_open_maps(dataplane, bpf_dir, name, err);
	if (!r && lifecycle_is_in_other_netns(bond))
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

/* Another build, another namespace, or damage. */
static bool lifecycle_is_final(int r)
{
	return r == -EBADMSG || r == -EPROTO || r == -EXDEV;
}

/* What fails for want of memory or descriptors may succeed the next moment. */
static struct bond *lifecycle_open(struct daemon *daemon, const char *name, struct err *err)
{
	int r = 0;

	for (int try = 0; try < ADOPT_TRIES && !lifecycle_is_final(r); try++) {
		struct bond *bond = lifecycle_new_bond(daemon);

		r = lifecycle_open_pins(bond, name, err);
		if (!r)
			return bond;
		lifecycle_free_bond(bond, false);
	}
	return NULL;
}

static void lifecycle_adopt(struct daemon *daemon, const char *name)
{
	struct err err;
	struct bond *bond = lifecycle_open(daemon, name, &err);

	if (!bond) {
		event_error(name, NULL, "not adopted: %s", err.text);
		return;
	}
	bond->dataplane.settled = true; /* lifecycle_adopt_all() has waited */
	if (bond_pin(bond)->state == XBOND_BOND_READY) {
		lifecycle_adopt_ready(bond);
	} else {
		lifecycle_finish_removal(bond);
	}
}

int lifecycle_adopt_all(struct daemon *daemon, struct err *err)
{
	char **names;
	int r;

	pin_dirs_remove_staging(daemon->paths.bpf_dir);
	r = pins_names(&names, daemon->paths.bpf_dir, err);
	if (r)
		return r;
	if (*names)
		dataplane_quiesce();
	for (char **name = names; *name; name++)
		lifecycle_adopt(daemon, *name);
	pins_names_free(names);
	return 0;
}

void lifecycle_let_go(struct daemon *daemon)
{
	awaited_free_all(daemon);
	while (daemon->bonds) {
		struct bond *bond = daemon->bonds;

		dataplane_stop_beating(&bond->dataplane);
		lifecycle_delist(bond);
		lifecycle_free_bond(bond, false);
	}
	while (daemon->ending) {
		struct bond *bond = daemon->ending;

		daemon->ending = bond->next;
		dataplane_stop_beating(&bond->dataplane);
		lifecycle_free_bond(bond, false);
	}
}
