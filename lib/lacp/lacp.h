/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * LACP (IEEE Std 802.1AX-2014, clause 6) for one bond, without sockets, clock, memory or log.
 * lacp_thread.c gives inputs with their time, and calls lacp_run() after one or several of them and
 * whenever the deadline that it returned has come. What shall happen comes out through struct
 * lacp_outputs; what is, can be read in struct lacp_system at any time.
 * docs/developers/lacp.md says which clause is where.
 *
 * A restart:   lacp_init(), lacp_adopt(), lacp_configure() and lacp_port_configure() with what is
 * true now, lacp_hold_ended() where the kernel answered meanwhile, lacp_receive() for what waits in
 * the sockets, lacp_run(). What did not change is not disturbed.
 *
 * Times are absolute, in nanoseconds of one clock that never goes back, and above 0. Slots are
 * 0..63. Functions that can refuse return 0 or -errno, and then nothing is changed.
 */
#ifndef XBOND_LACP_LACP_H
#define XBOND_LACP_LACP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lacp/state.h"

/* Of all frames that are sent; with the Ethernet header, without FCS. */
#define LACP_FRAME_SIZE 124
#define LACP_NEVER UINT64_MAX

/* For the log. `detail` is what the comment says, otherwise 0. */
enum lacp_event {
	LACP_EVENT_RX,	       /* Receive machine: new enum lacp_rx_state */
	LACP_EVENT_MUX,	       /* Mux machine: new enum lacp_mux_state */
	LACP_EVENT_SELECTED,   /* new enum lacp_selected */
	LACP_EVENT_PARTNER,    /* other partner information was recorded */
	LACP_EVENT_LOOP,       /* our own port with that number is heard here */
	LACP_EVENT_LOOP_ENDED, /* it no longer is */
	/* 1: the port carries traffic without a partner; 0: it no longer does */
	LACP_EVENT_FALLBACK,
	LACP_EVENT_ACTOR_CHURN, /* new enum lacp_churn_state */
	LACP_EVENT_PARTNER_CHURN,
	/* A system that is not lacp_partner is heard: lacp_port_state.stranger. */
	LACP_EVENT_STRANGER,
	/* 1: out of sync for too long, so other ports of the LAG come first; 0: no longer. */
	LACP_EVENT_BEHIND,
	/* the machines did not come to rest, which is a bug; retried in 100 ms */
	LACP_EVENT_RESTLESS,
};

/*
 * Called from within the functions below. They must not call back into the core. All are required.
 */
struct lacp_outputs {
	/* Sends LACP_FRAME_SIZE octets from the destination address on. */
	void (*transmit)(void *context, unsigned int slot, const uint8_t *frame, size_t length);
	/*
	 * The port may (or may not) collect and distribute from now on. Always called before the
	 * PDU that announces it.
	 */
	void (*port)(void *context, unsigned int slot, bool collecting, bool distributing);
	/* Another aggregator is in use; 0: none. */
	void (*aggregator)(void *context, unsigned int aggregator);
	/*
	 * lacp_drain() of the port is done. answered: by a marker response; otherwise time ran out
	 * or the port left.
	 */
	void (*drained)(void *context, unsigned int slot, bool answered);
	void (*event)(void *context, unsigned int slot, enum lacp_event event, unsigned int detail);
};

/* Callers may read everything and write nothing. */
struct lacp_system {
	struct lacp_system_state state;
	struct lacp_port_state port[LACP_MAX_PORTS];
	uint64_t used; /* bit per slot */
	const struct lacp_outputs *outputs;
	void *context;
};

/*
 * Defaults: those of kernel bonding where it has the option, otherwise those of xbond.conf(5). The
 * address of the system is zero.
 */
struct lacp_config lacp_config_default(void);

/* Makes a system without ports. */
void lacp_init(struct lacp_system *sys, const struct lacp_config *config,
	       const struct lacp_outputs *outputs, void *context);

/*
 * Sets the options, also while running. A new system address, priority or user key changes the LAG
 * and therefore disturbs every port; other options disturb only the ports that they concern.
 * -EINVAL: the address is not unicast, the key is over 1023, or an enumeration is out of range.
 */
int lacp_configure(struct lacp_system *sys, const struct lacp_config *config, uint64_t now_ns);

/*
 * Adds a port. -EINVAL: bad slot, port number 0, or bad duplex; -EEXIST: the slot is in use, or
 * another port uses the number.
 */
int lacp_port_add(struct lacp_system *sys, unsigned int slot, const struct lacp_port_config *config,
		  uint64_t now_ns);

