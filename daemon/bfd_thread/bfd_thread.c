/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/bfd_thread/bfd_thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/memory.h"
#include "daemon/base/worker.h"
#include "daemon/bfd_thread/bfd_thread_bond.h"
#include "network/packet.h"

#define BEAT_NS (100 * NS_PER_MS) /* XBOND_BFD_AWAY_NS is five of these */

struct bfd_thread {
	struct realtime realtime; /* its lock protects the list and the sessions of every bond */
	int send_fd;
	struct bfd_thread_bond *bonds GUARDED_BY(realtime_held);
};

/* Runs what is due and renews every heartbeat. */
NEEDS(realtime_held) static uint64_t bfd_thread_run(void *context)
{
	struct bfd_thread *bfd_thread = context;
	uint64_t now_ns = clock_now_ns(), next_ns = REALTIME_NEVER;
	bool news = false;

	if (bfd_thread->bonds)
		next_ns = now_ns + BEAT_NS;
	for (struct bfd_thread_bond *bond = bfd_thread->bonds; bond; bond = bond->next) {
		uint64_t deadline_ns = bfd_thread_bond_run(bond, clock_now_ns());

		if (deadline_ns < next_ns)
			next_ns = deadline_ns;
		news |= bond->has_news;
		bond->has_news = false;
	}
	if (news)
		realtime_tell(&bfd_thread->realtime);
	return next_ns;
}

static const struct realtime_kind bfd_thread_kind = { .name = "bfd", .run = bfd_thread_run };

struct bfd_thread *bfd_thread_new(struct err *err)
{
	struct bfd_thread *bfd_thread = memory_need(calloc(1, sizeof(*bfd_thread)));
	int r;

	r = realtime_open(&bfd_thread->realtime, &bfd_thread_kind, bfd_thread);
	bfd_thread->send_fd = packet_open_control();
	if (r || bfd_thread->send_fd < 0) {
		err_set(err, errno, "cannot open sockets for BFD: %m");
		bfd_thread_free(bfd_thread);
		return NULL;
	}
	return bfd_thread;
}

void bfd_thread_free(struct bfd_thread *bfd_thread)
{
	realtime_close(&bfd_thread->realtime);
	if (bfd_thread->send_fd >= 0)
		close(bfd_thread->send_fd);
	free(bfd_thread);
}

int bfd_thread_fd(const struct bfd_thread *bfd_thread)
{
	return realtime_news_fd(&bfd_thread->realtime);
}

bool bfd_thread_acknowledge(struct bfd_thread *bfd_thread)
{
	return realtime_acknowledge(&bfd_thread->realtime);
}

struct bfd_thread_bond *bfd_thread_add(struct bfd_thread *bfd_thread, const struct pins *pins,
				       const struct bfd_thread_config *config, struct err *err)
{
	struct bfd_thread_bond *bond =
		bfd_thread_bond_new(bfd_thread, bfd_thread->send_fd, pins, config, err);
	int r;

	if (!bond)
		return NULL;
	r = realtime_start(&bfd_thread->realtime);
	if (!r)
		r = realtime_watch(&bfd_thread->realtime, bfd_thread_bond_fd(bond));
	if (r) {
		err_set(err, -r, "cannot start the BFD thread: %s", strerror(-r));
		bfd_thread_bond_free(bond);
		return NULL;
	}
	realtime_lock(&bfd_thread->realtime);
	bond->next = bfd_thread->bonds;
	bfd_thread->bonds = bond;
	realtime_unlock_and_wake(&bfd_thread->realtime);
	return bond;
}

void bfd_thread_remove(struct bfd_thread_bond *bond, bool forget)
{
	struct bfd_thread *bfd_thread = bond->bfd_thread;
	struct bfd_thread_bond **at = &bfd_thread->bonds;

	realtime_lock(&bfd_thread->realtime);
	while (*at && *at != bond)
		at = &(*at)->next;
	if (*at)
		*at = bond->next;
	if (forget)
		bfd_thread_bond_forget(bond);
	__atomic_store_n(&bond->map->heartbeat_ns, 0, __ATOMIC_RELEASE);
	realtime_unlock(&bfd_thread->realtime);
	realtime_unwatch(&bfd_thread->realtime, bfd_thread_bond_fd(bond));
	bfd_thread_bond_free(bond);
	realtime_tell(&bfd_thread->realtime);
}

void bfd_thread_configure(struct bfd_thread_bond *bond, const struct bfd_thread_config *config)
{
	realtime_lock(&bond->bfd_thread->realtime);
	bfd_thread_bond_configure(bond, config);
	realtime_unlock_and_wake(&bond->bfd_thread->realtime);
}

void bfd_thread_set_port(struct bfd_thread_bond *bond, unsigned int slot,
			 const struct bfd_thread_port *port)
{
	realtime_lock(&bond->bfd_thread->realtime);
	bfd_thread_bond_set_port(bond, slot, port);
	realtime_unlock_and_wake(&bond->bfd_thread->realtime);
}

void bfd_thread_session(const struct bfd_thread_bond *bond, unsigned int slot,
			struct bfd_session *ret_session)
{
	realtime_lock(&bond->bfd_thread->realtime);
	*ret_session = bond->link[slot].session;
	realtime_unlock(&bond->bfd_thread->realtime);
}

enum bfd_verdict bfd_thread_verdict(const struct bfd_thread_bond *bond, unsigned int slot)
{
	return __atomic_load_n(&bond->link[slot].verdict, __ATOMIC_ACQUIRE);
}
