/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the machines of the LACP core share; only for the core and its tests. For each machine,
 * `*_next` decides and changes nothing: it returns the state to enter, or LACP_STAY. `*_enter` does
 * what the standard's box for that state says, and nobody else writes that state. system.c
 * evaluates again until all stay.
 */
#ifndef XBOND_LACP_MACHINES_H
#define XBOND_LACP_MACHINES_H

#include "lacp/frame.h"
#include "lacp/lacp.h"

#define LACP_STAY (-1)
#define LACP_CARRY (LACP_COLLECTING | LACP_DISTRIBUTING)

/* 6.4.4 */
#define LACP_FAST_PERIODIC_TIME (1 * LACP_SECOND)
#define LACP_SLOW_PERIODIC_TIME (30 * LACP_SECOND)
#define LACP_CHURN_DETECTION_TIME (60 * LACP_SECOND)
#define LACP_AGGREGATE_WAIT_TIME (2 * LACP_SECOND)
/* Not in the standard: */
#define LACP_CROSSING_TIME (LACP_SECOND / 50)
#define LACP_RETRY_TIME (LACP_FAST_PERIODIC_TIME / 3 + 1000000) /* as LACP_TX_LIMIT allows */
#define LACP_DRAIN_TIME (3 * LACP_SECOND)
/* an aggregator that was in sync is not left for one that is not, until the partner can answer */
#define LACP_RETURN_TIME LACP_SECOND
/* an aggregator gets at least this time to get in sync */
#define LACP_YIELD_TIME (4 * LACP_SECOND)
#define LACP_LOOP_TIME LACP_LONG_TIMEOUT_TIME
#define LACP_STRANGER_TIME LACP_LONG_TIMEOUT_TIME
/*
 * A port may be attached and out of sync for this time. Then it rests for twice as long, and longer
 * each time.
 */
#define LACP_REFUSED_TIME (5 * LACP_SECOND)
#define LACP_REFUSED_DOUBLINGS 4
#define LACP_HANDOVER_TIME LACP_SECOND /* for a partner that waits for us while we wait for it */
#define LACP_UNSETTLED_TIME (30 * LACP_SECOND)
#define LACP_REPEATS 3 /* one a second */
/* in a second, of the ten frames that IEEE Std 802.3 57A.2 allows */
#define LACP_MARKER_RESPONSES 5

static inline bool lacp_due(uint64_t deadline_ns, uint64_t now_ns)
{
	return deadline_ns && now_ns >= deadline_ns;
}

static inline bool lacp_has_partner(const struct lacp_port_state *port)
{
	static const uint8_t none[LACP_MAC_SIZE];

	return !lacp_same(port->partner.system, none, LACP_MAC_SIZE);
}

/* These are as in bpf/slots.h: this folder uses nothing of other folders. */
static inline uint64_t lacp_bit(unsigned int slot)
{
	return slot < LACP_MAX_PORTS ? UINT64_C(1) << slot : 0;
}

static inline unsigned int lacp_next_slot(uint64_t slots, unsigned int from)
{
	slots &= from < LACP_MAX_PORTS ? ~UINT64_C(0) << from : 0;
	return slots ? (unsigned int)__builtin_ctzll(slots) : LACP_MAX_PORTS;
}

#define lacp_for_each_slot(slot, slots)                                           \
	for (unsigned int slot = lacp_next_slot(slots, 0); slot < LACP_MAX_PORTS; \
	     slot = lacp_next_slot(slots, slot + 1))

/* system.c */
void lacp_tell(const struct lacp_system *sys, unsigned int slot, enum lacp_event event,
	       unsigned int detail);

/* port.c */
bool lacp_enabled(const struct lacp_port_config *config);
uint16_t lacp_key(const struct lacp_port_config *config, uint16_t user_key);
/*
 * What we say of ourselves. literal: the timeout is that of lacp_rate again, whatever the partner
 * asks for.
 */
void lacp_actor_refresh(struct lacp_system *sys, unsigned int slot, bool literal, uint64_t now_ns);
void lacp_actor_hear(struct lacp_system *sys, unsigned int slot, const struct lacp_pdu *pdu,
		     uint64_t now_ns);

/* receive.c */
int lacp_rx_next(const struct lacp_port_state *port, bool pdu_indicated, uint64_t now_ns);
void lacp_rx_enter(struct lacp_system *sys, unsigned int slot, enum lacp_rx_state state,
		   const struct lacp_pdu *pdu, uint64_t now_ns);
void lacp_rx_indicate(struct lacp_system *sys, unsigned int slot, const struct lacp_pdu *pdu,
		      uint64_t now_ns);
void lacp_loop_enter(struct lacp_system *sys, unsigned int slot, uint16_t loop_port,
		     uint64_t now_ns);
bool lacp_is_stranger(const struct lacp_system *sys, const uint8_t system[LACP_MAC_SIZE]);
void lacp_stranger_forget(struct lacp_port_state *port);
/* Forgets it when its time is over or the link is down. */
void lacp_stranger_settle(struct lacp_port_state *port, uint64_t now_ns);

/* transmit.c */
int lacp_periodic_next(const struct lacp_port_state *port, uint64_t now_ns);
void lacp_periodic_enter(struct lacp_port_state *port, enum lacp_periodic_state state,
			 uint64_t now_ns);
/*
 * The partner was recorded. If it has become expired, or does not know yet what we do (stale), it
 * gets a PDU now. The PDU waits a moment after the previous one, which may still be on its way. An
 * expired partner gets more PDUs, at shorter intervals than usual, until it has heard one.
 */
