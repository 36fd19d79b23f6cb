/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The LACP thread and its locking. lacp_thread_bond.c has the PDUs, masks and pinned state of one
 * bond.
 */
#include "daemon/lacp_thread/lacp_thread.h"

#include <string.h>

#include "bpf/slots.h"
#include "common/clock.h"
#include "common/err.h"
#include "daemon/base/worker.h"
#include "daemon/lacp_thread/lacp_thread_bond.h"

NEEDS(realtime_held)
static uint64_t lacp_thread_run(struct realtime_bond *realtime, uint64_t now_ns)
{
	struct lacp_thread_bond *bond = (struct lacp_thread_bond *)realtime;

	lacp_thread_bond_run(bond, now_ns);
	return bond->deadline_ns;
}

const struct realtime_kind lacp_thread_kind = { "lacp", "LACP", lacp_thread_run };

struct lacp_thread_bond *lacp_thread_add(struct realtime *realtime, const struct pins *pins,
					 uint64_t members, const struct lacp_config *config,
					 struct err *err)
{
	struct lacp_thread_bond *bond = lacp_thread_bond_new(realtime, pins, err);

	if (!bond)
		return NULL;
	if (realtime_bond_begin(&bond->realtime, err)) {
		lacp_thread_bond_free(bond);
		return NULL;
	}
	realtime_lock(realtime);
	lacp_thread_bond_start(bond, members, config);
	realtime_bond_add(&bond->realtime);
	realtime_unlock_and_wake(realtime);
	return bond;
}

void lacp_thread_remove(struct lacp_thread_bond *bond, bool forget)
{
	struct realtime *realtime = bond->realtime.thread;

	realtime_lock(realtime);
	realtime_bond_remove(&bond->realtime);
	if (forget)
		lacp_thread_bond_forget(bond);
	__atomic_store_n(&bond->table->lacp_heartbeat_ns, 0, __ATOMIC_RELEASE);
	realtime_unlock(realtime);
	lacp_thread_bond_free(bond);
}

void lacp_thread_linger(struct lacp_thread_bond *bond, uint64_t slots)
{
	realtime_lock(bond->realtime.thread);
	bond->lingering = slots;
	realtime_unlock(bond->realtime.thread);
}

void lacp_thread_publish(struct lacp_thread_bond *bond, uint64_t tx, uint64_t members,
			 enum lacp_thread_pair pair)
{
	realtime_lock(bond->realtime.thread);
	lacp_thread_bond_publish(bond, tx, members, pair);
	realtime_unlock(bond->realtime.thread);
}

int lacp_thread_configure(struct lacp_thread_bond *bond, const struct lacp_config *config)
{
	int r;

	realtime_lock(bond->realtime.thread);
	r = lacp_configure(&bond->sys, config, clock_now_ns());
	bond->changed = true;
	realtime_unlock_and_wake(bond->realtime.thread);
	return r;
}

int lacp_thread_set_port(struct lacp_thread_bond *bond, unsigned int slot, int ifindex,
			 const struct lacp_port_config *config)
{
	int r;

	realtime_lock(bond->realtime.thread);
	r = lacp_thread_bond_set_port(bond, slot, ifindex, config);
	realtime_unlock_and_wake(bond->realtime.thread);
	return r;
}

void lacp_thread_remove_port(struct lacp_thread_bond *bond, unsigned int slot)
{
	realtime_lock(bond->realtime.thread);
	lacp_thread_bond_remove_port(bond, slot);
	realtime_unlock_and_wake(bond->realtime.thread);
}

int lacp_thread_drain(struct lacp_thread_bond *bond, unsigned int slot)
{
	int r;

	realtime_lock(bond->realtime.thread);
	r = lacp_drain(&bond->sys, slot, clock_now_ns());
	if (!r)
		__atomic_or_fetch(&bond->draining, slots_bit(slot), __ATOMIC_RELEASE);
	bond->changed = true;
	realtime_unlock_and_wake(bond->realtime.thread);
	return r;
}

struct lacp_prospect lacp_thread_prospect(const struct lacp_thread_bond *bond, uint64_t leaving)
{
	struct lacp_prospect prospect;

	realtime_lock(bond->realtime.thread);
	prospect = lacp_prospect(&bond->sys, leaving, clock_now_ns());
	realtime_unlock(bond->realtime.thread);
	return prospect;
}

bool lacp_thread_take(struct lacp_thread_bond *bond, struct lacp_thread_event *ret_event)
{
	bool taken = false;

	realtime_lock(bond->realtime.thread);
	if (bond->event_count) {
		*ret_event = bond->events[0];
		memmove(bond->events, bond->events + 1,
			--bond->event_count * sizeof(bond->events[0]));
		taken = true;
	}
	realtime_unlock(bond->realtime.thread);
	return taken;
}
