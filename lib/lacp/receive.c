/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Receive machine, and what it notices beside it: strangers, and loops. */
#include <string.h>

#include "lacp/machines.h"

/*
 * Strangers: with lacp_partner, all other systems. They are counted and remembered, so that `show`
 * can name them and fallback does not use their ports. Called by the Receive machine and system.c.
 */

bool lacp_is_stranger(const struct lacp_system *sys, const uint8_t system[LACP_MAC_SIZE])
{
	return !lacp_is_believed(sys->state.config.believed, system);
}

/* Reported once, and not again for each of many that take turns. */
static void stranger_hear(struct lacp_system *sys, unsigned int slot,
			  const uint8_t system[LACP_MAC_SIZE], uint64_t now_ns)
{
	struct lacp_port_state *port = &sys->port[slot];
	bool is_first = !port->stranger_ns;

	memcpy(port->stranger, system, LACP_MAC_SIZE);
	port->stranger_ns = now_ns + LACP_STRANGER_TIME;
	port->counters.stranger_rx++;
	if (is_first)
		lacp_tell(sys, slot, LACP_EVENT_STRANGER, 0);
}

void lacp_stranger_forget(struct lacp_port_state *port)
{
	port->stranger_ns = 0;
	memset(port->stranger, 0, LACP_MAC_SIZE);
}

void lacp_stranger_settle(struct lacp_port_state *port, uint64_t now_ns)
{
	if (!port->stranger_ns || (port->config.link && !lacp_due(port->stranger_ns, now_ns)))
		return;
	lacp_stranger_forget(port);
}

/*
 * Looped ports: our own PDUs come back, through a cable between two of our ports or a plug. They
 * are not recorded, because a system is no partner of itself. The port is reported and kept out of
 * fallback. Called by the Receive machine and, when the link or time ends the loop, by system.c.
 */

void lacp_loop_enter(struct lacp_system *sys, unsigned int slot, uint16_t loop_port,
		     uint64_t now_ns)
{
	struct lacp_port_state *port = &sys->port[slot];
	uint16_t before = port->loop_port;

	port->loop_port = loop_port;
	port->loop_ns = loop_port ? now_ns + LACP_LOOP_TIME : 0;
	if (loop_port && loop_port != before)
		lacp_tell(sys, slot, LACP_EVENT_LOOP, loop_port);
	if (!loop_port && before)
		lacp_tell(sys, slot, LACP_EVENT_LOOP_ENDED, before);
}

/*
 * Receive machine (6.4.12) with its functions (6.4.9): records what the partner says, and notices
 * when it falls silent. Called by system.c at every evaluation and with every LACPDU for this port.
 */

/*
 * Partner_Admin: no partner, out of sync, and the short timeout, so that a partner that wakes up
 * hears from us within a second. Compared by update_Default_Selected, recorded by recordDefault.
 */
static const struct lacp_info partner_admin = { .state = LACP_TIMEOUT };

/* Everything that 6.4.9 compares, except the port priority. */
static bool receive_same_port(const struct lacp_info *a, const struct lacp_info *b)
{
	return a->port == b->port && a->system_priority == b->system_priority && a->key == b->key &&
	       !memcmp(a->system, b->system, LACP_MAC_SIZE) &&
	       !((a->state ^ b->state) & LACP_AGGREGATION);
}

static bool receive_same_identity(const struct lacp_info *a, const struct lacp_info *b)
{
	return receive_same_port(a, b) && a->port_priority == b->port_priority;
}

/*
 * update_Selected and update_Default_Selected. A new port priority of the partner only changes the
 * order of the ports, which selection checks anyway. A port that works need not leave for it,
 * because the partner waits to read the answer.
 */
static void receive_update_selected(struct lacp_system *sys, unsigned int slot,
				    const struct lacp_info *partner)
{
	struct lacp_port_state *port = &sys->port[slot];

	if (receive_same_identity(partner, &port->partner))
		return;
	if (receive_same_port(partner, &port->partner))
		port->ntt = 1;
	else
		lacp_unselect(sys, slot);
	lacp_tell(sys, slot, LACP_EVENT_PARTNER, 0);
}

