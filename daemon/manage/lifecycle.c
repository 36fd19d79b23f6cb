/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/alb/alb.h"
#include "daemon/manage/lifecycle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
#include "daemon/dataplane/dataplane_pins.h"
#include "daemon/device/device.h"
#include "daemon/monitor/monitor.h"
#include "daemon/slave/slave.h"
#include "daemon/slave/slave_rx.h"
#include "network/bonding.h"
#include "options/names.h"

struct bond *lifecycle_new(struct daemon *daemon)
{
	struct bond *bond = memory_need(calloc(1, sizeof(*bond)));

	bond->daemon = daemon;
	dataplane_clear(&bond->dataplane);
	parts_new(bond);
	return bond;
}

void lifecycle_free(struct bond *bond, bool is_over)
{
	parts_stop(bond, is_over);
	parts_free(bond);
	if (is_over)
		dataplane_remove(&bond->dataplane);
	else
		dataplane_close(&bond->dataplane);
	free(bond);
}

void lifecycle_enlist(struct bond *bond)
{
	bond->next = bond->daemon->bonds;
	bond->daemon->bonds = bond;
	poll_schedule(bond);
	quality_schedule(bond);
	wake_add(bond);
}

static void lifecycle_delist(struct bond *bond)
{
	wake_remove(bond);
	memory_unlist(bond->daemon->bonds, bond);
}

