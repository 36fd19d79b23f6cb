/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/bfd_thread/bfd_thread.h"

#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "daemon/base/worker.h"
#include "daemon/bfd_thread/bfd_thread_bond.h"

NEEDS(realtime_held)
static uint64_t bfd_thread_run(struct realtime_bond *bond, uint64_t now_ns)
{
	return bfd_thread_bond_run((struct bfd_thread_bond *)bond, now_ns);
}

const struct realtime_kind bfd_thread_kind = { "bfd", "BFD", bfd_thread_run };

struct bfd_thread_bond *bfd_thread_add(struct realtime *realtime, const struct pins *pins,
				       const struct bfd_thread_config *config, struct err *err)
{
	struct bfd_thread_bond *bond = bfd_thread_bond_new(realtime, pins, config, err);

	if (!bond)
		return NULL;
	if (realtime_bond_begin(&bond->realtime, err)) {
		bfd_thread_bond_free(bond);
		return NULL;
	}
	realtime_lock(realtime);
	realtime_bond_add(&bond->realtime);
	realtime_unlock_and_wake(realtime);
	return bond;
}

void bfd_thread_remove(struct bfd_thread_bond *bond, bool forget)
{
	struct realtime *realtime = bond->realtime.thread;

	realtime_lock(realtime);
	realtime_bond_remove(&bond->realtime);
	if (forget)
		bfd_thread_bond_forget(bond);
	__atomic_store_n(&bond->map->heartbeat_ns, 0, __ATOMIC_RELEASE);
	realtime_unlock(realtime);
	bfd_thread_bond_free(bond);
	realtime_tell(realtime);
}

void bfd_thread_configure(struct bfd_thread_bond *bond, const struct bfd_thread_config *config)
{
	realtime_lock(bond->realtime.thread);
	bfd_thread_bond_configure(bond, config);
	realtime_unlock_and_wake(bond->realtime.thread);
}

void bfd_thread_set_port(struct bfd_thread_bond *bond, unsigned int slot,
			 const struct bfd_thread_port *port)
{
	realtime_lock(bond->realtime.thread);
	bfd_thread_bond_set_port(bond, slot, port);
	realtime_unlock_and_wake(bond->realtime.thread);
}

void bfd_thread_session(const struct bfd_thread_bond *bond, unsigned int slot,
			struct bfd_session *ret_session)
{
	realtime_lock(bond->realtime.thread);
	*ret_session = bond->link[slot].session;
	realtime_unlock(bond->realtime.thread);
}

enum bfd_verdict bfd_thread_verdict(const struct bfd_thread_bond *bond, unsigned int slot)
{
	return __atomic_load_n(&bond->link[slot].verdict, __ATOMIC_ACQUIRE);
}
