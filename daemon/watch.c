/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/watch.h"

#include <errno.h>

#include "common/clock.h"
#include "daemon/alb/alb.h"
#include "daemon/base/event.h"
#include "daemon/base/main_loop.h"
#include "daemon/bfd_thread/bfd_thread.h"
#include "daemon/bond/attach_check.h"
#include "daemon/bond/evaluate.h"
#include "daemon/bond/part.h"
#include "daemon/control/control.h"
#include "daemon/device/device.h"
#include "daemon/handover/handover.h"
#include "daemon/lacp_thread/lacp_thread.h"
#include "daemon/manage/apply.h"
#include "daemon/manage/lifecycle.h"
#include "daemon/monitor/monitor.h"
#include "daemon/slave/slave.h"
#include "daemon/slave/slave_rx.h"
#include "network/link.h"

#define TICK_US 500000
#define TICK_ACCURACY_US 50000
#define TICKS_PER_SYNC 4
#define TICKS_PER_GROUPS 2
#define LOSSES_MAX 10 /* of messages in a tick, before others have their turn */

static bool watch_some_want_direct(const struct daemon *daemon)
{
	for (const struct bond *bond = daemon->bonds; bond; bond = bond->next)
		if (bond_wants_direct(bond))
			return true;
	return false;
}

/* Returns false if the bond is gone and freed. */
static bool watch_sync_device(struct bond *bond)
{
	char before[XBOND_NAME_SIZE];

	memcpy(before, bond_pin(bond)->name, sizeof(before));
	if (device_sync(bond) != -ENODEV) {
		rollback_rename(bond->daemon, before, bond_pin(bond)->name);
		return true;
	}
	rollback_forget(bond_pin(bond)->name);
	lifecycle_gone(bond);
	return false;
}

/* gone: the device may be back by now. */
static void watch_sync_place(struct bond *bond, const struct link_info *link, bool gone)
{
	if (gone)
		device_note_left(bond);
	if (watch_sync_device(bond))
		parts_hear(bond, PART_BOND, NEWS_BOND, link, gone);
}

static void watch_take_stranger(struct bond *bond, const struct link_info *link, bool gone)
{
	int slot = link_has_lower(link) && link->lower_nsid < 0
			   ? bond_slot_by_ifindex(bond, link->lower)
			   : -1;

	if (slot >= 0)
		parts_hear(bond, (unsigned int)slot, NEWS_ON_SLAVE, link, gone);
	else if (!bond->device.away && link_is_on(link, (int)bond_pin(bond)->ifindex))
		parts_hear(bond, PART_BOND, NEWS_ON_BOND, link, gone);
	else
		parts_hear(bond, PART_BOND, NEWS_OTHER, link, gone);
}

static void watch_sync_soon(struct bond *bond)
{
	bond->due.sync = true;
	sd_event_source_set_enabled(bond->daemon->sync, SD_EVENT_ON);
}

/* The message may be old, so the present state counts. */
static void watch_take_gone(struct bond *bond, unsigned int slot, const struct link_info *link)
{
	struct link_info now;
	int r = slave_find_device(bond, slot, &now);

	if (r == -ENODEV) {
		slave_lost(bond, slot, link);
		return;
	}
	if (r)
		bond->due.read = true;
	else
		slave_has_returned(bond, slot, &now);
	watch_sync_soon(bond);
}

static void watch_take_slave(struct bond *bond, unsigned int slot, const struct link_info *link,
			     bool gone)
{
	if (gone) {
		watch_take_gone(bond, slot, link);
	} else if (!slave_has_left(bond, slot, link)) {
		slave_hear(bond, slot, link);
		parts_hear(bond, slot, NEWS_SLAVE, link, false);
	}
}

/* While bond0 is in another namespace, its number here is another device's, or bond0 is back. */
static bool watch_is_bond(struct bond *bond, const struct link_info *link)
{
	const struct xbond_bond *pin = bond_pin(bond);

	return link->ifindex == (int)pin->ifindex &&
	       (!bond->device.away || link->lower == (int)pin->port_ifindex);
}