static void receive_update_ntt(struct lacp_port_state *port, const struct lacp_pdu *pdu)
{
	const uint8_t bits = LACP_ACTIVITY | LACP_TIMEOUT | LACP_SYNCHRONIZATION;

	if (!receive_same_identity(&pdu->partner, &port->actor) ||
	    (pdu->partner.state ^ port->actor.state) & bits)
		port->ntt = 1;
}

/*
 * The partner's picture of us is wrong in a field that update_NTT does not compare. Our last PDU
 * may have been lost. With the long timeout this would last 30 s, and independent control would not
 * distribute.
 */
static bool receive_is_stale(const struct lacp_port_state *port, const struct lacp_pdu *pdu)
{
	const uint8_t bits = LACP_COLLECTING | LACP_DISTRIBUTING | LACP_EXPIRED;

	return ((pdu->partner.state ^ port->actor.state) & bits) != 0;
}

/*
 * Both ends are passive, and the partner does not know that of us: our PDU was lost. By 6.4.16 we
 * may not speak, so it would go on sending until its timeout. It gets one answer to each PDU.
 */
static void receive_deny_activity(struct lacp_port_state *port, const struct lacp_pdu *pdu)
{
	bool is_passive = !((port->actor.state | pdu->actor.state) & LACP_ACTIVITY);

	if (is_passive && pdu->partner.state & LACP_ACTIVITY && !port->farewell) {
		port->farewell = 1;
		port->ntt = 1;
	}
}

/* It has heard our last PDU. */
static void receive_confirm(struct lacp_port_state *port, const struct lacp_pdu *pdu)
{
	if (!port->ntt && !((pdu->partner.state ^ port->actor.state) & LACP_SYNCHRONIZATION) &&
	    !receive_is_stale(port, pdu))
		port->repeats = 0;
}

/*
 * The partner knows us, or treats the link as individual, and the protocol keeps it up to date. It
 * need not know our port priority, which only orders ports: a new one takes a round trip, and the
 * port goes on meanwhile. What it says of a name that we have left, or have come back to, counts
 * when we have spoken since.
 */
static bool receive_matches(const struct lacp_port_state *port, const struct lacp_pdu *pdu)
{
	bool known = receive_same_port(&pdu->partner, &port->actor) ||
		     !(pdu->actor.state & LACP_AGGREGATION);
	bool spoken = port->farewell <= LACP_REPEATS;

	return known && spoken &&
	       lacp_is_maintained(pdu->actor.state, port->actor.state, pdu->partner.state);
}

static void receive_record_pdu(struct lacp_port_state *port, const struct lacp_pdu *pdu,
			       uint64_t now_ns)
{
	port->matched = receive_matches(port, pdu);
	port->partner = pdu->actor;
	/*
	 * An expired partner has not heard us since its link came up. It does not collect, whatever
	 * else it says.
	 */
	if (!port->matched || pdu->actor.state & LACP_EXPIRED)
		port->partner.state &= (uint8_t)~LACP_SYNCHRONIZATION;
	port->actor.state &= (uint8_t)~LACP_DEFAULTED;
	port->heard_ns = now_ns;
}

static void receive_record_default(struct lacp_port_state *port)
{
	port->partner = partner_admin;
	port->matched = 0;
	port->actor.state |= LACP_DEFAULTED;
}

static int receive_next_while_disabled(const struct lacp_port_state *port)
{
	if (port->moved)
		return LACP_RX_INITIALIZE;
	if (!port->config.link)
		return LACP_STAY;
	return lacp_enabled(&port->config) ? LACP_RX_EXPIRED : LACP_RX_LACP_DISABLED;
}

static int receive_next_while_enabled(const struct lacp_port_state *port, bool pdu_indicated,
				      int on_timeout, uint64_t now_ns)
{
	if (!lacp_enabled(&port->config))
		return LACP_RX_PORT_DISABLED;
	if (pdu_indicated)
		return LACP_RX_CURRENT;
	return lacp_due(port->current_while_ns, now_ns) ? on_timeout : LACP_STAY;
}

