/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/announce/announce.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/memory.h"
#include "daemon/base/worker.h"
#include "network/link.h"
#include "network/packet.h"

#define SLICE_NS (2 * NS_PER_MS)	/* time of sending without a pause */
#define REST_NS ((long)(1 * NS_PER_MS)) /* pause after it, for everybody else */

/* What is announced several times, and when it is due again. */
struct announce_series {
	unsigned int left;
	uint64_t delay_ns, next_ns;
	bool is_due; /* in this round */
};

struct announcement {
	struct announcement *next;
	int port_ifindex; /* the port side of the bond */
	struct announce_series addresses, groups;
	bool machines; /* those behind bridges, instead of the bond and the devices on it */
	bool dropped;  /* atomic: stops what is not sent yet */
	int *reached;  /* devices of bondd's namespace that belong to it */
	size_t reached_count;
};

/*
 * One round: finds out what to announce, and sends it with pauses. It begins in bondd's own
 * namespace and goes on to others that have devices on the bonds.
 */

/* One run of the thread: what all its announcements share. */
struct round {
	struct announcement *announcements;
	struct announce_survey survey; /* of the namespace that is being worked on */
	struct nl *nl;		       /* there */
	size_t *places;		       /* room for one entry per device */
	int fd;			       /* a packet socket there */
	uint64_t slice_ns;	       /* when the present slice began */
};

static bool announce_is_dropped(const struct announcement *announcement)
{
	return __atomic_load_n(&announcement->dropped, __ATOMIC_RELAXED);
}

static void announce_pace(struct round *round)
{
	static const struct timespec rest = { .tv_nsec = REST_NS };

	if (clock_now_ns() - round->slice_ns < SLICE_NS)
		return;
	nanosleep(&rest, NULL);
	round->slice_ns = clock_now_ns();
}

/* The device's own addresses that are the sources of its reports. */
struct sources {
	uint8_t ipv4[4];
	uint8_t ipv6[16];
};

static void announce_note_source(const struct announce_item *item, struct sources *sources)
{
	if (item->what == ANNOUNCE_IPV4)
		memcpy(sources->ipv4, item->bytes, sizeof(sources->ipv4));
	else if (item->what == ANNOUNCE_IPV6 && item->is_link_local && !item->is_optimistic)
		memcpy(sources->ipv6, item->bytes, sizeof(sources->ipv6));
}

static bool announce_is_group(const struct announce_item *item)
{
	return item->what == ANNOUNCE_GROUP_IPV4 || item->what == ANNOUNCE_GROUP_IPV6;
}

static void announce_group(const struct announce_sender *sender, const struct announce_item *item,
			   const struct sources *sources)
{
	if (item->what == ANNOUNCE_GROUP_IPV4)
		announce_group_ipv4(sender, sources->ipv4, item->bytes);
	else
		announce_group_ipv6(sender, sources->ipv6, item->bytes);
}

/*
 * Returns false if this address does not tell the switches. Unless another one does, they still
 * need a RARP.
 */
static bool announce_address(const struct round *round, const struct announce_device *device,
			     const struct announce_sender *sender, const struct announce_item *item)
{
	int flags = (device->is_router ? ANNOUNCE_ROUTER : 0) |
		    (item->is_optimistic ? 0 : ANNOUNCE_OVERRIDE);

	if (item->what == ANNOUNCE_IPV4) {
		if (device->has_arp)
			announce_arp(sender, item->bytes);
		return device->has_arp;
	}
	if (round->survey.knows_routers)
		announce_advertisement(sender, item->bytes, flags);
	return round->survey.knows_routers && !item->is_link_local;
}

