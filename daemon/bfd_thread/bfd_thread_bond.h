/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One bond inside the BFD thread: its sessions, what they send, and what is left of them for the
 * programs and for the next bondd. Called only by bfd_thread.c, which holds its lock where NEEDS
 * says so.
 */
#ifndef XBOND_DAEMON_BFD_THREAD_BFD_THREAD_BOND_H
#define XBOND_DAEMON_BFD_THREAD_BFD_THREAD_BOND_H

#include "daemon/bfd_thread/bfd_thread.h"

struct bfd_thread_link {
	struct bfd_thread_port port;
	struct bfd_session session;
	uint64_t begun_ns;	  /* of a session that goes on: when it was in this state first */
	enum bfd_verdict verdict; /* also read by the main loop */
	bool changed;		  /* the map does not know it yet */
	uint64_t resumed_ns;	  /* when the thread was last back from an absence; 0: never */
};

struct bfd_thread_bond {
	struct realtime_bond realtime; /* the first one */
	struct xbond_bfd *map;
	int send_fd;
	struct bfd_thread_config config;
	struct bfd_thread_link link[XBOND_MAX_SLAVES];
	uint64_t used; /* slots */
};

/* Opens the bond. Without the lock. */
struct bfd_thread_bond *bfd_thread_bond_new(struct realtime *realtime, const struct pins *pins,
					    const struct bfd_thread_config *config,
					    struct err *err);
/* Without the lock, when it is no longer in the list. */
void bfd_thread_bond_free(struct bfd_thread_bond *bond);

/* Handles packets, deadlines, verdicts and the heartbeat. Returns the next deadline. */
NEEDS(realtime_held) uint64_t bfd_thread_bond_run(struct bfd_thread_bond *bond, uint64_t now_ns);
NEEDS(realtime_held)
void bfd_thread_bond_configure(struct bfd_thread_bond *bond,
			       const struct bfd_thread_config *config);
NEEDS(realtime_held)
void bfd_thread_bond_set_port(struct bfd_thread_bond *bond, unsigned int slot,
			      const struct bfd_thread_port *port);
/* Ends all sessions. */
NEEDS(realtime_held) void bfd_thread_bond_forget(struct bfd_thread_bond *bond);

#endif