void lacp_periodic_hear(struct lacp_port_state *port, bool was_expired, bool stale,
			uint64_t now_ns);
/*
 * A PDU may have been lost. So one is sent every second, for a while, as long as the partner has
 * not confirmed what we do now, or does not yet collect what we are ready to send.
 */
void lacp_periodic_hasten(struct lacp_port_state *port, uint64_t now_ns);
enum lacp_transmit {
	LACP_TRANSMIT_NOTHING,
	LACP_TRANSMIT_CLEAR, /* 6.4.16: without periodic transmission, ntt is forgotten */
	LACP_TRANSMIT_SEND,
	LACP_TRANSMIT_LATER, /* three were sent in the last interval */
};
enum lacp_transmit lacp_transmit_next(const struct lacp_port_state *port, uint64_t now_ns);
void lacp_transmit_enter(struct lacp_system *sys, unsigned int slot, enum lacp_transmit action,
			 uint64_t now_ns);
uint64_t lacp_transmit_allowed_ns(const struct lacp_port_state *port); /* 0: at once */
void lacp_marker_respond(struct lacp_system *sys, unsigned int slot,
			 const struct lacp_marker *marker, uint64_t now_ns);
int lacp_marker_next(const struct lacp_port_state *port, uint64_t now_ns);
/* answered: the reason why the machine becomes idle. */
void lacp_marker_enter(struct lacp_system *sys, unsigned int slot, enum lacp_marker_state state,
		       bool answered, uint64_t now_ns);
void lacp_marker_response(struct lacp_system *sys, unsigned int slot,
			  const struct lacp_marker *marker, uint64_t now_ns);

/* selection.c */
bool lacp_is_live(const struct lacp_port_state *port);
/* Both ends have heard each other. */
bool lacp_is_known(const struct lacp_port_state *port);
/* Is a selected before b? Both are ports of one LAG. */
bool lacp_comes_before(const struct lacp_port_state *a, const struct lacp_port_state *b);
uint8_t lacp_aggregator_next(const struct lacp_system *sys, uint64_t now_ns);
void lacp_aggregator_enter(struct lacp_system *sys, uint8_t aggregator, uint64_t now_ns);
struct lacp_choice {
	enum lacp_selected selected;
	uint8_t aggregator;
};
struct lacp_choice lacp_selection_next(const struct lacp_system *sys, unsigned int slot,
				       uint64_t now_ns);
void lacp_selection_enter(struct lacp_system *sys, unsigned int slot, struct lacp_choice choice);
/* Unselects a port whose LAG is no longer the one it was selected for. */
void lacp_unselect(struct lacp_system *sys, unsigned int slot);

/* rank.c */
/* lacp_wtr: it has failed and is back, and the others can do without it for a while. */
bool lacp_is_restoring(const struct lacp_system *sys, const struct lacp_port_state *port,
		       uint64_t now_ns);
/*
 * A port that works stays until the port before it can take over, so one more may be selected
 * meanwhile.
 */
bool lacp_is_within_max_links(const struct lacp_system *sys, const struct lacp_port_state *port,
			      uint64_t now_ns);
/* min_links_lacp: too few ports of the aggregator could carry traffic. */
bool lacp_misses_min_links(const struct lacp_system *sys, uint8_t aggregator);
/*
 * Notes since when the port has been in its present condition. Returns true if its rank has
 * changed.
 */
bool lacp_rank_note_times(struct lacp_system *sys, unsigned int slot, uint64_t now_ns);
/* Called when the machines have come to rest. Returns true if they must run again. */
bool lacp_rank_settle(struct lacp_system *sys);
/* The time when a rank, or a right to take over, may change by itself; 0: never. */
uint64_t lacp_rank_deadline(const struct lacp_system *sys, const struct lacp_port_state *port,
			    uint64_t now_ns);

/* mux.c */
bool lacp_mux_ready(const struct lacp_system *sys, uint8_t aggregator, uint64_t now_ns);
int lacp_mux_next(const struct lacp_port_state *port, bool coupled, bool ready);
/*
 * A port does not begin to carry traffic while the limit of PDUs keeps it from telling the partner
 * that it is in sync. It does not begin to distribute before max_links leaves room.
 */
bool lacp_mux_may(const struct lacp_system *sys, const struct lacp_port_state *port,
		  enum lacp_mux_state next, uint64_t now_ns);
void lacp_mux_enter(struct lacp_system *sys, unsigned int slot, enum lacp_mux_state state,
		    uint64_t now_ns);
int lacp_actor_churn_next(const struct lacp_port_state *port, uint64_t now_ns);
int lacp_partner_churn_next(const struct lacp_port_state *port, uint64_t now_ns);
void lacp_actor_churn_enter(struct lacp_system *sys, unsigned int slot, enum lacp_churn_state state,
			    uint64_t now_ns);
void lacp_partner_churn_enter(struct lacp_system *sys, unsigned int slot,
			      enum lacp_churn_state state, uint64_t now_ns);
/* Call the timer first, because lacp_fallback_next() reads it. */
uint64_t lacp_fallback_timer_next(const struct lacp_system *sys, unsigned int slot,
				  uint64_t now_ns);
void lacp_fallback_timer_enter(struct lacp_port_state *port, uint64_t fallback_ns);
/* The slots that shall carry traffic. */
uint64_t lacp_fallback_next(const struct lacp_system *sys, uint64_t now_ns);
/* The time by which a loop would have been found; 0: never. */
uint64_t lacp_fallback_deadline(const struct lacp_port_state *port);
void lacp_fallback_enter(struct lacp_system *sys, unsigned int slot, bool carry);

#endif