static void announce_device(struct round *round, const struct announcement *announcement,
			    const struct announce_device *device)
{
	const struct announce_sender sender = { .fd = round->fd,
						.ifindex = device->ifindex,
						.mac = device->mac };
	const struct announce_item *items;
	struct sources sources = { 0 };
	bool said = !announcement->addresses.is_due;
	size_t count;

	items = announce_survey_items(&round->survey, device->ifindex, &count);
	for (size_t i = 0; i < count && !announce_is_dropped(announcement); i++) {
		announce_pace(round);
		announce_note_source(&items[i], &sources);
		if (announce_is_group(&items[i])) {
			if (announcement->groups.is_due)
				announce_group(&sender, &items[i], &sources);
		} else if (announcement->addresses.is_due) {
			said |= announce_address(round, device, &sender, &items[i]);
		}
	}
	announce_pace(round);
	if (!said && !announce_is_dropped(announcement))
		announce_rarp(&sender);
}

static void announce_reach(struct announcement *announcement, int ifindex)
{
	memory_more(announcement->reached, announcement->reached_count);
	announcement->reached[announcement->reached_count++] = ifindex;
}

static bool announce_has_reached(const struct announcement *announcement, int ifindex)
{
	for (size_t i = 0; i < announcement->reached_count; i++)
		if (announcement->reached[i] == ifindex)
			return true;
	return false;
}

/* By the port that leads to the bond: the bridge would tell its other ports, too. */
static void announce_machines(struct round *round, const struct announcement *announcement,
			      const struct announce_device *port)
{
	struct announce_sender sender = { .fd = round->fd, .ifindex = port->ifindex };
	struct fdb_entry *machines;
	size_t count = announce_survey_machines(round->nl, &round->survey, port, &machines,
						&sender.tag_protocol);

	for (size_t i = 0; i < count && !announce_is_dropped(announcement); i++) {
		announce_pace(round);
		sender.mac = machines[i].mac;
		sender.vlan = machines[i].vlan;
		announce_rarp(&sender);
	}
	free(machines);
}

/*
 * The first count places: what stands on the bond here. Marks them, if they are at home, because
 * devices in other namespaces may be above them.
 */
static void announce_all(struct round *round, struct announcement *announcement, size_t count,
			 bool is_home)
{
	for (size_t i = 0; i < count && !announce_is_dropped(announcement); i++) {
		const struct announce_device *device = &round->survey.devices[round->places[i]];

		if (announcement->machines)
			announce_machines(round, announcement, device);
		else
			announce_device(round, announcement, device);
		if (is_home)
			announce_reach(announcement, device->ifindex);
	}
}

/* Returns false if nothing can be sent from here. */
static bool announce_get_ready(struct round *round)
{
	round->fd = packet_open();
	round->places = memory_need(calloc(round->survey.device_count + 1, sizeof(*round->places)));
	round->slice_ns = clock_now_ns();
	return round->fd >= 0;
}

static void announce_clear(struct round *round)
{
	if (round->fd >= 0)
		close(round->fd);
	free(round->places);
	announce_survey_free(&round->survey);
}

static void announce_home(struct round *round)
{
	size_t count;
	int bond;

	announce_survey_read_devices(round->nl, &round->survey);
	announce_survey_read_items(round->nl, &round->survey);
	if (announce_get_ready(round))
		for (struct announcement *each = round->announcements; each; each = each->next) {
			each->reached_count = 0;
			/* bond0 may be in another namespace */
			announce_reach(each, each->port_ifindex);
			bond = announce_survey_peer(&round->survey, each->port_ifindex);
			count = announce_survey_above(&round->survey, bond, round->places, 0);
			announce_all(round, each, count, true);
		}
	announce_clear(round);
}

/*
 * home: the number that bondd's namespace has here. Returns NULL if that device is on none of ours.
 */
static struct announcement *announce_whose(const struct round *round,
					   const struct announce_device *device, int home)
{
	struct announcement *each = round->announcements;

	if (!device->lower || device->lower_nsid < 0 || device->lower_nsid != home)
		return NULL;
	while (each && (announce_is_dropped(each) || !announce_has_reached(each, device->lower)))
		each = each->next;
	return each;
}