static void watch_take_link(struct bond *bond, const struct link_info *link, bool gone)
{
	int slot = bond_slot_by_ifindex(bond, link->ifindex);

	client_rounds_note_link(bond, link);
	if (slot >= 0)
		watch_take_slave(bond, (unsigned int)slot, link, gone);
	else if (link->ifindex == (int)bond_pin(bond)->port_ifindex &&
		 !bond_is_team(bond_pin(bond)))
		watch_sync_device(bond);
	else if (watch_is_bond(bond, link))
		watch_sync_place(bond, link, gone);
	else
		watch_take_stranger(bond, link, gone);
}

static void watch_on_link(const struct link_info *link, bool gone, void *arg)
{
	struct daemon *daemon = arg;

	daemon_forget_links(daemon);
	for (struct bond *bond = daemon->bonds, *next; bond; bond = next) {
		next = bond->next;
		watch_take_link(bond, link, gone);
	}
	if (gone)
		return;
	team_ports_take(daemon, link);
	config_link_appeared(daemon, link->name);
}

static void watch_on_qdisc(int ifindex, void *arg)
{
	struct daemon *daemon = arg;

	for (struct bond *bond = daemon->bonds, *next; bond; bond = next) {
		int slot = bond_slot_by_ifindex(bond, ifindex);

		next = bond->next;
		if (slot >= 0) {
			slave_hooks_note(bond, (unsigned int)slot);
			parts_hear(bond, (unsigned int)slot, NEWS_FILTER, NULL, false);
		} else if (ifindex == (int)bond_pin(bond)->port_ifindex &&
			   !bond_is_team(bond_pin(bond))) {
			parts_hear(bond, PART_BOND, NEWS_FILTER, NULL, false);
		} else if (!bond->device.away && ifindex == (int)bond_pin(bond)->ifindex) {
			watch_sync_device(bond);
		}
	}
}

static void watch_note_filter(struct bond *bond, int ifindex, bool changed)
{
	bond_for_each_member (bond, slot) {
		if (ifindex != (int)bond_slave(bond, slot)->ifindex &&
		    ifindex != RTNL_LISTENER_SHARED_BLOCK)
			continue;
		if (changed)
			slave_hooks_note(bond, slot);
		parts_hear(bond, slot, NEWS_FILTER, NULL, false);
	}
}

/* For a block that devices share, the message names no device. */
static void watch_on_filter(int ifindex, unsigned int priority, unsigned int handle, bool gone,
			    void *arg)
{
	struct daemon *daemon = arg;

	for (struct bond *bond = daemon->bonds; bond; bond = bond->next) {
		watch_note_filter(bond, ifindex, !attach_is_our_filter(priority, handle));
		if (ifindex == (int)bond_pin(bond)->ifindex ||
		    ifindex == RTNL_LISTENER_SHARED_BLOCK)
			parts_hear(bond, PART_BOND, NEWS_FILTER, NULL, gone);
	}
	if (gone && attach_is_our_priority(priority))
		watch_on_qdisc(ifindex, arg);
}

static void watch_on_address(const struct address *address, bool gone, void *arg)
{
	struct daemon *daemon = arg;

	for (struct bond *bond = daemon->bonds; bond; bond = bond->next) {
		int slot = bond_slot_by_ifindex(bond, address->ifindex);

		if (slot >= 0)
			parts_hear(bond, (unsigned int)slot, NEWS_ADDRESS, NULL, gone);
		client_rounds_note_address(bond, address, gone);
	}
}

/* Handles one bond after another; the main loop answers to others in between. */
static void watch_sync_all_soon(struct daemon *daemon)
{
	for (struct bond *bond = daemon->bonds; bond; bond = bond->next)
		watch_sync_soon(bond);
}