/*
 * Sets link, speed, duplex, priority and address. LACP_LINK_STOPPED on a link that was up tells the
 * partner and outputs->port as lacp_port_remove() does; then the link is down. -ENOENT: no such
 * port; -EINVAL: as above, or another port number.
 */
int lacp_port_configure(struct lacp_system *sys, unsigned int slot,
			const struct lacp_port_config *config, uint64_t now_ns);

/*
 * Tells the partner (a PDU out of sync, which does not wait for the rate of PDUs) and
 * outputs->port, and forgets the port. -ENOENT.
 */
int lacp_port_remove(struct lacp_system *sys, unsigned int slot, uint64_t now_ns);

/*
 * Takes a slow protocol frame, from its destination address on; a VLAN tag with id 0 is allowed.
 * Returns 0 if it was taken, or ignored by a rule (counted). -EINVAL: malformed (counted); -ENOENT:
 * no such port; -ENETDOWN: its link is down.
 */
int lacp_receive(struct lacp_system *sys, unsigned int slot, const uint8_t *frame, size_t length,
		 uint64_t now_ns);

/*
 * Runs all machines until they come to rest. Returns the absolute time of the next call, or
 * LACP_NEVER.
 */
uint64_t lacp_run(struct lacp_system *sys, uint64_t now_ns);

/*
 * Sends a marker after the data that was sent on the port. outputs->drained follows once, within
 * LACP_DRAIN_TIME. A second call starts again and drops the first. -ENOENT: no such port; -EAGAIN:
 * the port does not distribute by LACP, so there is nothing to drain.
 */
int lacp_drain(struct lacp_system *sys, unsigned int slot, uint64_t now_ns);

/*
 * Loads state saved by an earlier process into a system that was just initialized. The clock must
 * be the same. Slots not in `used` are left out. -EPROTO: another version; -EINVAL: this code
 * cannot have written that state.
 */
int lacp_adopt(struct lacp_system *sys, const struct lacp_system_state *state,
	       const struct lacp_port_state port[LACP_MAX_PORTS], uint64_t used);

/* What the kernel has done for a port while we were away (LACP hold). */
struct lacp_held {
	/*
	 * When it last heard the same, unchanged partner, later than we did. 0: it gave the port up
	 * (silence, another partner, the link went down). Then the port expires, and carries
	 * traffic again when its partner is heard.
	 */
	uint64_t heard_ns;
	uint64_t silence_ns;  /* how long the partner may be silent from then on */
	uint64_t answered_ns; /* its last answer; 0: none */
	bool asked_for_short; /* that answer did, for the short timeout */
};

/*
 * Call it before lacp_run(). Without hold, the caller must report a link that was down meanwhile
 * (carrier_changes): lacp_port_configure() down, lacp_run(), then up.
 */
void lacp_hold_ended(struct lacp_system *sys, unsigned int slot, const struct lacp_held *held);

/* The ports that distribute, by LACP or by fallback; one bit per slot. */
uint64_t lacp_distributing(const struct lacp_system *sys);
uint64_t lacp_collecting(const struct lacp_system *sys);

/* What would be if some ports left; one bit per slot. */
struct lacp_prospect {
	uint8_t aggregator;    /* the one in use then; 0: none */
	uint64_t distributing; /* ports that do so now, and would go on */
	uint64_t standby;      /* ports that would begin to, as far as max_links lets them */
	uint64_t selected;     /* ports of that aggregator that are selected already */
	/*
	 * Live ports that max_links and lacp_wtr would let in at once, those that go on included.
	 */
	uint64_t chosen;
	uint64_t fallback; /* ports that would begin to carry traffic without a partner */
};

/*
 * leaving: as if lacp_port_configure() stopped them. Whether the partners of ports that stand by
 * would let them distribute cannot be known.
 */
struct lacp_prospect lacp_prospect(const struct lacp_system *sys, uint64_t leaving,
				   uint64_t now_ns);
/*
 * A port of the active aggregator, for its partner and key: the one in the lowest slot; -1 if there
 * is none.
 */
int lacp_representative(const struct lacp_system *sys);
/* The number of selected ports in the active aggregator. */
unsigned int lacp_num_ports(const struct lacp_system *sys);
/* rate_effective: does any port ask for the short timeout? */
bool lacp_rate_fast(const struct lacp_system *sys);

/* Names for people and JSON; "?" for an invalid number. */
const char *lacp_rx_name(unsigned int state);
const char *lacp_mux_name(unsigned int state);
const char *lacp_selected_name(unsigned int selected);
const char *lacp_churn_name(unsigned int state);
/* The flag of bit 0..7 of lacp_info.state. */
const char *lacp_flag_name(unsigned int bit);

#endif
