/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fallback (ours): a machine that boots over the network before its switch speaks LACP. A port without a partner
 * may carry traffic after lacp_fallback_delay, until the first PDU on any port. It changes nothing in the protocol:
 * what the PDUs say stays true for LACP. Called by system.c.
 */
#include "daemon/lacp/machines.h"

#define NS_PER_MS 1000000ull
#define PROBE_TIME (50 * NS_PER_MS)

static bool is_alone(const struct lacp_port_state *port)
{
	return port->config.link && lacp_enabled(&port->config) && !lacp_has_partner(port) &&
	       !port->loop_port;
}

uint64_t lacp_fallback_timer_next(const struct lacp_system *sys, unsigned int slot, uint64_t now_ns)
{
	const struct lacp_port_state *port = &sys->port[slot];

	if (!is_alone(port))
		return 0;
	return port->fallback_ns ? port->fallback_ns
				 : now_ns + sys->state.config.fallback_delay_ms * NS_PER_MS + !now_ns;
}

void lacp_fallback_timer_enter(struct lacp_port_state *port, uint64_t fallback_ns)
{
	port->fallback_ns = fallback_ns;
}

/* A PDU left since the link is up and had the time to come back, had there been a loop. A passive port sends none. */
static bool has_probed(const struct lacp_port_state *port, uint64_t now_ns)
{
	if (port->periodic == LACP_PERIODIC_NONE)
		return true;
	for (unsigned int i = 0; i < LACP_TX_LIMIT; i++)
		if (port->sent_ns[i] >= port->heard_ns && now_ns - port->sent_ns[i] >= PROBE_TIME)
			return true;
	return false;
}

static bool is_better(const struct lacp_port_config *a, const struct lacp_port_config *b)
{
	return a->port_priority != b->port_priority ? a->port_priority < b->port_priority : a->port < b->port;
}

static bool anyone_has_partner(const struct lacp_system *sys)
{
	unsigned int slot;

	lacp_for_each_slot (slot, sys->used) {
		if (sys->port[slot].config.link && lacp_has_partner(&sys->port[slot]))
			return true;
	}
	return false;
}

uint64_t lacp_fallback_next(const struct lacp_system *sys, uint64_t now_ns)
{
	enum lacp_fallback mode = sys->state.config.strict ? LACP_FALLBACK_NONE : sys->state.config.fallback;
	uint64_t all = 0, best = 0;
	unsigned int slot, best_slot = 0;

	if (mode == LACP_FALLBACK_NONE || anyone_has_partner(sys))
		return 0;
	lacp_for_each_slot (slot, sys->used) {
		if (!lacp_due(sys->port[slot].fallback_ns, now_ns) || !has_probed(&sys->port[slot], now_ns))
			continue;
		all |= 1ull << slot;
		if (!best || is_better(&sys->port[slot].config, &sys->port[best_slot].config))
			best_slot = slot;
		best = 1ull << best_slot;
	}
	return mode == LACP_FALLBACK_ALL ? all : best;
}

void lacp_fallback_enter(struct lacp_system *sys, unsigned int slot, bool carry)
{
	sys->port[slot].fallback = carry;
	lacp_tell(sys, slot, LACP_EVENT_FALLBACK, carry);
}