static void watch_on_resync(void *arg)
{
	struct daemon *daemon = arg;

	if (!daemon->losses++)
		log_info("messages of the kernel about devices were lost; bondd reads all devices "
			 "again");
	daemon_forget_links(daemon);
	for (struct bond *bond = daemon->bonds; bond; bond = bond->next)
		bond->due.read = true;
	watch_sync_all_soon(daemon);
	config_look_again(daemon);
}

static const struct rtnl_listener_callbacks callbacks = {
	.link = watch_on_link,
	.qdisc = watch_on_qdisc,
	.filter = watch_on_filter,
	.address = watch_on_address,
	.resync = watch_on_resync,
};

static void watch_read_messages(struct daemon *daemon)
{
	latency_note("messages");
	burst_begin(daemon);
	rtnl_listener_read(&daemon->listener);
	burst_end(daemon);
	/* A capture usually makes a device promiscuous, which causes a message. */
	if (watch_some_want_direct(daemon))
		bypass_read_captures(daemon);
}

/* What is lost again and again must not keep requests waiting. */
static int watch_on_monitor(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct daemon *daemon = arg;

	watch_read_messages(daemon);
	if (daemon->losses > LOSSES_MAX) {
		sd_event_source_set_enabled(source, SD_EVENT_OFF);
		daemon->paused = source;
	}
	return 0;
}

static void watch_resume(struct daemon *daemon)
{
	daemon->losses = 0;
	if (daemon->paused)
		sd_event_source_set_enabled(daemon->paused, SD_EVENT_ON);
	daemon->paused = NULL;
}

static int watch_on_kept(sd_event_source *source, void *arg)
{
	struct daemon *daemon = arg;

	sd_event_source_set_enabled(source, daemon->listener.kept ? SD_EVENT_ON : SD_EVENT_OFF);
	watch_read_messages(daemon);
	return 0;
}

/* Called after messages were lost. */
static void watch_read_again(struct bond *bond)
{
	slave_lost_look(bond);
	parts_hear(bond, PART_BOND, NEWS_LOST, NULL, false);
	device_note_left(bond);
	team_ports_look(bond);
}

/* Checks what the kernel may not have reported. A bond that is gone is freed. */
static void watch_sync_bond(struct bond *bond)
{
	bool read_due = bond->due.read;

	bond->due.sync = bond->due.read = false;
	if (read_due)
		watch_read_again(bond);
	bond_for_each_member (bond, slot) /* some drivers change the speed without a message */
		poll_want_speed(bond, slot);
	if (watch_sync_device(bond))
		parts_hear(bond, PART_BOND, NEWS_TIME, NULL, false);
}

static struct bond *watch_next_to_sync(struct daemon *daemon)
{
	struct bond *bond = daemon->bonds;

	while (bond && !bond->due.sync)
		bond = bond->next;
	return bond;
}

static int watch_on_sync(sd_event_source *source, void *arg)
{
	uint64_t end_ns = clock_now_ns() + LATENCY_SLICE_NS;
	struct daemon *daemon = arg;
	struct bond *bond;

	latency_note("devices");
	burst_begin(daemon);
	do {
		bond = watch_next_to_sync(daemon);
		if (bond)
			watch_sync_bond(bond);
	} while (bond && clock_now_ns() < end_ns);
	burst_end(daemon);
	if (!bond)
		sd_event_source_set_enabled(source, SD_EVENT_OFF);
	return 0;
}

/* What parts of bonds have heard of. */
static int watch_on_settle(sd_event_source *source, void *arg)
{
	uint64_t end_ns = clock_now_ns() + LATENCY_SLICE_NS;
	struct daemon *daemon = arg;
	bool more = false;

	latency_note("settle");
	burst_begin(daemon);
	for (struct bond *bond = daemon->bonds; bond; bond = bond->next)
		more |= bond_is_ready(bond) && parts_settle(bond, end_ns);
	burst_end(daemon);
	if (!more) {
		sd_event_source_set_enabled(source, SD_EVENT_OFF);
		daemon_forget_links(daemon);
	}
	return 0;
}

