/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <string.h>

#include "bpf/slots.h"
#include "common/clock.h"
#include "common/mac.h"
#include "common/mode.h"
#include "daemon/base/event.h"
#include "daemon/bond/daemon.h"
#include "daemon/bond/evaluate.h"
#include "daemon/bond/part.h"
#include "daemon/lacp_thread/lacp_thread.h"
#include "lacp/lacp.h"
#include "rules/active.h"
#include "view/view_bond.h"

/* What the LACP thread was told last. */
struct bond_lacp {
	struct lacp_thread_bond *thread; /* NULL in the other modes */
	struct marker_wait markers;	 /* before flows leave slots */
	struct dataplane_plan marked_for;
	struct lacp_config config;
	struct lacp_port_config ports[XBOND_MAX_SLAVES];
	struct standby_state standby;
	/* Slots that carry traffic, or would, without those that a monitor wants to take out. */
	uint64_t prospect;
	uint64_t told; /* slots that carry traffic, as the log has it */
};

static struct bond_lacp *lacp_of(const struct bond *bond)
{
	return part_of_bond(bond, &lacp_part);
}

/* The carrier was lost and came back, and LACP must be told. */
static bool *bond_lacp_flapped(const struct bond *bond, unsigned int slot)
{
	return part_of_member(bond, &lacp_part, slot);
}

struct lacp_thread_bond *bond_lacp_thread(const struct bond *bond)
{
	return lacp_of(bond)->thread;
}

static struct lacp_config bond_lacp_config_of(struct bond *bond)
{
	const struct xbond_bond *pin = bond_pin(bond);
	struct lacp_config config = {
		.system_priority = (uint16_t)pin->ad_actor_sys_prio,
		.user_port_key = (uint16_t)pin->ad_user_port_key,
		.max_links = (uint16_t)pin->max_links,
		.min_links = (uint16_t)pin->min_links,
		.rate_fast = !!pin->lacp_rate,
		.active = !!pin->lacp_active,
		.coupled = !!pin->coupled_control,
		.strict = !!pin->lacp_strict,
		.hold = !!pin->lacp_hold,
		.ad_select = (uint8_t)pin->ad_select,
		.fallback = (uint8_t)pin->lacp_fallback,
		.revert = !!pin->lacp_revert,
		.min_links_strict = !!pin->min_links_lacp,
		.wtr_s = (uint16_t)pin->lacp_wtr_s,
		.fallback_delay_ms = pin->lacp_fallback_delay_ms,
	};
	bool own = !mac_is_zero(pin->ad_actor_system);

	memcpy(config.system, own ? pin->ad_actor_system : pin->mac, XBOND_MAC_SIZE);
	memcpy(config.believed, pin->lacp_partner, XBOND_MAC_SIZE);
	return config;
}

/*
 * A no of ARP or BFD takes no port from LACP: until the port distributes, partners drop probes, and
 * may begin no BFD session (RFC 7130, 3). The port only sends nothing else meanwhile.
 */
static bool bond_lacp_has_link(struct bond *bond, unsigned int slot)
{
	uint32_t refusing = bond_link_refusing(bond, slot) & XBOND_MONITORS_HARD;
	enum xbond_link link = bond_slave(bond, slot)->link;

	if (link == XBOND_LINK_UP || link == XBOND_LINK_GOING_DOWN)
		return true;
	if (link == XBOND_LINK_GOING_UP)
		return lacp_of(bond)->ports[slot].link == LACP_LINK_UP;
	return refusing && !(refusing & ~(1u << XBOND_MONITOR_ARP | 1u << XBOND_MONITOR_BFD));
}

/* Has it carrier, and is held down by another monitor, or was so until its updelay began? */
static bool bond_lacp_is_held_down(struct bond *bond, unsigned int slot)
{
	if (!(bond->members[slot].verdict.works >> XBOND_MONITOR_CARRIER & 1))
		return false;
	return bond_slave(bond, slot)->link == XBOND_LINK_GOING_UP
		       ? lacp_of(bond)->ports[slot].link == LACP_LINK_STOPPED
		       : bond_link_refusing(bond, slot);
}

/*
 * A bond that is administratively down receives nothing. Nor does a slave that is about to be
 * reset, or that a monitor holds down: its partner must not send.
 */
static uint8_t bond_lacp_link_of(struct bond *bond, unsigned int slot)
{
	if (!bond_lacp_has_link(bond, slot))
		return bond_lacp_is_held_down(bond, slot) ? LACP_LINK_STOPPED : LACP_LINK_DOWN;
	return bond->device.is_down || slots_have(bond->rx_turn.out, slot) ? LACP_LINK_STOPPED
									   : LACP_LINK_UP;
}

