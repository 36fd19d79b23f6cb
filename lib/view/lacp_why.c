/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a port does and why it does no more, in one sentence: `why` of the JSON. Only reads the
 * state. Called for `show`. The first line of the table whose test is true gives the sentence: the
 * nearest cause comes before its consequences.
 */
#include "view/lacp_why.h"

#include <string.h>

#include "lacp/machines.h"

struct why {
	const struct lacp_system *sys;
	const struct lacp_port_state *port;
	unsigned int slot;
	uint64_t now_ns;
	lacp_port_name name;
	const void *name_context;
	char *text;
	size_t at;
};

static void why_say(struct why *why, const char *words)
{
	for (; *words && why->at + 1 < LACP_WHY_SIZE; words++)
		why->text[why->at++] = *words;
	why->text[why->at] = '\0';
}

static void why_say_number(struct why *why, uint64_t number)
{
	char digits[21];
	size_t at = sizeof(digits) - 1;

	digits[at] = '\0';
	do
		digits[--at] = (char)('0' + number % 10);
	while (number /= 10);
	why_say(why, digits + at);
}

static void why_say_system(struct why *why, const uint8_t system[LACP_MAC_SIZE])
{
	static const char hex[] = "0123456789abcdef";

	for (unsigned int i = 0; i < LACP_MAC_SIZE; i++) {
		char octet[] = { hex[system[i] >> 4], hex[system[i] & 15],
				 i + 1 < LACP_MAC_SIZE ? ':' : '\0', '\0' };

		why_say(why, octet);
	}
}

static void why_say_port(struct why *why, unsigned int slot)
{
	const char *name = why->name ? why->name(why->name_context, slot) : NULL;

	if (name) {
		why_say(why, name);
		return;
	}
	why_say(why, "port ");
	why_say_number(why, why->sys->port[slot].config.port);
}

static void why_say_silence(struct why *why)
{
	uint64_t tenths = (why->now_ns - why->port->heard_ns) / (LACP_SECOND / 10);

	why_say(why, "no LACPDU for ");
	why_say_number(why, tenths / 10);
	why_say(why, ".");
	why_say_number(why, tenths % 10);
	why_say(why, " s");
}

static bool why_no_link(struct why *why)
{
	if (why->port->config.link)
		return false;
	why_say(why, why->port->stopped ? "the bond is administratively down" : "link down");
	return true;
}

static bool why_no_lacp(struct why *why)
{
	if (lacp_enabled(&why->port->config))
		return false;
	why_say(why, "no LACP: half duplex");
	return true;
}

static void why_say_loop_port(struct why *why, uint16_t number)
{
	lacp_for_each_slot (slot, why->sys->used) {
		if (why->sys->port[slot].config.port != number || slot == why->slot)
			continue;
		why_say(why, "looped: connected to ");
		why_say_port(why, slot);
		why_say(why, " of this bond");
		return;
	}
	why_say(why, "looped: its own LACPDUs come back");
}

static bool why_looped(struct why *why)
{
	if (!why->port->loop_port)
		return false;
	why_say_loop_port(why, why->port->loop_port);
	return true;
}

static bool why_in_fallback(struct why *why)
{
	if (!why->port->fallback)
		return false;
	if (why->port->rx == LACP_RX_CURRENT) {
		why_say(why, "carries traffic (lacp_fallback) until the partner attaches its port");
		return true;
	}
	why_say(why, "carries traffic without a partner (lacp_fallback): ");
	why_say_silence(why);
	return true;
}

static bool why_with_stranger(struct why *why)
{
	if (!why->port->stranger_ns || why->port->rx == LACP_RX_CURRENT)
		return false;
	why_say(why, "hears ");
	why_say_system(why, why->port->stranger);
	why_say(why, ", which is not lacp_partner ");
	why_say_system(why, why->sys->state.config.believed);
	return true;
}

static bool why_silent(struct why *why)
{
	if (why->port->rx == LACP_RX_CURRENT)
		return false;
	why_say_silence(why);
	if (!lacp_has_partner(why->port) && !(why->port->actor.state & LACP_ACTIVITY))
		why_say(why, ", and lacp_active is off");
	return true;
}

static bool why_distributing(struct why *why)
{
	if (!(why->port->actor.state & LACP_DISTRIBUTING))
		return false;
	why_say(why, "collecting and distributing");
	return true;
}

static void why_say_difference(struct why *why, const char *what, uint64_t this, uint64_t that)
{
	why_say(why, what);
	why_say_number(why, this);
	why_say(why, " differs from the aggregator's ");
	why_say_number(why, that);
}

static void why_say_other_system(struct why *why, const struct lacp_port_state *peer)
{
	why_say(why, "connected to another switch (");
	why_say_system(why, why->port->partner.system);
	why_say(why, "); the others reach ");
	why_say_system(why, peer->partner.system);
}

static void why_say_lag_difference(struct why *why, const struct lacp_port_state *peer)
{
	const struct lacp_info *ours = &why->port->partner, *theirs = &peer->partner;

	if (!(ours->state & LACP_AGGREGATION))
		why_say(why, "the partner takes it as an individual link");
	else if (memcmp(ours->system, theirs->system, LACP_MAC_SIZE) != 0)
		why_say_other_system(why, peer);
	else if (ours->key != theirs->key)
		why_say_difference(why, "partner key ", ours->key, theirs->key);
	else if (ours->system_priority != theirs->system_priority)
		why_say_difference(why, "partner system priority ", ours->system_priority,
				   theirs->system_priority);
	else if (why->port->actor.key != peer->actor.key)
		why_say_difference(why, "actor key ", why->port->actor.key, peer->actor.key);
	else
		why_say(why, "the aggregator's link is an individual one");
}