int lacp_rx_next(const struct lacp_port_state *port, bool pdu_indicated, uint64_t now_ns)
{
	enum lacp_rx_state state = port->rx;

	if (state == LACP_RX_INITIALIZE)
		return LACP_RX_PORT_DISABLED;
	if (state == LACP_RX_PORT_DISABLED)
		return receive_next_while_disabled(port);
	if (!port->config.link)
		return LACP_RX_PORT_DISABLED;
	switch (state) {
	case LACP_RX_LACP_DISABLED:
		return lacp_enabled(&port->config) ? LACP_RX_PORT_DISABLED : LACP_STAY;
	case LACP_RX_EXPIRED:
		return receive_next_while_enabled(port, pdu_indicated, LACP_RX_DEFAULTED, now_ns);
	case LACP_RX_DEFAULTED:
		return receive_next_while_enabled(port, pdu_indicated, LACP_STAY, now_ns);
	case LACP_RX_CURRENT:
		return receive_next_while_enabled(port, pdu_indicated, LACP_RX_EXPIRED, now_ns);
	case LACP_RX_INITIALIZE:
	case LACP_RX_PORT_DISABLED: break;
	}
	return LACP_STAY;
}

static void receive_enter_initialize(struct lacp_system *sys, unsigned int slot)
{
	struct lacp_port_state *port = &sys->port[slot];

	lacp_unselect(sys, slot);
	receive_record_default(port);
	port->actor.state &= (uint8_t)~LACP_EXPIRED;
	port->moved = 0;
}

/* The selection stays, because the link may come back to the same partner. */
static void receive_enter_port_disabled(struct lacp_port_state *port)
{
	port->partner.state &= (uint8_t)~LACP_SYNCHRONIZATION;
	port->current_while_ns = 0;
}

static void receive_enter_lacp_disabled(struct lacp_system *sys, unsigned int slot)
{
	struct lacp_port_state *port = &sys->port[slot];

	lacp_unselect(sys, slot);
	receive_record_default(port);
	port->partner.state &= (uint8_t)~LACP_AGGREGATION;
	port->actor.state &= (uint8_t)~LACP_EXPIRED;
	port->current_while_ns = 0;
}

static void receive_enter_expired(struct lacp_port_state *port, enum lacp_rx_state from,
				  uint64_t now_ns)
{
	if (from == LACP_RX_PORT_DISABLED)
		port->heard_ns = now_ns;
	port->partner.state &= (uint8_t)~LACP_SYNCHRONIZATION;
	port->partner.state |= LACP_TIMEOUT;
	port->current_while_ns = now_ns + LACP_SHORT_TIMEOUT_TIME;
	port->actor.state |= LACP_EXPIRED;
}

static void receive_enter_defaulted(struct lacp_system *sys, unsigned int slot, uint64_t now_ns)
{
	struct lacp_port_state *port = &sys->port[slot];

	receive_update_selected(sys, slot, &partner_admin);
	receive_record_default(port);
	port->actor.state &= (uint8_t)~LACP_EXPIRED;
	port->current_while_ns = 0;
	lacp_actor_refresh(sys, slot, true, now_ns);
}

/*
 * If lacp_hold asks for the short timeout, because the partner does, it is in force when the
 * partner knows of that. Until then the partner may send every 30 s.
 */
static uint64_t receive_timeout_ns(const struct lacp_system *sys,
				   const struct lacp_port_state *port, const struct lacp_pdu *pdu)
{
	bool knows = sys->state.config.rate_fast || pdu->partner.state & LACP_TIMEOUT;

	return port->actor.state & LACP_TIMEOUT && knows ? LACP_SHORT_TIMEOUT_TIME
							 : LACP_LONG_TIMEOUT_TIME;
}