/*
 * The port's number is made from the slot: never 0, never over 65535, the same after a restart and
 * a rename.
 */
static struct lacp_port_config bond_lacp_port_config_of(struct bond *bond, unsigned int slot)
{
	const struct xbond_slave *slave = bond_slave(bond, slot);
	struct lacp_port_config config = {
		.speed_mbps = slave->speed_mbps,
		.port = (uint16_t)(slot + 1),
		.port_priority = (uint16_t)slave->actor_port_prio,
		.duplex = (uint8_t)slave->duplex,
		.link = bond_lacp_link_of(bond, slot),
	};

	memcpy(config.mac, slave->mac, XBOND_MAC_SIZE);
	return config;
}

static void bond_lacp_enter(struct bond *bond)
{
	struct bond_lacp *lacp = lacp_of(bond);
	struct err err;

	lacp->config = bond_lacp_config_of(bond);
	lacp->thread = lacp_thread_add(bond->daemon->lacp_thread, &bond->dataplane.pins,
				       bond_members(bond), &lacp->config, &err);
	memset(lacp->ports, 0, sizeof(lacp->ports));
	lacp->told = bond_lacp_distributing(bond);
	if (!lacp->thread)
		event_error(bond_pin(bond)->name, NULL, "%s", err.text);
}

static void bond_lacp_configure_all(struct bond *bond)
{
	struct bond_lacp *lacp = lacp_of(bond);
	struct lacp_config config = bond_lacp_config_of(bond);
	int r;

	if (!memcmp(&config, &lacp->config, sizeof(config)))
		return;
	lacp->config = config;
	r = lacp_thread_configure(lacp->thread, &config);
	if (r)
		event_error(bond_pin(bond)->name, NULL,
			    "the LACP thread does not take the new options: %s", strerror(-r));
}

static void bond_lacp_configure_port(struct bond *bond, unsigned int slot)
{
	struct bond_lacp *lacp = lacp_of(bond);
	struct lacp_port_config config = { 0 };
	int r;

	if (bond_is_member(bond, slot))
		config = bond_lacp_port_config_of(bond, slot);
	if (*bond_lacp_flapped(bond, slot) && config.link == LACP_LINK_UP) {
		struct lacp_port_config down = config;

		down.link = LACP_LINK_DOWN;
		lacp_thread_set_port(lacp->thread, slot, (int)bond_slave(bond, slot)->ifindex,
				     &down);
	}
	if (config.link)
		*bond_lacp_flapped(bond, slot) = false;
	if (!memcmp(&config, &lacp->ports[slot], sizeof(config)))
		return;
	lacp->ports[slot] = config;
	if (!config.port) {
		lacp_thread_remove_port(lacp->thread, slot);
		return;
	}
	r = lacp_thread_set_port(lacp->thread, slot, (int)bond_slave(bond, slot)->ifindex, &config);
	if (r)
		event_error(bond_pin(bond)->name, bond_slave(bond, slot)->name,
			    "LACP refuses %s: %s", bond_slave(bond, slot)->name, strerror(-r));
}

void bond_lacp_configure(struct bond *bond)
{
	struct bond_lacp *lacp = lacp_of(bond);
	bool wanted = mode_has(bond_pin(bond)->mode, MODE_LACP) &&
		      bond_pin(bond)->state != XBOND_BOND_DELETING;

	if (!wanted) {
		bond_lacp_stop(bond, true);
		return;
	}
	if (!lacp->thread)
		bond_lacp_enter(bond);
	if (!lacp->thread)
		return;
	bond_lacp_configure_all(bond);
	/* A slave that leaves for a while still receives what is on its way from its partner. */
	lacp_thread_linger(lacp->thread, bond->device.is_down ? 0 : bond->rx_turn.out);
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++)
		bond_lacp_configure_port(bond, slot);
}

void bond_lacp_note_flap(struct bond *bond, unsigned int slot)
{
	*bond_lacp_flapped(bond, slot) = true;
}

void bond_lacp_stop(struct bond *bond, bool forget)
{
	struct bond_lacp *lacp = lacp_of(bond);

	if (lacp->thread)
		lacp_thread_remove(lacp->thread, forget);
	lacp->thread = NULL;
}

uint64_t bond_lacp_distributing(const struct bond *bond)
{
	if (!mode_has(bond->dataplane.pins.bond->mode, MODE_LACP))
		return UINT64_MAX;
	return lacp_of(bond)->thread ? lacp_thread_distributing(lacp_of(bond)->thread) : 0;
}

uint64_t bond_lacp_collecting(const struct bond *bond)
{
	if (!mode_has(bond->dataplane.pins.bond->mode, MODE_LACP))
		return UINT64_MAX;
	return lacp_of(bond)->thread ? lacp_thread_collecting(lacp_of(bond)->thread) : 0;
}

