/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The thread that speaks LACP for every 802.3ad bond: takes PDUs from the ring buffers that
 * the receive programs fill, runs the machines at their deadlines, sends. It makes no
 * rtnetlink request, because the kernel may block one for seconds while somebody changes
 * routes. What it finds out is told to the main loop through slowio_fd() and slowio_take().
 */
#ifndef XBOND_DAEMON_LACP_THREAD_LACP_THREAD_H
#define XBOND_DAEMON_LACP_THREAD_LACP_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/pins.h"
#include "lacp/lacp.h"

struct slowio;
struct slowio_bond;

/* How what a port receives reaches bond0. */
enum slowio_pair {
	SLOWIO_PAIR_CLOSED, /* not now */
	SLOWIO_PAIR_AROUND, /* the port side is not up: the programs may go around the pair */
	/* The port side is up, and stays so until the next slowio_publish(). */
	SLOWIO_PAIR_OPEN,
};

/* Something for the log; the main loop knows the names. */
struct slowio_event {
	unsigned int slot;
	enum lacp_event event;
	unsigned int detail;
	uint8_t system[LACP_MAC_SIZE]; /* LACP_EVENT_STRANGER: who */
};

/* NULL and a line in err on failure. The thread starts with the first bond. */
struct slowio *slowio_new(struct err *err);
void slowio_free(struct slowio *slowio);
/* Readable when some bond has news. */
int slowio_fd(const struct slowio *slowio);
/* Empties slowio_fd(). False: it was empty. */
bool slowio_acknowledge(struct slowio *slowio);

/*
 * pins must stay mapped until slowio_remove(). Takes over the machines' pinned state if there is
 * one, of those slots that are members (a mask).
 */
struct slowio_bond *slowio_add(struct slowio *slowio, const struct pins *pins, uint64_t members,
			       const struct lacp_config *config, struct err *err);
/*
 * forget: the machines' state is wiped (the bond ends or leaves the mode); else it stays for the
 * next bondd.
 */
void slowio_remove(struct slowio_bond *bond, bool forget);

/*
 * Every call below returns at once; the thread runs the machines. 0 or -errno as the lacp_ function
 * says.
 */
int slowio_configure(struct slowio_bond *bond, const struct lacp_config *config);
/* Adds the port if it is not there yet. ifindex is where its PDUs go. */
int slowio_set_port(struct slowio_bond *bond, unsigned int slot, int ifindex,
		    const struct lacp_port_config *config);
void slowio_remove_port(struct slowio_bond *bond, unsigned int slot);
int slowio_drain(struct slowio_bond *bond, unsigned int slot);

/* Slots that may collect and distribute now. Safe from any thread. */
uint64_t slowio_collecting(const struct slowio_bond *bond);
uint64_t slowio_distributing(const struct slowio_bond *bond);
/*
 * Masks, XBOND_F_CARRIER and XBOND_F_OPENING, as the thread has the ports now, whatever the caller
 * has seen before: of tx what distributes, of members all that collect, none that the programs have
 * taken out. The thread itself opens what begins, before the partner is told, and takes out what
 * ends.
 */
void slowio_publish(struct slowio_bond *bond, uint64_t tx, uint64_t members, enum slowio_pair pair);
/*
 * Slots that go on receiving although LACP takes them out of use, because their partners have yet
 * to cease sending. Told before the ports are stopped; 0: none any more, from the next
 * slowio_publish() on.
 */
void slowio_linger(struct slowio_bond *bond, uint64_t slots);
/* Slots whose drain goes on. */
uint64_t slowio_draining(const struct slowio_bond *bond);

/* Oldest news of the bond for the log; false: no more. */
bool slowio_take(struct slowio_bond *bond, struct slowio_event *ret_event);

#endif
