/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The thread that speaks LACP for every 802.3ad bond: takes PDUs from the ring buffers that
 * the receive programs fill, runs the machines at their deadlines, sends. It makes no
 * rtnetlink request, because the kernel may block one for seconds while somebody changes
 * routes. What it finds out is told to the main loop through lacp_thread_fd() and
 * lacp_thread_take().
 */
#ifndef XBOND_DAEMON_LACP_THREAD_LACP_THREAD_H
#define XBOND_DAEMON_LACP_THREAD_LACP_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/pins.h"
#include "lacp/lacp.h"

struct lacp_thread;
struct lacp_thread_bond;

/* How what a port receives reaches bond0. */
enum lacp_thread_pair {
	LACP_THREAD_PAIR_CLOSED, /* not now */
	LACP_THREAD_PAIR_AROUND, /* the port side is not up: the programs may go around the pair */
	/* The port side is up, and stays so until the next lacp_thread_publish(). */
	LACP_THREAD_PAIR_OPEN,
};

/* Something for the log; the main loop knows the names. */
struct lacp_thread_event {
	unsigned int slot;
	enum lacp_event event;
	unsigned int detail;
	uint8_t system[LACP_MAC_SIZE]; /* LACP_EVENT_STRANGER: who */
};

/* NULL and a line in err on failure. The thread starts with the first bond. */
struct lacp_thread *lacp_thread_new(struct err *err);
void lacp_thread_free(struct lacp_thread *lacp_thread);
/* Readable when some bond has news. */
int lacp_thread_fd(const struct lacp_thread *lacp_thread);
/* Empties lacp_thread_fd(). False: it was empty. */
bool lacp_thread_acknowledge(struct lacp_thread *lacp_thread);

/*
 * pins must stay mapped until lacp_thread_remove(). Takes over the machines' pinned state if there
 * is one, of those slots that are members (a mask).
 */
struct lacp_thread_bond *lacp_thread_add(struct lacp_thread *lacp_thread, const struct pins *pins,
					 uint64_t members, const struct lacp_config *config,
					 struct err *err);
/*
 * forget: the machines' state is wiped (the bond ends or leaves the mode); else it stays for the
 * next bondd.
 */
void lacp_thread_remove(struct lacp_thread_bond *bond, bool forget);

/*
 * Every call below returns at once; the thread runs the machines. 0 or -errno as the lacp_ function
 * says.
 */
int lacp_thread_configure(struct lacp_thread_bond *bond, const struct lacp_config *config);
/* Adds the port if it is not there yet. ifindex is where its PDUs go. */
int lacp_thread_set_port(struct lacp_thread_bond *bond, unsigned int slot, int ifindex,
			 const struct lacp_port_config *config);
void lacp_thread_remove_port(struct lacp_thread_bond *bond, unsigned int slot);
int lacp_thread_drain(struct lacp_thread_bond *bond, unsigned int slot);

/* Slots that may collect and distribute now. Safe from any thread. */
uint64_t lacp_thread_collecting(const struct lacp_thread_bond *bond);
uint64_t lacp_thread_distributing(const struct lacp_thread_bond *bond);
/*
 * Masks, XBOND_F_CARRIER and XBOND_F_OPENING, as the thread has the ports now, whatever the caller
 * has seen before: of tx what distributes, of members all that collect, none that the programs have
 * taken out. The thread itself opens what begins, before the partner is told, and takes out what
 * ends.
 */
void lacp_thread_publish(struct lacp_thread_bond *bond, uint64_t tx, uint64_t members,
			 enum lacp_thread_pair pair);
/*
 * Slots that go on receiving although LACP takes them out of use, because their partners have yet
 * to cease sending. Told before the ports are stopped; 0: none any more, from the next
 * lacp_thread_publish() on.
 */
void lacp_thread_linger(struct lacp_thread_bond *bond, uint64_t slots);
/* Slots whose drain goes on. */
uint64_t lacp_thread_draining(const struct lacp_thread_bond *bond);

/* Oldest news of the bond for the log; false: no more. */
bool lacp_thread_take(struct lacp_thread_bond *bond, struct lacp_thread_event *ret_event);

#endif