void bond_lacp_settle_standby(struct bond *bond, uint64_t leaving)
{
	struct bond_lacp *lacp = lacp_of(bond);
	struct lacp_prospect prospect;
	struct standby_input input;

	if (!lacp->thread || !leaving) {
		lacp->standby = (struct standby_state){ 0 };
		return;
	}
	prospect = lacp_thread_prospect(lacp->thread, leaving);
	input = (struct standby_input){ .standby = prospect.standby,
					.selected = prospect.selected,
					.distributing = prospect.distributing,
					.now_ns = clock_now_ns() };
	lacp->prospect = prospect.distributing | standby_next(&lacp->standby, &input);
}

static bool bond_lacp_await_markers(struct bond *bond, const struct dataplane_plan *plan,
				    uint64_t losers)
{
	struct bond_lacp *lacp = lacp_of(bond);
	struct marker_wait_input input = {
		.losers = losers,
		.draining = lacp_thread_draining(lacp->thread),
		.changed = memcmp(&lacp->marked_for, plan, sizeof(*plan)) != 0,
		.now_ns = clock_now_ns(),
	};
	uint64_t ask = marker_wait_ask(&lacp->markers, &input);

	lacp->marked_for = *plan;
	slots_for_each (ask, slot)
		lacp_thread_drain(lacp->thread, slot);
	input.draining = lacp_thread_draining(lacp->thread);
	return marker_wait_goes_on(&lacp->markers, &input);
}

uint64_t bond_lacp_next_ns(const struct bond *bond)
{
	uint64_t standby_ns = lacp_of(bond)->standby.until_ns,
		 markers_ns = lacp_of(bond)->markers.until_ns;

	return standby_ns && (!markers_ns || standby_ns < markers_ns) ? standby_ns : markers_ns;
}

uint64_t bond_lacp_prospect(const struct bond *bond)
{
	const struct pins *pins = &bond->dataplane.pins;

	if (!mode_has(pins->bond->mode, MODE_LACP))
		return UINT64_MAX;
	return lacp_of(bond)->thread ? lacp_of(bond)->prospect : pins->table->tx_mask;
}

bool bond_lacp_must_wait(struct bond *bond, const struct dataplane_plan *plan, uint64_t losers)
{
	if (lacp_of(bond)->thread && (bond_pin(bond)->drain_markers || bond->rx_turn.drained))
		return bond_lacp_await_markers(bond, plan, losers);
	lacp_of(bond)->markers = (struct marker_wait){ 0 };
	return false;
}

#define bond_lacp_tell(priority_, what_, state_, ...)                                 \
	event_tell(&(const struct event){ .kind = EVENT_LACP,                         \
					  .priority = (priority_),                    \
					  .bond = name,                               \
					  .slave = port,                              \
					  .field = { event_text("what", what_),       \
						     event_text("state", state_) } }, \
		   __VA_ARGS__)

/* Something that begins and ends. */
static void bond_lacp_log_turn(const char *name, const char *port, const char *what, bool on,
			       const char *words)
{
	bond_lacp_tell(LOG_NOTICE, what, on ? "on" : "off", "%s: %s", port, words);
}

static void bond_lacp_log_churn(const char *name, const char *port, const char *what,
				const char *whose, unsigned int churn)
{
	bond_lacp_tell(churn == LACP_CHURN_CHURNED ? LOG_NOTICE : LOG_DEBUG, what,
		       lacp_churn_name(churn), "%s: LACP %s churn: %s", port, whose,
		       churn == LACP_CHURN_CHURNED ? "not in sync for a minute"
		       : churn == LACP_CHURN_NONE  ? "in sync"
						   : "a minute to get in sync");
}

static void bond_lacp_log_stranger(const char *name, const char *port,
				   const uint8_t system[XBOND_MAC_SIZE])
{
	char text[MAC_FORMAT_SIZE];

	mac_format(system, text);
	bond_lacp_tell(LOG_WARNING, "stranger", text,
		       "%s: hears %s, which is not lacp_partner; it is ignored", port, text);
}

static void bond_lacp_log_partner(struct bond *bond, unsigned int slot)
{
	const char *name = bond_pin(bond)->name, *port = bond_slave(bond, slot)->name;
	const struct lacp_info *partner;
	struct lacp_system sys;
	char system[MAC_FORMAT_SIZE];

	view_lacp_read(&bond->dataplane.pins, &sys);
	partner = &sys.port[slot].partner;
	if (mac_is_zero(partner->system))
		bond_lacp_tell(LOG_INFO, "partner", NULL, "%s: LACP partner changed: none", port);
	else
		bond_lacp_tell(LOG_INFO, "partner", NULL,
			       "%s: LACP partner changed: %s, key %u, port %u", port,
			       mac_format(partner->system, system), partner->key, partner->port);
}