static bool announce_concerns(const struct round *round, int home)
{
	for (size_t i = 0; i < round->survey.device_count; i++)
		if (announce_whose(round, &round->survey.devices[i], home))
			return true;
	return false;
}

static void announce_away(struct round *round, struct announcement *announcement, int home)
{
	size_t count = 0;

	for (size_t i = 0; i < round->survey.device_count; i++) {
		const struct announce_device *device = &round->survey.devices[i];

		if (announce_whose(round, device, home) == announcement)
			count = announce_survey_above(&round->survey, device->ifindex,
						      round->places, count);
	}
	announce_all(round, announcement, count, false);
}

static void announce_in_other_netns(int home_fd, void *arg)
{
	struct nl nl;
	struct round round = { .announcements = arg, .fd = -1, .nl = &nl };
	int home;

	if (nl_init(&nl))
		return;
	announce_survey_read_devices(&nl, &round.survey);
	/* It has been in the list since the devices on it were announced, if not longer. */
	home = namespaces_number(&nl, home_fd);
	if (announce_concerns(&round, home) && announce_get_ready(&round)) {
		announce_survey_read_items(&nl, &round.survey);
		for (struct announcement *each = round.announcements; each; each = each->next)
			announce_away(&round, each, home);
	}
	announce_clear(&round);
	nl_done(&nl);
}

static void announcement_free(struct announcement *announcement)
{
	free(announcement->reached);
	free(announcement);
}

/* Orders, and the threads that take them. */

struct announcer {
	struct worker worker;
	struct worker_kind kind;
	struct announcer *machines; /* they must not delay what bonds have to say themselves */
	/* The lock is never held during a blocking call. */
	struct announcement *waiting GUARDED_BY(worker_held);
	struct announcement *sending; /* written under it, too, and by the thread alone */
	struct nl nl;
};

static void announce_append(struct announcement **list, struct announcement *announcement)
{
	while (*list)
		list = &(*list)->next;
	announcement->next = NULL;
	*list = announcement;
}

static bool announce_is_over(const struct announcement *announcement)
{
	return announcement->dropped ||
	       (!announcement->addresses.left && !announcement->groups.left);
}

/* Returns whether it is its turn now. */
static bool announce_take_turn(struct announce_series *series, uint64_t now_ns)
{
	series->is_due = series->left && series->next_ns <= now_ns;
	if (series->is_due) {
		series->left--;
		series->next_ns = now_ns + series->delay_ns;
	}
	return series->is_due;
}

/* Moves what is due from the list of those that wait to that of those that are sent. */
NEEDS(worker_held) static bool announcer_begin(void *context)
{
	struct announcer *announcer = context;
	struct announcement *each = announcer->waiting, *next;
	uint64_t now_ns = clock_now_ns();

	announcer->waiting = NULL;
	for (; each; each = next) {
		bool has_addresses, has_groups;

		next = each->next;
		if (announce_is_over(each)) {
			announcement_free(each);
			continue;
		}
		has_addresses = announce_take_turn(&each->addresses, now_ns);
		has_groups = announce_take_turn(&each->groups, now_ns);
		announce_append(has_addresses || has_groups ? &announcer->sending
							    : &announcer->waiting,
				each);
	}
	return announcer->sending;
}

static void announcer_work(void *context)
{
	struct announcer *announcer = context;
	struct round round = { announcer->sending, .fd = -1, .nl = &announcer->nl };

	announce_home(&round);
	namespaces_visit(announce_in_other_netns, announcer->sending);
}

NEEDS(worker_held) static void announcer_end(void *context)
{
	struct announcer *announcer = context;
	struct announcement *each = announcer->sending, *next;

	announcer->sending = NULL;
	for (; each; each = next) {
		next = each->next;
		if (announce_is_over(each))
			announcement_free(each);
		else
			announce_append(&announcer->waiting, each);
	}
}

