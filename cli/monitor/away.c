/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the programs do by themselves without bondd, as the pinned maps tell. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/slots.h"
#include "cli/base/picture.h"
#include "cli/monitor/events_in.h"
#include "common/memory.h"

#define LOOKS_PER_SEARCH 4 /* for bonds */

struct away_bond {
	struct away_bond *next;
	char name[XBOND_NAME_SIZE];
	struct pins pins;
	int look_fd;	       /* of carrier_look() */
	uint64_t told;	       /* slots, as the programs told last */
	uint64_t lost;	       /* slots without carrier, as far as that is known */
	uint64_t transmitting; /* table.tx_mask */
	uint64_t heartbeat_ns; /* of the last bondd that has gone */
	uint32_t answers[XBOND_MAX_SLAVES], ended[XBOND_MAX_SLAVES];
};

struct away {
	const char *bpf_dir;
	struct away_bond *bonds;
	unsigned int looks;
};

void away_free(struct away *away)
{
	while (away && away->bonds) {
		struct away_bond *bond = away->bonds;

		away->bonds = bond->next;
		if (bond->look_fd >= 0)
			close(bond->look_fd);
		pins_close(&bond->pins);
		free(bond);
	}
	free(away);
}

static struct away_bond *away_find(struct away *away, const char *name)
{
	struct away_bond *bond = away->bonds;

	while (bond && strcmp(bond->name, name))
		bond = bond->next;
	return bond;
}

static uint64_t away_tx_mask(const struct away_bond *bond)
{
	return __atomic_load_n(&bond->pins.table->tx_mask, __ATOMIC_ACQUIRE);
}

static uint64_t away_heartbeat_ns(const struct away_bond *bond)
{
	return __atomic_load_n(&bond->pins.table->heartbeat_ns, __ATOMIC_RELAXED);
}

/*
 * A bondd that does not answer yet has the bond already, or has had it since the last look: what
 * has happened until now it tells. It says so before it changes the mask.
 */
static bool away_has_bondd(struct away_bond *bond)
{
	uint64_t heartbeat_ns = away_heartbeat_ns(bond);

	if (heartbeat_ns == bond->heartbeat_ns)
		return false;
	if (!pins_bondd_alive(&bond->pins))
		bond->heartbeat_ns = heartbeat_ns;
	return true;
}

static uint64_t away_told(const struct away_bond *bond)
{
	return bond->pins.wake ? __atomic_load_n(&bond->pins.wake->told, __ATOMIC_RELAXED) : 0;
}

/* Slots without carrier. Where that cannot be read, the programs' word is all there is. */
static uint64_t away_lost(const struct away_bond *bond, uint64_t before)
{
	uint64_t up, lost;

	if (!carrier_look(bond->look_fd, &bond->pins, &up, &lost))
		return before | (away_told(bond) & ~bond->told);
	return (before | lost) & ~up;
}

/* What is so already when the search begins is not told, but for slaves that packets avoid. */
static void away_begin(struct away_bond *bond)
{
	uint64_t up, lost;

	bond->transmitting = away_tx_mask(bond);
	bond->heartbeat_ns = away_heartbeat_ns(bond);
	bond->look_fd = carrier_look_open(&bond->pins);
	if (carrier_look(bond->look_fd, &bond->pins, &up, &lost)) {
		bond->lost = lost & ~bond->transmitting;
		bond->told = away_told(bond);
	}
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES; slot++) {
		bond->answers[slot] = bond->pins.hold[slot].answers;
		bond->ended[slot] = bond->pins.hold[slot].ended;
	}
}

static void away_add(struct away *away, const char *name)
{
	struct away_bond *bond = memory_need(calloc(1, sizeof(*bond)));

	if (strlen(name) >= sizeof(bond->name) ||
	    pins_open(&bond->pins, away->bpf_dir, name, NULL)) {
		free(bond);
		return;
	}
	memcpy(bond->name, name, strlen(name));
	away_begin(bond);
	bond->next = away->bonds;
	away->bonds = bond;
}

static void away_search(struct away *away)
{
	char **names;

	if (pins_names(&names, away->bpf_dir, NULL))
		return;
	for (char **name = names; *name; name++)
		if (!away_find(away, *name))
			away_add(away, *name);
	memory_free_texts(names);
}

struct away *away_new(const char *bpf_dir)
{
	struct away *away = memory_need(calloc(1, sizeof(*away)));

	away->bpf_dir = bpf_dir;
	away_search(away);
	return away;
}

static struct event away_event(const struct away_bond *bond, enum event_kind kind,
			       unsigned int slot, const char *state)
{
	return (struct event){ .kind = kind,
			       .bond = bond->name,
			       .slave = bond->pins.slaves[slot].name,
			       .field = { event_text("state", state) } };
}