static void receive_enter_current(struct lacp_system *sys, unsigned int slot,
				  enum lacp_rx_state from, const struct lacp_pdu *pdu,
				  uint64_t now_ns)
{
	struct lacp_port_state *port = &sys->port[slot];
	bool was_expired = from == LACP_RX_CURRENT && port->partner.state & LACP_EXPIRED;

	receive_update_selected(sys, slot, &pdu->actor);
	/* Only a PDU leads to CURRENT. NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
	if (!(pdu->actor.state & LACP_EXPIRED))
		receive_update_ntt(port, pdu);
	port->actor.state &= (uint8_t)~LACP_EXPIRED;
	receive_confirm(port, pdu);
	receive_record_pdu(port, pdu, now_ns);
	lacp_actor_hear(sys, slot, pdu, now_ns);
	lacp_periodic_hear(port, was_expired, receive_is_stale(port, pdu), now_ns);
	receive_deny_activity(port, pdu);
	port->current_while_ns = now_ns + receive_timeout_ns(sys, port, pdu);
}

void lacp_rx_enter(struct lacp_system *sys, unsigned int slot, enum lacp_rx_state state,
		   const struct lacp_pdu *pdu, uint64_t now_ns)
{
	struct lacp_port_state *port = &sys->port[slot];
	enum lacp_rx_state from = port->rx;

	port->rx = (uint8_t)state;
	switch (state) {
	case LACP_RX_INITIALIZE: receive_enter_initialize(sys, slot); break;
	case LACP_RX_PORT_DISABLED: receive_enter_port_disabled(port); break;
	case LACP_RX_LACP_DISABLED: receive_enter_lacp_disabled(sys, slot); break;
	case LACP_RX_EXPIRED: receive_enter_expired(port, from, now_ns); break;
	case LACP_RX_DEFAULTED: receive_enter_defaulted(sys, slot, now_ns); break;
	case LACP_RX_CURRENT: receive_enter_current(sys, slot, from, pdu, now_ns); break;
	}
	if (state != from)
		lacp_tell(sys, slot, LACP_EVENT_RX, state);
}

static struct lacp_end receive_end_of(const struct lacp_info *info)
{
	return (struct lacp_end){ info->system, (const uint8_t *)&info->port };
}

static bool receive_is_foreign(const struct lacp_port_state *port, const struct lacp_pdu *pdu)
{
	return port->rx == LACP_RX_CURRENT &&
	       lacp_is_foreign(pdu->partner.system, port->actor.system, receive_end_of(&pdu->actor),
			       receive_end_of(&port->partner));
}

/* port_moved (6.4.8): a port of the partner that belonged to a dead port is heard on this one. */
static void receive_notice_move(struct lacp_system *sys, unsigned int slot,
				const struct lacp_info *partner)
{
	lacp_for_each_slot (other, sys->used) {
		struct lacp_port_state *port = &sys->port[other];

		if (other != slot && port->rx == LACP_RX_PORT_DISABLED &&
		    port->partner.port == partner->port &&
		    !memcmp(port->partner.system, partner->system, LACP_MAC_SIZE))
			port->moved = 1;
	}
}

/*
 * The link may just have come up. The machine is brought into a state in which it can take a PDU.
 */
static void receive_settle(struct lacp_system *sys, unsigned int slot, uint64_t now_ns)
{
	for (int next; (next = lacp_rx_next(&sys->port[slot], false, 0)) != LACP_STAY;)
		lacp_rx_enter(sys, slot, (enum lacp_rx_state)next, NULL, now_ns);
}

void lacp_rx_indicate(struct lacp_system *sys, unsigned int slot, const struct lacp_pdu *pdu,
		      uint64_t now_ns)
{
	struct lacp_port_state *port = &sys->port[slot];

	receive_settle(sys, slot, now_ns);
	port->counters.lacpdu_rx++;
	if (!memcmp(pdu->actor.system, port->actor.system, LACP_MAC_SIZE)) {
		port->counters.looped_rx++;
		lacp_loop_enter(sys, slot, pdu->actor.port, now_ns);
		return;
	}
	if (lacp_is_stranger(sys, pdu->actor.system)) {
		stranger_hear(sys, slot, pdu->actor.system, now_ns);
		return;
	}
	if (receive_is_foreign(port, pdu)) {
		port->counters.foreign_rx++;
		port->ntt = 1;
		return;
	}
	if (lacp_rx_next(port, true, now_ns) != LACP_RX_CURRENT)
		return;
	lacp_loop_enter(sys, slot, 0, now_ns);
	receive_notice_move(sys, slot, &pdu->actor);
	lacp_rx_enter(sys, slot, LACP_RX_CURRENT, pdu, now_ns);
}
