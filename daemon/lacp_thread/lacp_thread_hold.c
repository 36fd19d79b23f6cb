/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/lacp_thread/lacp_thread_hold.h"

#include <linux/if_ether.h>
#include <string.h>

#include "bpf/slots.h"
#include "common/pins.h"
#include "lacp/frame.h"

#define ACTOR_STATE (sizeof(struct ethhdr) + LACP_AT_ACTOR + LACP_TLV_HEADER + LACP_INFO_STATE)

/* A timer that the first PDU starts before the machines have run needs a duration. */
void lacp_thread_hold_begin(struct xbond_hold *hold)
{
	if (!hold->enabled)
		hold->words[hold->in_force & 1].silence_ns = LACP_LONG_TIMEOUT_TIME;
	store_release(hold->enabled, 1);
}

void lacp_thread_hold_clear(struct xbond_hold *hold, struct lacp_thread_sent *sent)
{
	store_release(hold->enabled, 0);
	memset(hold, 0, sizeof(*hold));
	memset(sent, 0, sizeof(*sent));
}

void lacp_thread_hold_adopt(const struct xbond_hold *hold, struct lacp_thread_sent *ret_sent)
{
	const struct xbond_hold_words *words = &hold->words[hold->in_force & 1];

	ret_sent->sent_ns = words->sent_ns;
	memcpy(ret_sent->pdu, words->pdu, sizeof(ret_sent->pdu));
}

void lacp_thread_hold_sent(struct lacp_thread_sent *sent, const uint8_t *frame, uint64_t now_ns)
{
	memcpy(sent->pdu, frame, sizeof(sent->pdu));
	sent->sent_ns = now_ns;
}

static void lacp_thread_hold_words_of(const struct lacp_system *sys, unsigned int slot,
				      const struct lacp_thread_sent *sent,
				      struct xbond_hold_words *ret_words)
{
	const struct lacp_port_state *port = &sys->port[slot];
	bool current = port->rx == LACP_RX_CURRENT;
	bool fast = sent->pdu[ACTOR_STATE] & LACP_TIMEOUT;

	*ret_words = (struct xbond_hold_words){
		.silence_ns = fast ? LACP_SHORT_TIMEOUT_TIME : LACP_LONG_TIMEOUT_TIME,
		.heard_ns = port->heard_ns,
		.sent_ns = sent->sent_ns,
		.holding = current && sys->state.config.hold && sent->sent_ns,
		.current = current,
		.told = port->told,
		.independent = !sys->state.config.coupled,
	};
	lacp_info_encode(ret_words->partner, &port->partner);
	memcpy(ret_words->pdu, sent->pdu, sizeof(ret_words->pdu));
	memcpy(ret_words->believed, sys->state.config.believed, sizeof(ret_words->believed));
}

void lacp_thread_hold_settle(struct xbond_hold *hold, const struct lacp_system *sys,
			     unsigned int slot, const struct lacp_thread_sent *sent)
{
	uint32_t in_force = hold->in_force & 1;
	struct xbond_hold_words words;

	lacp_thread_hold_words_of(sys, slot, sent, &words);
	if (!memcmp(&words, &hold->words[in_force], sizeof(words)))
		return;
	hold->words[!in_force] = words;
	store_release(hold->in_force, !in_force);
}

bool lacp_thread_hold_is_outdated(const struct xbond_hold *hold, const struct xbond_pdu *pdu)
{
	return pdu->received_ns < hold->missed_ns;
}

/*
 * If the programs have answered for us, the partner was heard since. A port that they have given
 * up, even in one direction only, has heard nobody. hold->heard_ns stays: if bondd dies or gets no
 * CPU before the next words are in force, the programs and the next bondd go by it.
 */
void lacp_thread_hold_end(struct xbond_hold *hold, struct lacp_system *sys, unsigned int slot)
{
	const struct xbond_hold_words *words = &hold->words[hold->in_force & 1];
	bool given_up = hold->ended != XBOND_HOLD_GOES_ON || hold->withheld;
	bool asks = hold->hurried & XBOND_HOLD_ASKS, knows = hold->hurried & XBOND_HOLD_KNOWS;
	const struct lacp_held held = {
		.heard_ns = given_up ? 0 : hold->heard_ns,
		.silence_ns = lacp_silence_ns(words->silence_ns, asks, knows),
		.answered_ns = hold->answered_ns,
		.asked_for_short = asks,
	};

	if (slots_have(sys->used, slot) && (given_up || hold->heard_ns > sys->port[slot].heard_ns))
		lacp_hold_ended(sys, slot, &held);
	hold->ended = XBOND_HOLD_GOES_ON;
	hold->withheld = 0;
	hold->hurried &= XBOND_HOLD_KNOWS; /* which is of its last LACPDU */
}
