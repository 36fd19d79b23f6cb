/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The LACP thread and its locking. lacp_thread_bond.c has the PDUs, masks and pinned state of one
 * bond.
 */
#include "daemon/lacp_thread/lacp_thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/slots.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/memory.h"
#include "daemon/base/worker.h"
#include "daemon/lacp_thread/lacp_thread_bond.h"
#include "network/packet.h"

#define BEAT_NS (100 * NS_PER_MS) /* XBOND_LACP_AWAY_NS is five of these */

struct lacp_thread {
	/* Its lock protects the list and the machines of every bond. */
	struct realtime realtime;
	int send_fd;
	struct lacp_thread_bond *bonds GUARDED_BY(realtime_held);
};

/* Runs what is due and renews every heartbeat. */
NEEDS(realtime_held) static uint64_t lacp_thread_run(void *context)
{
	struct lacp_thread *lacp_thread = context;
	uint64_t now_ns = clock_now_ns();
	uint64_t next_ns = lacp_thread->bonds ? now_ns + BEAT_NS : REALTIME_NEVER;
	bool news = false;

	for (struct lacp_thread_bond *bond = lacp_thread->bonds; bond; bond = bond->next) {
		lacp_thread_bond_run(bond, now_ns);
		if (bond->deadline_ns < next_ns)
			next_ns = bond->deadline_ns;
		news |= bond->has_news;
		bond->has_news = false;
	}
	if (news)
		realtime_tell(&lacp_thread->realtime);
	return next_ns;
}

static const struct realtime_kind lacp_thread_kind = { .name = "lacp", .run = lacp_thread_run };

struct lacp_thread *lacp_thread_new(struct err *err)
{
	struct lacp_thread *lacp_thread = memory_need(calloc(1, sizeof(*lacp_thread)));
	int r;

	r = realtime_open(&lacp_thread->realtime, &lacp_thread_kind, lacp_thread);
	lacp_thread->send_fd = packet_open_control();
	if (r || lacp_thread->send_fd < 0) {
		err_set(err, errno, "cannot open sockets for LACP: %m");
		lacp_thread_free(lacp_thread);
		return NULL;
	}
	return lacp_thread;
}

void lacp_thread_free(struct lacp_thread *lacp_thread)
{
	realtime_close(&lacp_thread->realtime);
	if (lacp_thread->send_fd >= 0)
		close(lacp_thread->send_fd);
	free(lacp_thread);
}

int lacp_thread_fd(const struct lacp_thread *lacp_thread)
{
	return realtime_news_fd(&lacp_thread->realtime);
}

bool lacp_thread_acknowledge(struct lacp_thread *lacp_thread)
{
	return realtime_acknowledge(&lacp_thread->realtime);
}

struct lacp_thread_bond *lacp_thread_add(struct lacp_thread *lacp_thread, const struct pins *pins,
					 uint64_t members, const struct lacp_config *config,
					 struct err *err)
{
	struct lacp_thread_bond *bond =
		lacp_thread_bond_new(lacp_thread, lacp_thread->send_fd, pins, err);
	int r;

	if (!bond)
		return NULL;
	r = realtime_start(&lacp_thread->realtime);
	if (!r)
		r = realtime_watch(&lacp_thread->realtime, lacp_thread_bond_fd(bond));
	if (r) {
		err_set(err, -r, "cannot start the LACP thread: %s", strerror(-r));
		lacp_thread_bond_free(bond);
		return NULL;
	}
	realtime_lock(&lacp_thread->realtime);
	lacp_thread_bond_start(bond, members, config);
	bond->next = lacp_thread->bonds;
	lacp_thread->bonds = bond;
	realtime_unlock_and_wake(&lacp_thread->realtime);
	return bond;
}

void lacp_thread_remove(struct lacp_thread_bond *bond, bool forget)
{
	struct lacp_thread *lacp_thread = bond->lacp_thread;
	struct lacp_thread_bond **at = &lacp_thread->bonds;

	realtime_lock(&lacp_thread->realtime);
	while (*at && *at != bond)
		at = &(*at)->next;
	if (*at)
		*at = bond->next;
	if (forget)
		lacp_thread_bond_forget(bond);
	__atomic_store_n(&bond->table->lacp_heartbeat_ns, 0, __ATOMIC_RELEASE);
	realtime_unlock(&lacp_thread->realtime);
	realtime_unwatch(&lacp_thread->realtime, lacp_thread_bond_fd(bond));
	lacp_thread_bond_free(bond);
}

void lacp_thread_linger(struct lacp_thread_bond *bond, uint64_t slots)
{
	realtime_lock(&bond->lacp_thread->realtime);
	bond->lingering = slots;
	realtime_unlock(&bond->lacp_thread->realtime);
}

void lacp_thread_publish(struct lacp_thread_bond *bond, uint64_t tx, uint64_t members,
			 enum lacp_thread_pair pair)
{
	realtime_lock(&bond->lacp_thread->realtime);
	lacp_thread_bond_publish(bond, tx, members, pair);
	realtime_unlock(&bond->lacp_thread->realtime);
}

int lacp_thread_configure(struct lacp_thread_bond *bond, const struct lacp_config *config)
{
	int r;

	realtime_lock(&bond->lacp_thread->realtime);
	r = lacp_configure(&bond->sys, config, clock_now_ns());
	bond->changed = true;
	realtime_unlock_and_wake(&bond->lacp_thread->realtime);
	return r;
}

int lacp_thread_set_port(struct lacp_thread_bond *bond, unsigned int slot, int ifindex,
			 const struct lacp_port_config *config)
{
	int r;

	realtime_lock(&bond->lacp_thread->realtime);
	r = lacp_thread_bond_set_port(bond, slot, ifindex, config);
	realtime_unlock_and_wake(&bond->lacp_thread->realtime);
	return r;
}

void lacp_thread_remove_port(struct lacp_thread_bond *bond, unsigned int slot)
{
	realtime_lock(&bond->lacp_thread->realtime);
	lacp_thread_bond_remove_port(bond, slot);
	realtime_unlock_and_wake(&bond->lacp_thread->realtime);
}

int lacp_thread_drain(struct lacp_thread_bond *bond, unsigned int slot)
{
	int r;

	realtime_lock(&bond->lacp_thread->realtime);
	r = lacp_drain(&bond->sys, slot, clock_now_ns());
	if (!r)
		__atomic_or_fetch(&bond->draining, slots_bit(slot), __ATOMIC_RELEASE);
	bond->changed = true;
	realtime_unlock_and_wake(&bond->lacp_thread->realtime);
	return r;
}

struct lacp_prospect lacp_thread_prospect(const struct lacp_thread_bond *bond, uint64_t leaving)
{
	struct lacp_prospect prospect;

	realtime_lock(&bond->lacp_thread->realtime);
	prospect = lacp_prospect(&bond->sys, leaving, clock_now_ns());
	realtime_unlock(&bond->lacp_thread->realtime);
	return prospect;
}

bool lacp_thread_take(struct lacp_thread_bond *bond, struct lacp_thread_event *ret_event)
{
	bool taken = false;

	realtime_lock(&bond->lacp_thread->realtime);
	if (bond->event_count) {
		*ret_event = bond->events[0];
		memmove(bond->events, bond->events + 1,
			--bond->event_count * sizeof(bond->events[0]));
		taken = true;
	}
	realtime_unlock(&bond->lacp_thread->realtime);
	return taken;
}