static int watch_on_tick(sd_event_source *source, uint64_t usec, void *arg)
{
	static unsigned int ticks;
	struct daemon *daemon = arg;

	latency_note("tick");
	if (!daemon->paused)
		daemon->caught_up_ns = clock_now_ns(); /* messages go first */
	pulse_beat();
	watch_resume(daemon);
	lifecycle_tick(daemon);
	for (struct bond *bond = daemon->bonds; bond; bond = bond->next) {
		dataplane_beat(&bond->dataplane);
		slave_undo_left(bond);
		if (bond->device.mac_is_lent && !bond_slave_count(bond))
			device_take_back_mac(bond);
		rx_turn_step(bond);
		learning_settle(bond);
		parts_hear(bond, PART_BOND, NEWS_TICK, NULL, false);
		client_rounds_settle(bond);
	}
	wake_settle(daemon);
	burst_settle(daemon);
	bypass_read_captures(daemon);
	config_wait_tick(daemon);
	handover_recover(daemon, true);
	if (ticks % TICKS_PER_GROUPS == 0) {
		sd_event_source_set_enabled(daemon->groups, SD_EVENT_ONESHOT);
		control_keep(daemon);
	}
	if (ticks++ % TICKS_PER_SYNC == 0) {
		adopt_again(daemon);
		watch_sync_all_soon(daemon);
	}
	sd_event_source_set_time_relative(source, TICK_US);
	return 0;
}

static int watch_on_lacp(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	return burst_run(arg, "lacp", lacp_news_take);
}

static int watch_on_bfd(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	return burst_run(arg, "bfd", monitor_bfd_take_news);
}

static int watch_on_groups(sd_event_source *source, void *arg)
{
	latency_note("groups");
	slave_multicast_settle(arg);
	return 0;
}

int watch_init(struct daemon *daemon)
{
	sd_event_source *tick = NULL;
	int r;

	r = rtnl_listener_init(&daemon->listener, &callbacks, daemon);
	if (r)
		return r;
	r = loop_watch_first(daemon->event, rtnl_listener_fd(&daemon->listener), watch_on_monitor,
			     daemon);
	if (!r)
		r = loop_watch_first(daemon->event, daemon->lacp_thread->news_fd, watch_on_lacp,
				     daemon);
	if (!r)
		r = loop_watch_first(daemon->event, daemon->bfd_thread->news_fd, watch_on_bfd,
				     daemon);
	if (!r)
		r = loop_defer(daemon->event, watch_on_sync, daemon, &daemon->sync);
	if (!r)
		r = loop_defer(daemon->event, watch_on_settle, daemon, &daemon->settle);
	if (!r)
		r = loop_defer(daemon->event, watch_on_groups, daemon, &daemon->groups);
	if (!r)
		r = loop_defer(daemon->event, watch_on_kept, daemon, &daemon->kept);
	if (r)
		return r;
	sd_event_source_set_priority(daemon->kept, SD_EVENT_PRIORITY_IMPORTANT);
	r = loop_timer(daemon->event, TICK_ACCURACY_US, watch_on_tick, daemon, &tick);
	if (r)
		return r;
	sd_event_source_set_time_relative(tick, 0);
	sd_event_source_set_floating(tick, true);
	sd_event_source_unref(tick);
	return 0;
}

void watch_done(struct daemon *daemon)
{
	daemon_forget_links(daemon);
	daemon->sync = sd_event_source_disable_unref(daemon->sync);
	daemon->settle = sd_event_source_disable_unref(daemon->settle);
	daemon->groups = sd_event_source_disable_unref(daemon->groups);
	daemon->kept = sd_event_source_disable_unref(daemon->kept);
	rtnl_listener_done(&daemon->listener);
}