static int lifecycle_refuse_ending(struct bond *bond, struct err *err)
{
	char left[RESTORED_TEXT_SIZE];

	if (bond->device.is_left)
		return err_set(err, EAGAIN,
			       "the device of %s could not be removed; bondd tries it again",
			       bond_pin(bond)->name);
	if (!bond_slave_count(bond))
		return err_set(err, EAGAIN,
			       "the pins of %s could not be removed; bondd tries it again",
			       bond_pin(bond)->name);
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

int lifecycle_check_pins(struct daemon *daemon, const char *name, struct err *err)
{
	char path[PATH_MAX];
	struct pins pins;
	bool is_elsewhere;

	pins_path(path, sizeof(path), daemon->paths.bpf_dir, name);
	if (access(path, F_OK))
		return 0;
	if (daemon_is_unadopted(daemon, name))
		return err_set(err, EAGAIN,
			       "%s is not adopted yet, because the kernel had no room for it: "
			       "bondd's log says what for, and bondd tries it again; free memory "
			       "or file descriptors",
			       name);
	if (!pins_open(&pins, daemon->paths.bpf_dir, name, NULL)) {
		is_elsewhere = link_is_elsewhere(pins.table->netns_cookie);
		pins_close(&pins);
		if (is_elsewhere)
			return err_set(err, EXDEV,
				       "%s is a bond of another network namespace; use the bondd "
				       "of that, or give this one its own --bpf-dir; if that "
				       "namespace has gone, remove %s",
				       name, path);
	}
	return err_set(err, EEXIST,
		       "%s has BPF maps of an earlier bond of this name, which bondd cannot "
		       "continue (its log says why); " PINS_REMOVE,
		       path, path);
}

/* The kernel's module makes a bond0 of its own when it is loaded, and so does a tool's old file. */
static int lifecycle_refuse_name(const struct link_info *link, struct err *err)
{
	const char *name = link->name;

	if (strcmp(link->kind, "bond") && strcmp(link->kind, TEAM_KIND))
		return err_set(err, EEXIST,
			       "the name %s is taken by a network device; choose another", name);
	return err_set(err, EEXIST,
		       "%s is there already, as a %s; 'bondctl takeover %s' makes it a bond of "
		       "xbond, 'ip link delete %s' removes it",
		       name, strcmp(link->kind, "bond") ? "team" : "bond of the kernel", name,
		       name);
}

static int lifecycle_check_new_name(struct daemon *daemon, const char *name, struct err *err)
{
	struct link_info link;
	int r;

	if (name_check("bond", name, err))
		return -EINVAL;
	r = lifecycle_check_ending(daemon, name, err);
	if (r)
		return r;
	if (daemon_find_bond(daemon, name))
		return err_set(err, EEXIST,
			       "the bond %s exists already; 'bondctl show %s' shows it", name,
			       name);
	r = lifecycle_check_pins(daemon, name, err); /* its device is probably there, too */
	if (r)
		return r;
	return link_get_by_name(&daemon->nl, name, &link) ? 0 : lifecycle_refuse_name(&link, err);
}

int lifecycle_start(struct bond *bond, struct err *err)
{
	int r = parts_start(bond);

	return r ? err_set(err, -r, "cannot make a timer: %s", strerror(-r)) : 0;
}

/* Until its slaves and its device are as before, it keeps its pins. */
static void lifecycle_end_later(struct bond *bond)
{
	parts_stop(bond, true);
	bond->next = bond->daemon->ending;
	bond->daemon->ending = bond;
}

/* Of a bond that was made only in part, or deleted only in part by an earlier bondd. */
static int lifecycle_remove_left(struct bond *bond)
{
	int r = bond->device.is_left ? device_remove(&bond->daemon->nl, bond_pin(bond)) : 0;

	bond->device.is_left = r;
	return r;
}

/* Removes what is there but slaves. Returns false if there is more to do. */
static bool lifecycle_is_gone(struct bond *bond)
{
	return !lifecycle_remove_left(bond) &&
	       !dataplane_withdraw(&bond->dataplane, bond->daemon->paths.bpf_dir);
}

int lifecycle_create(struct daemon *daemon, const struct xbond_bond *options,
		     const struct xbond_settings *settings, struct err *err)
{
	struct xbond_bond first = *options;
	struct bond *bond;
	struct err left;
	int r;

	r = lifecycle_check_new_name(daemon, first.name, err);
	if (!r)
		r = device_port_name(&daemon->nl, first.name, "", first.port_name, err);
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
	bond = lifecycle_new(daemon);
	bond->device.is_down = true; /* like every new device; a message tells when it is up */
	r = dataplane_create(&bond->dataplane, daemon->paths.bpf_dir, &first, settings, err);
	if (r) {
		lifecycle_free(bond, false);
		return r;
	}
	bond->dataplane.settled = true; /* none of its programs runs yet */
	slave_multicast_open(bond);
	r = device_create(bond, err);
	if (r == -EEXIST)
		err_set(err, EEXIST,
			"somebody else has just made a device with the name %s, or with that of "
			"its port side; try again",
			first.name);
	if (!r)
		r = port_hooks_attach(bond, err);
	if (!r && bond_pin(bond)->xdp_tx)
		r = xdp_settle_tx(bond, err);
	if (!r)
		r = lifecycle_start(bond, err);
	bond->device.is_left = r;
	if (r && !lifecycle_is_gone(bond)) {
		lifecycle_refuse_ending(bond, &left);
		event_warning(first.name, NULL, "%s", left.text);
		lifecycle_end_later(bond);
		return r;
	} else if (r) {
		lifecycle_free(bond, true);
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

int lifecycle_end(struct bond *bond, struct err *err)
{
	bond->is_over = true;
	bond->device.port_up = false;
	bond_pin(bond)->carrier = false;
	slave_release(bond, UINT64_MAX);
	awaited_remove(bond, NULL);
	announce_no_more(bond->daemon->announcer, (int)bond_pin(bond)->port_ifindex);
	lifecycle_delist(bond);
	if (!bond_slave_count(bond) && lifecycle_is_gone(bond)) {
		lifecycle_free(bond, true);
		return 0;
	}
	lifecycle_end_later(bond);
	return lifecycle_refuse_ending(bond, err);
}

/* Returns false if there is more to do. */
static bool lifecycle_end_again(struct bond **at)
{
	struct bond *bond = *at;

	if (slave_undo_left(bond) || !lifecycle_is_gone(bond))
		return false;
	*at = bond->next;
	lifecycle_free(bond, true);
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

/* It is alone then. */
static bool lifecycle_has_device(struct bond *bond)
{
	const struct xbond_bond *pin = bond_pin(bond);
	struct link_info device;

	return !bond_is_team(pin) &&
	       !link_get(&bond->daemon->nl, pin->netnsid, (int)pin->ifindex, &device) &&
	       link_is_paired(&device) && !strcmp(device.name, pin->name);
}

void lifecycle_gone(struct bond *bond)
{
	const struct xbond_bond *pin = bond_pin(bond);

	if (lifecycle_has_device(bond))
		event_config("delete", pin->name, NULL,
			     "its port side %s was moved to another namespace; its slaves are "
			     "released; 'ip link del %s' removes what is left",
			     pin->port_name, pin->name);
	else
		event_config("delete", pin->name, NULL,
			     "the device was deleted%s; its slaves are released",
			     bond->device.away ? " with the namespace it was in" : "");
	bond_pin(bond)->state = XBOND_BOND_DELETING;
	bond_for_each_member (bond, slot)
		slave_keep_used(bond, slot);
	lifecycle_end(bond, NULL);
}

void lifecycle_let_go(struct daemon *daemon)
{
	awaited_free_all(daemon);
	while (daemon->bonds) {
		struct bond *bond = daemon->bonds;

		dataplane_stop_beating(&bond->dataplane);
		lifecycle_delist(bond);
		lifecycle_free(bond, false);
	}
	while (daemon->ending) {
		struct bond *bond = daemon->ending;

		daemon->ending = bond->next;
		dataplane_stop_beating(&bond->dataplane);
		lifecycle_free(bond, false);
	}
}