static uint64_t announce_earlier(uint64_t next_ns, const struct announce_series *series)
{
	if (!series->left)
		return next_ns;
	return !next_ns || series->next_ns < next_ns ? series->next_ns : next_ns;
}

NEEDS(worker_held) static uint64_t announcer_next_ns(void *context)
{
	struct announcer *announcer = context;
	uint64_t next_ns = 0;

	for (struct announcement *each = announcer->waiting; each; each = each->next) {
		next_ns = announce_earlier(next_ns, &each->addresses);
		next_ns = announce_earlier(next_ns, &each->groups);
	}
	return next_ns;
}

static struct announcer *announcer_start(const char *name, struct err *err)
{
	struct announcer *announcer = memory_need(calloc(1, sizeof(*announcer)));
	int r = nl_init(&announcer->nl);

	announcer->kind = (struct worker_kind){ name, announcer_begin, announcer_work,
						announcer_end, announcer_next_ns };
	if (!r) {
		r = worker_start(&announcer->worker, &announcer->kind, announcer);
		if (r)
			nl_done(&announcer->nl);
	}
	if (!r)
		return announcer;
	free(announcer);
	err_set(err, -r, "cannot start the thread for announcements: %s", strerror(-r));
	return NULL;
}

struct announcer *announcer_new(struct err *err)
{
	struct announcer *announcer = announcer_start("announce", err);

	if (announcer)
		announcer->machines = announcer_start("machines", err);
	if (announcer && announcer->machines)
		return announcer;
	announcer_free(announcer);
	return NULL;
}

/* 0: for every bond. */
NEEDS(worker_held) static void announce_drop(struct announcer *announcer, int port_ifindex)
{
	struct announcement *const lists[] = { announcer->waiting, announcer->sending };

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		for (struct announcement *each = lists[i]; each; each = each->next)
			if (!port_ifindex || each->port_ifindex == port_ifindex)
				__atomic_store_n(&each->dropped, true, __ATOMIC_RELAXED);
}

void announce_no_more(struct announcer *announcer, int port_ifindex)
{
	if (announcer->machines)
		announce_no_more(announcer->machines, port_ifindex);
	worker_lock(&announcer->worker);
	announce_drop(announcer, port_ifindex);
	worker_unlock(&announcer->worker);
}

void announcer_free(struct announcer *announcer)
{
	struct announcement *each, *next;

	if (!announcer)
		return;
	announce_no_more(announcer, 0);
	announcer_free(announcer->machines);
	worker_stop(&announcer->worker);
	for (each = announcer->waiting; each; each = next) {
		next = each->next;
		announcement_free(each);
	}
	nl_done(&announcer->nl);
	free(announcer);
}

static struct announce_series announce_series_of(unsigned int count, uint32_t delay_ms)
{
	return (struct announce_series){ .left = count,
					 .delay_ns = delay_ms * NS_PER_MS,
					 .next_ns = clock_now_ns() };
}

static void announcer_order(struct announcer *announcer, struct announcement *announcement)
{
	worker_lock(&announcer->worker);
	announce_drop(announcer, announcement->port_ifindex);
	announce_append(&announcer->waiting, announcement);
	worker_unlock_and_wake(&announcer->worker);
}

static struct announcement *announcement_new(const struct announce_order *order, bool machines)
{
	struct announcement *announcement = memory_need(calloc(1, sizeof(*announcement)));

	announcement->port_ifindex = order->port_ifindex;
	announcement->machines = machines;
	announcement->addresses = announce_series_of(order->addresses, order->address_delay_ms);
	announcement->groups =
		announce_series_of(machines ? 0 : order->groups, order->group_delay_ms);
	return announcement;
}

void announce(struct announcer *announcer, const struct announce_order *order)
{
	announce_no_more(announcer->machines, order->port_ifindex);
	announcer_order(announcer, announcement_new(order, false));
	if (order->machines)
		announcer_order(announcer->machines, announcement_new(order, true));
}