static bool why_other_aggregator(struct why *why)
{
	int peer = lacp_representative(why->sys);

	if (peer < 0 || why->port->selected == LACP_UNSELECTED ||
	    why->port->aggregator == why->sys->state.active_aggregator)
		return false;
	why_say(why, "not aggregated: ");
	why_say_lag_difference(why, &why->sys->port[peer]);
	return true;
}

/* The last selected port of the LAG in the order; this port comes after it. */
static void why_say_better_port(struct why *why)
{
	unsigned int last = LACP_MAX_PORTS;

	lacp_for_each_slot (slot, why->sys->used) {
		if (why->sys->port[slot].selected == LACP_SELECTED &&
		    (last == LACP_MAX_PORTS ||
		     lacp_comes_before(&why->sys->port[last], &why->sys->port[slot])))
			last = slot;
	}
	if (last == LACP_MAX_PORTS)
		return;
	why_say(why, ", lower priority than ");
	why_say_port(why, last);
}

/* By its priority alone it would be in use. */
static bool why_is_kept_out(const struct why *why)
{
	unsigned int before = 0;

	lacp_for_each_slot (slot, why->sys->used) {
		const struct lacp_port_state *other = &why->sys->port[slot];

		before += slot != why->slot && other->selected != LACP_UNSELECTED &&
			  other->aggregator == why->port->aggregator &&
			  lacp_comes_before(other, why->port);
	}
	return before < why->sys->state.config.max_links;
}

static bool why_few_links(struct why *why)
{
	if (why->port->selected != LACP_STANDBY ||
	    !lacp_misses_min_links(why->sys, why->port->aggregator))
		return false;
	why_say(why, "not in sync (min_links_lacp): fewer than ");
	why_say_number(why, why->sys->state.config.min_links);
	why_say(why, " ports can work");
	if (why->sys->state.config.max_links &&
	    why->sys->state.config.max_links < why->sys->state.config.min_links) {
		why_say(why, ", because max_links is ");
		why_say_number(why, why->sys->state.config.max_links);
	}
	return true;
}

static bool why_restoring(struct why *why)
{
	uint64_t end_ns = why->port->live_ns + why->sys->state.config.wtr_s * LACP_SECOND;

	if (why->port->selected != LACP_STANDBY ||
	    !lacp_is_restoring(why->sys, why->port, why->now_ns))
		return false;
	why_say(why, "standby: it has failed, and lacp_wtr keeps it out for ");
	why_say_number(why, (end_ns - why->now_ns + LACP_SECOND - 1) / LACP_SECOND);
	why_say(why, " s more");
	return true;
}

static bool why_standby(struct why *why)
{
	if (why->port->selected != LACP_STANDBY)
		return false;
	why_say(why, "standby: max_links ");
	why_say_number(why, why->sys->state.config.max_links);
	if (why->port->behind_ns)
		why_say(why, ", and it did not get in sync");
	else if (why_is_kept_out(why))
		why_say(why, ", and the others work (lacp_revert off)");
	else
		why_say_better_port(why);
	return true;
}

static bool why_waiting(struct why *why)
{
	if (why->port->mux != LACP_MUX_WAITING && why->port->mux != LACP_MUX_DETACHED)
		return false;
	why_say(why, "about to be attached: waiting for other ports");
	return true;
}

static bool why_unknown_to_partner(struct why *why)
{
	if (why->port->matched)
		return false;
	why_say(why, "not in sync: the partner does not know this port, or has "
		     "forgotten it");
	return true;
}

static bool why_unheard(struct why *why)
{
	if (!(why->port->partner.state & LACP_EXPIRED))
		return false;
	why_say(why, "not in sync: the partner says that it does not hear this port");
	return true;
}

static bool why_partner_out_of_sync(struct why *why)
{
	if (why->port->partner.state & LACP_SYNCHRONIZATION)
		return false;
	why_say(why, "not in sync: the partner has not attached its port");
	return true;
}

static bool why_handing_over(struct why *why)
{
	if (why->port->actor.state & LACP_COLLECTING)
		return false;
	why_say(why, why->sys->state.config.max_links
			     ? "about to take over from a port of lower priority"
			     : "about to carry traffic");
	return true;
}

static bool why_collecting_only(struct why *why)
{
	why_say(why, "collecting only: the partner does not collect yet");
	return true;
}

void lacp_why(const struct lacp_system *sys, unsigned int slot, uint64_t now_ns,
	      lacp_port_name name, const void *name_context, char *text)
{
	static bool (*const causes[])(struct why *) = {
		why_no_link,
		why_no_lacp,
		why_distributing,
		why_looped,
		why_in_fallback,
		why_with_stranger,
		why_silent,
		why_other_aggregator,
		why_few_links,
		why_restoring,
		why_standby,
		why_waiting,
		why_unheard,
		why_unknown_to_partner,
		why_partner_out_of_sync,
		why_handing_over,
		why_collecting_only,
	};
	struct why why = { .sys = sys,
			   .port = &sys->port[slot],
			   .slot = slot,
			   .now_ns = now_ns,
			   .name = name,
			   .name_context = name_context,
			   .text = text };

	text[0] = '\0';
	for (unsigned int i = 0; i < sizeof(causes) / sizeof(*causes); i++)
		if (causes[i](&why))
			return;
}
