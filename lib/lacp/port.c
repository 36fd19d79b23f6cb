/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What comes from outside, and what the actor then says of itself. */
#include <errno.h>
#include <string.h>

#include "lacp/machines.h"

/*
 * Keys (6.3.5) in the form of kernel bonding: bit 0 duplex, bits 1-5 a code of the speed, bits 6-15
 * the user's ad_user_port_key; and which ports may speak LACP at all. Also for the
 * Receive machine.
 */

#define OTHER_SPEED 31

/* The index is the code. 0 stands for an unknown speed. */
static const uint32_t speeds_mbps[] = {
	0,     1,     10,    100,   1000,   2500,   5000,   10000,  14000, 20000,
	25000, 40000, 50000, 56000, 100000, 200000, 400000, 800000, 80000,
};

static unsigned int key_speed_code(uint32_t speed_mbps)
{
	for (unsigned int code = 0; code < sizeof(speeds_mbps) / sizeof(*speeds_mbps); code++)
		if (speeds_mbps[code] == speed_mbps)
			return code;
	return OTHER_SPEED;
}

/*
 * Half duplex is excluded (6.1.1). A virtual NIC that does not know its speed does not know its
 * duplex either, whatever it says.
 */
bool lacp_enabled(const struct lacp_port_config *config)
{
	return config->duplex != LACP_DUPLEX_HALF || !config->speed_mbps;
}

uint16_t lacp_key(const struct lacp_port_config *config, uint16_t user_key)
{
	unsigned int duplex = lacp_enabled(config);

	return (uint16_t)(user_key << 6 | key_speed_code(config->speed_mbps) << 1 | duplex);
}

/*
 * What the actor says of itself: the fields of Actor_Oper that come from options and device
 * (6.4.7), and the timeout that it asks for. Called by the Receive machine, and when options or the
 * device change. The bits that belong to a machine (synchronization to expired) are left alone.
 */

#define OWN_BITS (LACP_ACTIVITY | LACP_TIMEOUT | LACP_AGGREGATION)

static struct lacp_info actor_wanted(const struct lacp_system *sys,
				     const struct lacp_port_state *port, bool short_timeout)
{
	const struct lacp_config *config = &sys->state.config;
	struct lacp_info info = {
		.system_priority = config->system_priority,
		.key = lacp_key(&port->config, config->user_port_key),
		.port_priority = port->config.port_priority,
		.port = port->config.port,
		.state = port->actor.state & (uint8_t)~OWN_BITS,
	};

	memcpy(info.system, config->system, LACP_MAC_SIZE);
	if (config->active)
		info.state |= LACP_ACTIVITY;
	if (short_timeout)
		info.state |= LACP_TIMEOUT;
	if (lacp_enabled(&port->config))
		info.state |= LACP_AGGREGATION;
	return info;
}

static bool actor_same_lag_id(const struct lacp_info *a, const struct lacp_info *b)
{
	return !memcmp(a->system, b->system, LACP_MAC_SIZE) &&
	       a->system_priority == b->system_priority && a->key == b->key &&
	       !((a->state ^ b->state) & LACP_AGGREGATION);
}

/*
 * Partners of a system that asked for the short timeout send slowly only after they have heard of
 * the long one.
 */
static void actor_extend_current_while(struct lacp_port_state *port)
{
	if (port->rx == LACP_RX_CURRENT)
		port->current_while_ns = port->heard_ns + LACP_LONG_TIMEOUT_TIME;
}

/* Neither end would speak any more, so the partner would learn nothing. */
static bool actor_falls_silent(const struct lacp_port_state *port, const struct lacp_info *info)
{
	return port->actor.state & ~info->state & ~port->partner.state & LACP_ACTIVITY;
}

/*
 * A port leaves its aggregator: each machine that has a part in it goes back to its first state.
 * Outside learns of it at once, the partner as soon as the rate of PDUs allows it; else it would go
 * on sending for up to 90 seconds.
 */
static void port_leave(struct lacp_system *sys, unsigned int slot, uint64_t now_ns)
{
	struct lacp_port_state *port = &sys->port[slot];

	lacp_unselect(sys, slot);
	if (port->mux != LACP_MUX_DETACHED)
		lacp_mux_enter(sys, slot, LACP_MUX_DETACHED, now_ns);
	if (port->fallback)
		lacp_fallback_enter(sys, slot, false);
	if (port->told)
		sys->outputs->port(sys->context, slot, false, false);
	port->told = 0;
	if (port->marker == LACP_MARKER_WAITING)
		lacp_marker_enter(sys, slot, LACP_MARKER_IDLE, false, now_ns);
	if (!lacp_has_partner(port) || !port->config.link)
		return;
	port->farewell = 1 + LACP_REPEATS;
	lacp_transmit_enter(sys, slot, lacp_transmit_next(port, now_ns), now_ns);
}

/*
 * The partner hears of it under the old identity. Under the new one it must attach its port anew,
 * when it has heard that.
 */
