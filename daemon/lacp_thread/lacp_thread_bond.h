/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One bond inside the LACP thread. For slowio.c only, which holds its lock around every call but
 * those that say otherwise.
 */
#ifndef XBOND_DAEMON_LACP_THREAD_LACP_THREAD_BOND_H
#define XBOND_DAEMON_LACP_THREAD_LACP_THREAD_BOND_H

#include "daemon/lacp_thread/lacp_thread.h"
#include "daemon/lacp_thread/lacp_thread_hold.h"

#define SLOWIO_EVENTS 256 /* news that the main loop has not taken; more are dropped */

struct ring_buffer;

struct slowio_bond {
	struct slowio_bond *next;
	struct slowio *slowio;
	struct lacp_system sys;
	struct ring_buffer *ring;
	struct xbond_table *table;
	struct xbond_hold *hold;
	struct slowio_sent sent[XBOND_MAX_SLAVES];
	struct xbond_lacp *pinned;
	int send_fd;
	int ifindex[XBOND_MAX_SLAVES];
	uint64_t deadline_ns;
	enum slowio_pair pair;			     /* as the main loop has told */
	uint64_t collecting, distributing, draining; /* also read by the main loop */
	uint64_t lingering;			     /* as slowio_linger() has told */
	bool ends;				     /* it leaves the mode */
	bool changed;				     /* by the main loop: the machines must run */
	bool has_news;
	unsigned int event_count;
	struct slowio_event events[SLOWIO_EVENTS];
};

/* Opens, without the lock; no machine runs yet. */
struct slowio_bond *slowio_bond_new(struct slowio *slowio, int send_fd, const struct pins *pins,
				    struct err *err);
/*
 * Takes over the pinned state and what the programs have done meanwhile, and runs the machines
 * once.
 */
void slowio_bond_start(struct slowio_bond *bond, uint64_t members,
		       const struct lacp_config *config);
/* Without the lock, when it is in no list. */
void slowio_bond_free(struct slowio_bond *bond);
/* Readable when PDUs wait. Without the lock. */
int slowio_bond_fd(const struct slowio_bond *bond);
/* PDUs, machines, masks, pinned state, heartbeat. */
void slowio_bond_run(struct slowio_bond *bond, uint64_t now_ns);
int slowio_bond_set_port(struct slowio_bond *bond, unsigned int slot, int ifindex,
			 const struct lacp_port_config *config);
void slowio_bond_remove_port(struct slowio_bond *bond, unsigned int slot);
/* As slowio_publish(). */
void slowio_bond_publish(struct slowio_bond *bond, uint64_t tx, uint64_t members,
			 enum slowio_pair pair);
/* The partners are told; leaves no port held and no state to take over. */
void slowio_bond_forget(struct slowio_bond *bond);

#endif