static bool away_tell_loss(struct away_bond *bond, struct event_print *print, unsigned int slot)
{
	struct event event = away_event(bond, EVENT_DETOUR, slot, "avoided");

	return event_print_own(print, &event, "packets avoid %s, which has lost its carrier",
			       event.slave);
}

static bool away_tell_return(struct away_bond *bond, struct event_print *print, unsigned int slot)
{
	struct event event = away_event(bond, EVENT_DETOUR, slot, "carrier");

	return event_print_own(print, &event, "%s has carrier again", event.slave);
}

/* A loss that has ended between two looks is known by the programs' word, if packets met it. */
static bool away_tell_detour(struct away_bond *bond, struct event_print *print, unsigned int slot,
			     uint64_t lost, uint64_t told)
{
	bool was_lost = slots_have(bond->lost, slot), is_lost = slots_have(lost, slot);
	bool has_met = slots_have(told & ~bond->told, slot);
	bool goes_on = true;

	if (!was_lost && (is_lost || has_met))
		goes_on = away_tell_loss(bond, print, slot);
	if (goes_on && !is_lost && (was_lost || has_met))
		goes_on = away_tell_return(bond, print, slot);
	return goes_on;
}

static bool away_tell_mask(struct away_bond *bond, struct event_print *print, unsigned int slot,
			   uint64_t now)
{
	bool is_used = slots_have(now, slot);
	struct event event = away_event(bond, EVENT_DETOUR, slot, is_used ? "used" : "out_of_use");

	if (!slots_have(now ^ bond->transmitting, slot))
		return true;
	return event_print_own(print, &event,
			       is_used ? "the programs use %s again"
				       : "the programs have taken %s out of use",
			       event.slave);
}

static const char *away_end_name(uint32_t ended)
{
	switch ((enum xbond_hold_end)ended) {
	case XBOND_HOLD_GOES_ON: return "goes_on";
	case XBOND_HOLD_SILENT: return "silent";
	case XBOND_HOLD_OUT_OF_STEP: return "out_of_step";
	case XBOND_HOLD_PARTNER_CHANGED: return "partner_changed";
	}
	return "unknown";
}

static const char *away_end_words(uint32_t ended)
{
	switch ((enum xbond_hold_end)ended) {
	case XBOND_HOLD_GOES_ON: return "the programs answer the LACP partner again";
	case XBOND_HOLD_SILENT: return "the programs no longer answer: the LACP partner is silent";
	case XBOND_HOLD_OUT_OF_STEP:
		return "the programs no longer answer: the LACP partner is not in sync";
	case XBOND_HOLD_PARTNER_CHANGED:
		return "the programs no longer answer: there is another LACP partner";
	}
	return "the programs no longer answer";
}

/* The first answer is told; those that follow come every second. */
static bool away_tell_hold(struct away_bond *bond, struct event_print *print, unsigned int slot)
{
	const struct xbond_hold *hold = &bond->pins.hold[slot];
	uint32_t answers = hold->answers, ended = hold->ended;
	bool has_answered = answers != bond->answers[slot] && bond->answers[slot] != UINT32_MAX;
	struct event event = away_event(bond, EVENT_HOLD, slot, "answers");
	bool goes_on = true;

	if (!hold->enabled)
		return true;
	if (has_answered) {
		bond->answers[slot] = UINT32_MAX;
		goes_on = event_print_own(print, &event, "%s: the programs answer the LACP partner",
					  event.slave);
	}
	if (!goes_on || ended == bond->ended[slot])
		return goes_on;
	bond->ended[slot] = ended;
	event.field[0] = event_text("state", away_end_name(ended));
	return event_print_own(print, &event, "%s: %s", event.slave, away_end_words(ended));
}

static bool away_look_at(struct away_bond *bond, struct event_print *print)
{
	uint64_t told = away_told(bond), lost = away_lost(bond, bond->lost),
		 transmitting = away_tx_mask(bond);
	bool goes_on = true;

	if (away_has_bondd(bond)) {
		bond->transmitting = transmitting;
		return true;
	}
	for (unsigned int slot = 0; slot < XBOND_MAX_SLAVES && goes_on; slot++) {
		if (!pins_is_member(&bond->pins, slot))
			continue;
		goes_on = away_tell_detour(bond, print, slot, lost, told) &&
			  away_tell_hold(bond, print, slot) &&
			  away_tell_mask(bond, print, slot, transmitting);
	}
	bond->told = told;
	bond->lost = lost;
	bond->transmitting = transmitting;
	return goes_on;
}

bool away_look(struct away *away, struct event_print *print)
{
	bool goes_on = true;

	if (++away->looks % LOOKS_PER_SEARCH == 0)
		away_search(away);
	for (struct away_bond *bond = away->bonds; bond && goes_on; bond = bond->next)
		goes_on = away_look_at(bond, print);
	return goes_on;
}
