/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The inputs of the LACP core: options, ports and their links, frames, and adoption after a
 * restart. These functions check their input and prepare the state; lacp_run() acts on it.
 */
#include <errno.h>
#include <string.h>

#include "lacp/machines.h"

#define MAX_USER_KEY 1023

struct lacp_config lacp_config_default(void)
{
	return (struct lacp_config){
		.system_priority = 65535,
		.active = 1,
		.coupled = 1,
		.hold = 1,
		.revert = 1,
		.ad_select = LACP_AD_STABLE,
		.fallback = LACP_FALLBACK_ONE,
		.fallback_delay_ms = 3000,
	};
}

void lacp_init(struct lacp_system *sys, const struct lacp_config *config,
	       const struct lacp_outputs *outputs, void *context)
{
	memset(sys, 0, sizeof(*sys));
	sys->state.version = LACP_STATE_VERSION;
	sys->state.config = *config;
	sys->outputs = outputs;
	sys->context = context;
}

static bool port_is_valid_config(const struct lacp_config *config)
{
	static const uint8_t none[LACP_MAC_SIZE];

	return !(config->system[0] & 1) && memcmp(config->system, none, LACP_MAC_SIZE) != 0 &&
	       config->user_port_key <= MAX_USER_KEY && config->ad_select <= LACP_AD_PORT_PRIO &&
	       config->fallback <= LACP_FALLBACK_ALL;
}

/* With another delay, a running fallback timer starts again; one that has ended stays ended. */
static void port_restart_fallback_timers(struct lacp_system *sys)
{
	unsigned int slot;

	lacp_for_each_slot (slot, sys->used) {
		if (!sys->port[slot].fallback)
			lacp_fallback_timer_enter(&sys->port[slot], 0);
	}
}

/* lacp_partner now names another system, so this partner is no longer accepted. */
static void port_drop_stranger(struct lacp_system *sys, unsigned int slot, uint64_t now_ns)
{
	struct lacp_port_state *port = &sys->port[slot];

	lacp_stranger_forget(port);
	if (!lacp_has_partner(port) || !lacp_is_stranger(sys, port->partner.system))
		return;
	lacp_leave(sys, slot, now_ns);
	lacp_rx_enter(sys, slot, LACP_RX_INITIALIZE, NULL, now_ns);
}

int lacp_configure(struct lacp_system *sys, const struct lacp_config *config, uint64_t now_ns)
{
	struct lacp_config before = sys->state.config;
	bool literal = before.rate_fast != config->rate_fast || before.hold != config->hold;
	unsigned int slot;

	if (!port_is_valid_config(config))
		return -EINVAL;
	sys->state.config = *config;
	if (before.fallback_delay_ms != config->fallback_delay_ms)
		port_restart_fallback_timers(sys);
	lacp_for_each_slot (slot, sys->used) {
		lacp_actor_refresh(sys, slot, literal, now_ns);
		if (memcmp(before.believed, config->believed, LACP_MAC_SIZE) != 0)
			port_drop_stranger(sys, slot, now_ns);
	}
	return 0;
}

static bool port_is_valid_port(const struct lacp_port_config *config)
{
	return config->port &&
	       (config->duplex <= LACP_DUPLEX_FULL || config->duplex == LACP_DUPLEX_UNKNOWN);
}

static bool port_is_known(const struct lacp_system *sys, unsigned int slot)
{
	return slot < LACP_MAX_PORTS && sys->used >> slot & 1;
}

static bool port_is_number_taken(const struct lacp_system *sys, uint16_t number)
{
	unsigned int slot;

	lacp_for_each_slot (slot, sys->used) {
		if (sys->port[slot].config.port == number)
			return true;
	}
	return false;
}

static void port_store_config(struct lacp_port_state *port, const struct lacp_port_config *config)
{
	port->config = *config;
	port->stopped = config->link == LACP_LINK_STOPPED;
	if (port->stopped)
		port->config.link = LACP_LINK_DOWN;
}

/* BEGIN: puts every machine into its first state. */
static void port_begin(struct lacp_system *sys, unsigned int slot, uint64_t now_ns)
{
	struct lacp_port_state *port = &sys->port[slot];

	lacp_actor_refresh(sys, slot, true, now_ns);
	lacp_rx_enter(sys, slot, LACP_RX_INITIALIZE, NULL, now_ns);
	lacp_periodic_enter(port, LACP_PERIODIC_NONE, now_ns);
	lacp_mux_enter(sys, slot, LACP_MUX_DETACHED, now_ns);
	lacp_actor_churn_enter(sys, slot, LACP_CHURN_MONITOR, now_ns);
	lacp_partner_churn_enter(sys, slot, LACP_CHURN_MONITOR, now_ns);
}

int lacp_port_add(struct lacp_system *sys, unsigned int slot, const struct lacp_port_config *config,
		  uint64_t now_ns)
{
	if (slot >= LACP_MAX_PORTS || !port_is_valid_port(config))
		return -EINVAL;
	if (port_is_known(sys, slot) || port_is_number_taken(sys, config->port))
		return -EEXIST;
	memset(&sys->port[slot], 0, sizeof(sys->port[slot]));
	port_store_config(&sys->port[slot], config);
	sys->port[slot].used = 1;
	sys->used |= 1ull << slot;
	port_begin(sys, slot, now_ns);
	return 0;
}