static void actor_leave_lag(struct lacp_system *sys, unsigned int slot, uint64_t now_ns)
{
	struct lacp_port_state *port = &sys->port[slot];

	if (port->mux == LACP_MUX_DETACHED)
		lacp_unselect(sys, slot);
	else
		port_leave(sys, slot, now_ns);
	port->matched = 0;
	port->partner.state &= (uint8_t)~LACP_SYNCHRONIZATION;
	if (lacp_has_partner(port) || port->farewell)
		port->farewell = 1 + LACP_REPEATS;
}

static void actor_apply(struct lacp_system *sys, unsigned int slot, bool short_timeout,
			uint64_t now_ns)
{
	struct lacp_port_state *port = &sys->port[slot];
	struct lacp_info info = actor_wanted(sys, port, short_timeout);
	bool longer = port->actor.state & ~info.state & LACP_TIMEOUT;

	if (!memcmp(&port->actor, &info, sizeof(info)))
		return;
	if (!actor_same_lag_id(&port->actor, &info) || actor_falls_silent(port, &info)) {
		actor_leave_lag(sys, slot, now_ns);
		info = actor_wanted(sys, port, short_timeout);
	}
	port->actor = info;
	port->ntt = 1;
	if (longer)
		actor_extend_current_while(port);
}

void lacp_actor_refresh(struct lacp_system *sys, unsigned int slot, bool literal, uint64_t now_ns)
{
	const struct lacp_port_state *port = &sys->port[slot];
	bool keep = !literal && port->actor.state & LACP_TIMEOUT;

	actor_apply(sys, slot, sys->state.config.rate_fast || keep, now_ns);
}

/*
 * With hold, we ask for the short timeout whenever the partner does. Two systems that do so would
 * never return to the long one. Therefore a partner that still believes that we ask for the short
 * one proves nothing, and the timeout is kept.
 */
void lacp_actor_hear(struct lacp_system *sys, unsigned int slot, const struct lacp_pdu *pdu,
		     uint64_t now_ns)
{
	const struct lacp_port_state *port = &sys->port[slot];
	bool keep = pdu->partner.state & port->actor.state & LACP_TIMEOUT;
	bool follow =
		pdu->actor.state & LACP_TIMEOUT && (keep || !(pdu->partner.state & LACP_TIMEOUT));

	actor_apply(sys, slot, sys->state.config.rate_fast || (sys->state.config.hold && follow),
		    now_ns);
}

/*
 * The inputs of the LACP core: options, ports and their links, frames, and adoption after a
 * restart. These functions check their input and prepare the state; lacp_run() acts on it.
 */

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
	port_leave(sys, slot, now_ns);
	lacp_rx_enter(sys, slot, LACP_RX_INITIALIZE, NULL, now_ns);
}

int lacp_configure(struct lacp_system *sys, const struct lacp_config *config, uint64_t now_ns)
{
	struct lacp_config before = sys->state.config;
	bool literal = before.rate_fast != config->rate_fast || before.hold != config->hold;

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
	return sys->used & lacp_bit(slot);
}

static bool port_is_number_taken(const struct lacp_system *sys, uint16_t number)
{
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
	sys->used |= lacp_bit(slot);
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
		port_leave(sys, slot, now_ns);
	}
	port_store_config(&sys->port[slot], config);
	lacp_actor_refresh(sys, slot, false, now_ns);
	return 0;
}

int lacp_port_remove(struct lacp_system *sys, unsigned int slot, uint64_t now_ns)
{
	if (!port_is_known(sys, slot))
		return -ENOENT;
	port_leave(sys, slot, now_ns);
	if (sys->port[slot].farewell >
	    /* not sent by the machine: the last PDU cannot wait, because there is no later time */
	    LACP_REPEATS)
		lacp_transmit_enter(sys, slot, LACP_TRANSMIT_SEND, now_ns);
	memset(&sys->port[slot], 0, sizeof(sys->port[slot]));
	sys->used &= ~lacp_bit(slot);
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
	lacp_for_each_slot (slot, used)
		sys->port[slot] = port[slot];
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

/*
 * An answer asks for the short timeout if the partner does. If the partner did so before, we have
 * decided about that: lacp_actor_hear().
 */
void lacp_hold_ended(struct lacp_system *sys, unsigned int slot, const struct lacp_held *held)
{
	struct lacp_port_state *port = &sys->port[slot];

	if (!port_is_known(sys, slot))
		return;
	port_note_answers(port, held->answered_ns);
	if (port->rx != LACP_RX_CURRENT)
		return;
	if (!held->heard_ns) {
		port_expire(port);
		return;
	}
	port->heard_ns = held->heard_ns;
	port->current_while_ns = held->heard_ns + held->silence_ns;
	if (held->asked_for_short && !(port->partner.state & LACP_TIMEOUT))
		port->actor.state |= LACP_TIMEOUT;
}
