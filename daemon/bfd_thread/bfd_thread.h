/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The BFD thread runs the micro-BFD sessions of every bond (RFC 7130): it takes packets from the
 * ring buffers that the receive programs fill, runs the sessions at their deadlines, and sends. It
 * makes no rtnetlink request, because the kernel may block one for seconds while somebody changes
 * routes. The main loop learns of new verdicts through a descriptor.
 */
#ifndef XBOND_DAEMON_BFD_THREAD_BFD_THREAD_H
#define XBOND_DAEMON_BFD_THREAD_BFD_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "bfd/bfd.h"
#include "common/err.h"
#include "common/pins.h"
#include "daemon/base/realtime.h"

struct bfd_thread_bond;

struct bfd_thread_config {
	struct bfd_ends ends;
	uint32_t interval_us;
	uint32_t multiplier;
};

/* The device of a session; ifindex 0: there is none. */
struct bfd_thread_port {
	int ifindex;
	uint8_t mac[XBOND_MAC_SIZE];
};

/* Tells the main loop when a verdict of any bond has changed, or a bond has been removed. */
extern const struct realtime_kind bfd_thread_kind;

/*
 * pins must stay mapped until bfd_thread_remove(), and have the map `bfd`. Sessions that an earlier
 * bondd has left go on when bfd_thread_set_port() names their slot, if both ends are the same.
 */
struct bfd_thread_bond *bfd_thread_add(struct realtime *realtime, const struct pins *pins,
				       const struct bfd_thread_config *config, struct err *err);
/*
 * forget: the far end is told, on every link, and the sessions are erased. Otherwise they stay for
 * the next bondd, and the programs hold them.
 */
void bfd_thread_remove(struct bfd_thread_bond *bond, bool forget);
/* Other ends begin other sessions; other intervals are told to the far end. */
void bfd_thread_configure(struct bfd_thread_bond *bond, const struct bfd_thread_config *config);
/* Begins, moves, goes on with or ends the session of the slot. An end is told to the far end. */
void bfd_thread_set_port(struct bfd_thread_bond *bond, unsigned int slot,
			 const struct bfd_thread_port *port);
/* What the session of the slot says of its link now. Safe from any thread. */
enum bfd_verdict bfd_thread_verdict(const struct bfd_thread_bond *bond, unsigned int slot);
/* A copy of the session. */
void bfd_thread_session(const struct bfd_thread_bond *bond, unsigned int slot,
			struct bfd_session *ret_session);

/* Inside, for bfd_thread.c and its unit test: the sessions of one bond. */

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

/* Handles packets, deadlines, verdicts and the heartbeat. Returns the next deadline. */
NEEDS(realtime_held) uint64_t bfd_thread_bond_run(struct bfd_thread_bond *bond, uint64_t now_ns);
/* As the functions above. */
NEEDS(realtime_held)
void bfd_thread_bond_configure(struct bfd_thread_bond *bond,
			       const struct bfd_thread_config *config);
NEEDS(realtime_held)
void bfd_thread_bond_set_port(struct bfd_thread_bond *bond, unsigned int slot,
			      const struct bfd_thread_port *port);

#endif