int lacp_port_configure(struct lacp_system *sys, unsigned int slot,
			const struct lacp_port_config *config, uint64_t now_ns)
{
	if (!port_is_known(sys, slot))
		return -ENOENT;
	if (!port_is_valid_port(config) || config->port != sys->port[slot].config.port)
		return -EINVAL;
	if (config->link == LACP_LINK_STOPPED && !sys->port[slot].stopped) {
		sys->port[slot].config.link = LACP_LINK_UP; /* it may just have come up */
		lacp_leave(sys, slot, now_ns);
	}
	port_store_config(&sys->port[slot], config);
	lacp_actor_refresh(sys, slot, false, now_ns);
	return 0;
}

int lacp_port_remove(struct lacp_system *sys, unsigned int slot, uint64_t now_ns)
{
	if (!port_is_known(sys, slot))
		return -ENOENT;
	lacp_leave(sys, slot, now_ns);
	if (sys->port[slot].farewell >
	    /* not sent by the machine: the last PDU cannot wait, because there is no later time */
	    LACP_REPEATS)
		lacp_transmit_enter(sys, slot, LACP_TRANSMIT_SEND, now_ns);
	memset(&sys->port[slot], 0, sizeof(sys->port[slot]));
	sys->used &= ~(1ull << slot);
	return 0;
}

int lacp_receive(struct lacp_system *sys, unsigned int slot, const uint8_t *frame, size_t length,
		 uint64_t now_ns)
{
	struct lacp_decoded decoded;

	if (!port_is_known(sys, slot))
		return -ENOENT;
	if (!sys->port[slot].config.link)
		return -ENETDOWN;
	lacp_pdu_decode(frame, length, &decoded);
	switch (decoded.kind) {
	case LACP_PDU_LACP: lacp_rx_indicate(sys, slot, &decoded.pdu, now_ns); return 0;
	case LACP_PDU_MARKER: lacp_marker_respond(sys, slot, &decoded.marker, now_ns); return 0;
	case LACP_PDU_MARKER_RESPONSE:
		lacp_marker_response(sys, slot, &decoded.marker, now_ns);
		return 0;
	case LACP_PDU_UNKNOWN: sys->port[slot].counters.unknown_rx++; return 0;
	case LACP_PDU_ILLEGAL: sys->port[slot].counters.illegal_rx++; return -EINVAL;
	}
	return -EINVAL;
}

int lacp_drain(struct lacp_system *sys, unsigned int slot, uint64_t now_ns)
{
	if (!port_is_known(sys, slot))
		return -ENOENT;
	if (!(sys->port[slot].actor.state & LACP_DISTRIBUTING))
		return -EAGAIN;
	lacp_marker_enter(sys, slot, LACP_MARKER_WAITING, false, now_ns);
	return 0;
}

static bool port_is_valid_state(const struct lacp_port_state *port)
{
	return port->used && port_is_valid_port(&port->config) &&
	       port->actor.port == port->config.port && port->rx <= LACP_RX_CURRENT &&
	       port->periodic <= LACP_PERIODIC_TX &&
	       port->mux <= LACP_MUX_COLLECTING_DISTRIBUTING && port->selected <= LACP_STANDBY &&
	       port->aggregator <= LACP_MAX_PORTS && port->actor_churn <= LACP_CHURN_CHURNED &&
	       port->partner_churn <= LACP_CHURN_CHURNED && port->marker <= LACP_MARKER_WAITING &&
	       port->fallback <= 1 && port->refusals <= LACP_REFUSED_DOUBLINGS;
}

int lacp_adopt(struct lacp_system *sys, const struct lacp_system_state *state,
	       const struct lacp_port_state port[LACP_MAX_PORTS], uint64_t used)
{
	unsigned int slot;

	if (state->version != LACP_STATE_VERSION)
		return -EPROTO;
	if (!port_is_valid_config(&state->config) || state->active_aggregator > LACP_MAX_PORTS)
		return -EINVAL;
	lacp_for_each_slot (slot, used) {
		if (!port_is_valid_state(&port[slot]))
			return -EINVAL;
	}
	sys->state = *state;
	sys->used = used;
	lacp_for_each_slot (slot, used) {
		sys->port[slot] = port[slot];
	}
	return 0;
}

static void port_note_answer(struct lacp_port_state *port, uint64_t sent_ns)
{
	if (sent_ns <= port->sent_ns[LACP_TX_LIMIT - 1])
		return;
	memmove(port->sent_ns, port->sent_ns + 1, sizeof(port->sent_ns) - sizeof(*port->sent_ns));
	port->sent_ns[LACP_TX_LIMIT - 1] = sent_ns;
}

/*
 * The answer before the last may have been sent in the same second, so it is taken to be as late as
 * it may have been.
 */
static void port_note_answers(struct lacp_port_state *port, uint64_t last_ns)
{
	if (last_ns > LACP_HOLD_GAP)
		port_note_answer(port, last_ns - LACP_HOLD_GAP);
	port_note_answer(port, last_ns);
}

/*
 * Nothing is known. The port must hear from its partner before it carries traffic again, and
 * fallback waits for its delay.
 */
static void port_expire(struct lacp_port_state *port)
{
	port->current_while_ns = 1;
	lacp_fallback_timer_enter(port, 0);
}

void lacp_hold_ended(struct lacp_system *sys, unsigned int slot, uint64_t heard_ns,
		     uint64_t silence_ns, uint64_t sent_ns)
{
	struct lacp_port_state *port = &sys->port[slot];

	if (!port_is_known(sys, slot))
		return;
	port_note_answers(port, sent_ns);
	if (port->rx != LACP_RX_CURRENT)
		return;
	if (!heard_ns) {
		port_expire(port);
		return;
	}
	if (heard_ns <= port->heard_ns)
		return;
	port->heard_ns = heard_ns;
	port->current_while_ns = heard_ns + silence_ns;
}
