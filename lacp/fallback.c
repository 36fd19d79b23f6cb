/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fallback (not in the standard), for a machine that boots over the network before its switch
 * speaks LACP, and for a machine whose partner falls silent or does not attach its ports. While no
 * port is in sync, ports may carry traffic without LACP. This changes nothing in the protocol: the
 * PDUs stay true. Called by system.c.
 */
#include "lacp/machines.h"

#define NS_PER_MS 1000000ull
#define PROBE_TIME (50 * NS_PER_MS)
#define AT_ONCE 1 /* a deadline that has passed */
#define CARRY (LACP_COLLECTING | LACP_DISTRIBUTING)

static bool fallback_is_possible(const struct lacp_port_state *port)
{
	return port->config.link && lacp_enabled(&port->config) && !port->loop_port &&
	       !port->stranger_ns;
}

/*
 * A port that carries traffic goes over at once when its partner falls silent, as the kernel's
 * does. Other ports wait for a delay, in which a partner may speak, and a partner that speaks may
 * get in sync with a port that says that it is in sync.
 */
uint64_t lacp_fallback_timer_next(const struct lacp_system *sys, unsigned int slot, uint64_t now_ns)
{
	const struct lacp_port_state *port = &sys->port[slot];
	uint64_t delay_ns = sys->state.config.fallback_delay_ms * NS_PER_MS;

	if (!fallback_is_possible(port))
		return 0;
	if (port->actor.state & CARRY)
		return AT_ONCE;
	if (lacp_is_live(port) && !port->fallback)
		return port->out_sync_ns ? port->out_sync_ns + delay_ns : 0;
	return port->fallback_ns ? port->fallback_ns : now_ns + delay_ns + !now_ns;
}

void lacp_fallback_timer_enter(struct lacp_port_state *port, uint64_t fallback_ns)
{
	port->fallback_ns = fallback_ns;
}

static uint64_t fallback_probe_sent_ns(const struct lacp_port_state *port)
{
	for (unsigned int i = 0; i < LACP_TX_LIMIT; i++)
		if (port->sent_ns[i] && port->sent_ns[i] >= port->heard_ns)
			return port->sent_ns[i];
	return 0;
}

uint64_t lacp_fallback_deadline(const struct lacp_port_state *port)
{
	uint64_t probed_ns = fallback_probe_sent_ns(port) + PROBE_TIME;

	return port->fallback_ns && !port->fallback && probed_ns > port->fallback_ns ? probed_ns
										     : 0;
}

/*
 * Has a PDU left since the link came up, and had the time to come back if there were a loop? A
 * passive port sends none.
 */
static bool fallback_has_probed(const struct lacp_port_state *port, uint64_t now_ns)
{
	if (port->periodic == LACP_PERIODIC_NONE || port->fallback_ns == AT_ONCE)
		return true;
	return fallback_probe_sent_ns(port) && now_ns - fallback_probe_sent_ns(port) >= PROBE_TIME;
}

/*
 * A partner that knows us and does not get in sync has refused us: its port stands by, or it has
 * too few links. A partner that does not know us has not refused us. Neither ends a fallback that
 * is in effect; only a port in sync does.
 */
static bool fallback_may_carry(const struct lacp_port_state *port, uint64_t now_ns)
{
	if (!lacp_due(port->fallback_ns, now_ns))
		return false;
	if (port->fallback)
		return true;
	return lacp_is_live(port) ? !lacp_is_known(port) : fallback_has_probed(port, now_ns);
}

/*
 * A port that already carries traffic must not lose its place and regain it with every PDU that
 * arrives.
 */
static bool fallback_is_talked_to(const struct lacp_port_state *port)
{
	return lacp_is_live(port) && !port->fallback;
}

/* A port whose partner is silent is preferred: the partner of the other does not get in sync. */
static bool fallback_is_better(const struct lacp_port_state *a, const struct lacp_port_state *b)
{
	if (fallback_is_talked_to(a) != fallback_is_talked_to(b))
		return fallback_is_talked_to(b);
	if (a->config.port_priority != b->config.port_priority)
		return a->config.port_priority < b->config.port_priority;
	return a->config.port < b->config.port;
}

static bool fallback_is_any_in_sync(const struct lacp_system *sys)
{
	unsigned int slot;

	lacp_for_each_slot (slot, sys->used) {
		if (sys->port[slot].actor.state & CARRY)
			return true;
	}
	return false;
}

/* The best of these slots. */
static uint64_t fallback_choose(const struct lacp_system *sys, uint64_t slots, unsigned int most)
{
	uint64_t chosen = 0;

	while (slots && most--) {
		unsigned int slot, best = (unsigned int)__builtin_ctzll(slots);

		lacp_for_each_slot (slot, slots) {
			if (fallback_is_better(&sys->port[slot], &sys->port[best]))
				best = slot;
		}
		chosen |= 1ull << best;
		slots &= ~(1ull << best);
	}
	return chosen;
}

uint64_t lacp_fallback_next(const struct lacp_system *sys, uint64_t now_ns)
{
	const struct lacp_config *config = &sys->state.config;
	unsigned int slot, most = config->max_links ? config->max_links : LACP_MAX_PORTS;
	uint64_t possible = 0;

	if (config->strict || config->fallback == LACP_FALLBACK_NONE ||
	    fallback_is_any_in_sync(sys))
		return 0;
	lacp_for_each_slot (slot, sys->used) {
		possible |= (uint64_t)fallback_may_carry(&sys->port[slot], now_ns) << slot;
	}
	return fallback_choose(sys, possible, config->fallback == LACP_FALLBACK_ONE ? 1 : most);
}

void lacp_fallback_enter(struct lacp_system *sys, unsigned int slot, bool carry)
{
	sys->port[slot].fallback = carry;
	lacp_tell(sys, slot, LACP_EVENT_FALLBACK, carry);
}
