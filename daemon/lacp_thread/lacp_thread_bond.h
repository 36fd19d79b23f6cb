/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One bond inside the LACP thread. Called only by lacp_thread.c, which holds its lock where NEEDS
 * says so.
 */
#ifndef XBOND_DAEMON_LACP_THREAD_LACP_THREAD_BOND_H
#define XBOND_DAEMON_LACP_THREAD_LACP_THREAD_BOND_H

#include "daemon/lacp_thread/lacp_thread.h"
#include "daemon/lacp_thread/lacp_thread_hold.h"

#define LACP_THREAD_EVENTS 256 /* news that the main loop has not taken; more are dropped */

struct lacp_thread_bond {
	struct realtime_bond realtime; /* the first one */
	struct lacp_system sys;
	struct xbond_table *table;
	struct xbond_hold *hold;
	struct lacp_thread_sent sent[XBOND_MAX_SLAVES];
	struct xbond_lacp *pinned;
	int send_fd;
	int ifindex[XBOND_MAX_SLAVES];
	uint64_t deadline_ns;
	enum lacp_thread_pair pair;		     /* as the main loop has set it */
	uint64_t collecting, distributing, draining; /* also read by the main loop */
	uint64_t lingering;			     /* as lacp_thread_linger() has told */
	uint64_t linked;			     /* slots that may transmit if LACP lets them */
	bool ends;				     /* the bond leaves the mode */
	bool changed; /* set by the main loop: the machines must run */
	unsigned int event_count;
	struct lacp_thread_event events[LACP_THREAD_EVENTS];
};

/* Opens the bond, without the lock. No machine runs yet. */
struct lacp_thread_bond *lacp_thread_bond_new(struct realtime *realtime, const struct pins *pins,
					      struct err *err);
/*
 * Takes over the pinned state and what the programs have done meanwhile, and runs the machines
 * once.
 */
NEEDS(realtime_held)
void lacp_thread_bond_start(struct lacp_thread_bond *bond, uint64_t members,
			    const struct lacp_config *config);
/* Without the lock, when it is no longer in the list. */
void lacp_thread_bond_free(struct lacp_thread_bond *bond);
/* Handles PDUs, machines, masks, pinned state and heartbeat. */
NEEDS(realtime_held) void lacp_thread_bond_run(struct lacp_thread_bond *bond, uint64_t now_ns);
NEEDS(realtime_held)
int lacp_thread_bond_set_port(struct lacp_thread_bond *bond, unsigned int slot, int ifindex,
			      const struct lacp_port_config *config);
NEEDS(realtime_held)
void lacp_thread_bond_remove_port(struct lacp_thread_bond *bond, unsigned int slot);
/* As lacp_thread_publish(). */
NEEDS(realtime_held)
void lacp_thread_bond_publish(struct lacp_thread_bond *bond, uint64_t tx, uint64_t members,
			      enum lacp_thread_pair pair);
/* Tells the partners; leaves no port held, and no state to take over. */
NEEDS(realtime_held) void lacp_thread_bond_forget(struct lacp_thread_bond *bond);

#endif
