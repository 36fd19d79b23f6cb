/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The LACP thread speaks LACP for every 802.3ad bond: it takes PDUs from the ring buffers that the
 * receive programs fill, runs the machines at their deadlines, and sends. It makes no rtnetlink
 * request, because the kernel may block one for seconds while somebody changes routes. The main
 * loop learns its news through a descriptor and a queue.
 */
#ifndef XBOND_DAEMON_LACP_THREAD_LACP_THREAD_H
#define XBOND_DAEMON_LACP_THREAD_LACP_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/pins.h"
#include "daemon/base/realtime.h"
#include "daemon/lacp_thread/lacp_thread_hold.h"
#include "lacp/lacp.h"

struct lacp_thread_bond;

/* How frames that a port receives reach bond0. */
enum lacp_thread_pair {
	LACP_THREAD_PAIR_CLOSED, /* not now */
	LACP_THREAD_PAIR_AROUND, /* the port side is not up: the programs may go around the pair */
	/* The port side is up, and stays up until the next publish. */
	LACP_THREAD_PAIR_OPEN,
};

/* News for the log; the main loop adds the names. */
struct lacp_thread_event {
	unsigned int slot;
	enum lacp_event event;
	unsigned int detail;
	uint8_t system[LACP_MAC_SIZE]; /* LACP_EVENT_STRANGER: the system */
};

/* Tells the main loop when any bond has news. */
extern const struct realtime_kind lacp_thread_kind;

/*
 * pins must stay mapped until lacp_thread_remove(). Takes over the machines' pinned state if there
 * is one, of those slots that are members (a mask).
 */
struct lacp_thread_bond *lacp_thread_add(struct realtime *realtime, const struct pins *pins,
					 uint64_t members, const struct lacp_config *config,
					 struct err *err);
/*
 * forget: the state of the machines is erased (the bond ends or leaves the mode). Otherwise it
 * stays for the next bondd.
 */
void lacp_thread_remove(struct lacp_thread_bond *bond, bool forget);

/*
 * Every function below returns at once, and the thread runs the machines. Returns 0, or -errno of
 * the lacp_ function.
 */
int lacp_thread_configure(struct lacp_thread_bond *bond, const struct lacp_config *config);
/* Adds the port if it is not there yet. ifindex is where its PDUs go. */
int lacp_thread_set_port(struct lacp_thread_bond *bond, unsigned int slot, int ifindex,
			 const struct lacp_port_config *config);
void lacp_thread_remove_port(struct lacp_thread_bond *bond, unsigned int slot);
int lacp_thread_drain(struct lacp_thread_bond *bond, unsigned int slot);

/* The slots that may collect and distribute now. Safe from any thread. */
uint64_t lacp_thread_collecting(const struct lacp_thread_bond *bond);
uint64_t lacp_thread_distributing(const struct lacp_thread_bond *bond);
struct lacp_prospect lacp_thread_prospect(const struct lacp_thread_bond *bond, uint64_t leaving);
/*
 * Publishes masks, XBOND_F_CARRIER and XBOND_F_OPENING by the present state of the ports, whatever
 * the caller has seen before: of tx the ports that distribute, of members all that collect, and
 * none that the programs have taken out. Beginnings are opened by the thread itself, before the
 * partner is told; so are endings taken out.
 */
void lacp_thread_publish(struct lacp_thread_bond *bond, uint64_t tx, uint64_t members,
			 enum lacp_thread_pair pair);
/*
 * Slots that go on receiving although LACP takes them out of use, because their partners have not
 * stopped sending yet. Call it before the ports are stopped. 0: none any more, from the next
 * lacp_thread_publish() on.
 */
void lacp_thread_linger(struct lacp_thread_bond *bond, uint64_t slots);
/* The slots whose drain goes on. */
uint64_t lacp_thread_draining(const struct lacp_thread_bond *bond);

/* The oldest news of the bond for the log. Returns false if there is none. */
bool lacp_thread_take(struct lacp_thread_bond *bond, struct lacp_thread_event *ret_event);

/* Inside, for lacp_thread.c and its unit test: one bond. */

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

/*
 * Takes over the pinned state and what the programs have done meanwhile, and runs the machines
 * once.
 */
NEEDS(realtime_held)
void lacp_thread_bond_start(struct lacp_thread_bond *bond, uint64_t members,
			    const struct lacp_config *config);
/* Handles PDUs, machines, masks, pinned state and heartbeat. Returns the next deadline. */
NEEDS(realtime_held)
uint64_t lacp_thread_run(struct realtime_bond *realtime, uint64_t now_ns);
/* As the functions above. */
NEEDS(realtime_held)
int lacp_thread_bond_set_port(struct lacp_thread_bond *bond, unsigned int slot, int ifindex,
			      const struct lacp_port_config *config);
NEEDS(realtime_held)
void lacp_thread_bond_publish(struct lacp_thread_bond *bond, uint64_t tx, uint64_t members,
			      enum lacp_thread_pair pair);

#endif