static void bond_lacp_log_event(struct bond *bond, const struct lacp_thread_event *event)
{
	const char *name = bond_pin(bond)->name, *port = bond_slave(bond, event->slot)->name;

	switch (event->event) {
	case LACP_EVENT_RX:
		bond_lacp_tell(LOG_DEBUG, "receive", lacp_rx_name(event->detail),
			       "%s: LACP receive %s", port, lacp_rx_name(event->detail));
		break;
	case LACP_EVENT_MUX:
		bond_lacp_tell(LOG_DEBUG, "mux", lacp_mux_name(event->detail), "%s: LACP mux %s",
			       port, lacp_mux_name(event->detail));
		break;
	case LACP_EVENT_SELECTED:
		bond_lacp_tell(LOG_DEBUG, "selected", lacp_selected_name(event->detail),
			       "%s: LACP %s", port, lacp_selected_name(event->detail));
		break;
	case LACP_EVENT_PARTNER: bond_lacp_log_partner(bond, event->slot); break;
	case LACP_EVENT_LOOP:
		bond_lacp_tell(LOG_WARNING, "loop", "on",
			       "%s: receives the LACPDUs of our own port %u: the cable is looped; "
			       "the port is not used",
			       port, event->detail);
		break;
	case LACP_EVENT_LOOP_ENDED:
		bond_lacp_tell(LOG_NOTICE, "loop", "off", "%s: the cable is no longer looped",
			       port);
		break;
	case LACP_EVENT_FALLBACK:
		bond_lacp_log_turn(
			name, port, "fallback", event->detail,
			event->detail ? "carries traffic without a LACP partner (lacp_fallback)"
				      : "fallback ends");
		break;
	case LACP_EVENT_ACTOR_CHURN:
		bond_lacp_log_churn(name, port, "actor_churn", "actor", event->detail);
		break;
	case LACP_EVENT_PARTNER_CHURN:
		bond_lacp_log_churn(name, port, "partner_churn", "partner", event->detail);
		break;
	case LACP_EVENT_STRANGER: bond_lacp_log_stranger(name, port, event->system); break;
	case LACP_EVENT_BEHIND:
		bond_lacp_log_turn(name, port, "behind", event->detail,
				   event->detail
					   ? "does not get in sync, so other ports are preferred"
					   : "may be used again");
		break;
	case LACP_EVENT_RESTLESS:
		event_error(name, NULL,
			    "the state machines of LACP do not settle; please report this");
		break;
	}
}

/* A lost link has a line already. */
static void bond_lacp_log_traffic(struct bond *bond, unsigned int slot, bool carries)
{
	const char *name = bond_pin(bond)->name, *port = bond_slave(bond, slot)->name;
	struct lacp_system sys;
	json_t *why;

	if (carries) {
		bond_lacp_tell(LOG_NOTICE, "traffic", "on", "%s carries traffic", port);
		return;
	}
	if (bond_slave(bond, slot)->link == XBOND_LINK_DOWN)
		return;
	view_lacp_read(&bond->dataplane.pins, &sys);
	why = view_lacp_why(&bond->dataplane.pins, &sys, slot);
	bond_lacp_tell(LOG_NOTICE, "traffic", "off", "%s carries no traffic: %s", port,
		       json_string_value(why));
	json_decref(why);
}

/*
 * What the steps of the machines are for. They are for debugging, and several of them may pass
 * between two looks.
 */
void bond_lacp_log(struct bond *bond)
{
	struct bond_lacp *lacp = lacp_of(bond);
	struct lacp_thread_event event;
	uint64_t carrying;

	if (!lacp->thread)
		return;
	while (lacp_thread_take(lacp->thread, &event)) {
		bond_lacp_log_event(bond, &event);
		if (event.event == LACP_EVENT_FALLBACK && event.detail)
			lacp->told |= slots_bit(event.slot);
	}
	carrying = bond_lacp_distributing(bond); /* now, so not older than the events */
	bond_for_each_member (bond, slot)
		if (slots_have(carrying ^ lacp->told, slot))
			bond_lacp_log_traffic(bond, slot, slots_have(carrying, slot));
	lacp->told = carrying;
}

void lacp_news_take(struct daemon *daemon)
{
	realtime_acknowledge(daemon->lacp_thread);
	for (struct bond *bond = daemon->bonds; bond; bond = bond->next)
		if (lacp_of(bond)->thread)
			bond_evaluate(bond);
}

struct part lacp_part = { .bond_size = sizeof(struct bond_lacp),
			  .member_size = sizeof(bool),
			  .stop = bond_lacp_stop };
