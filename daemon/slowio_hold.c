/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/slowio_hold.h"

#include <string.h>

#include "daemon/lacp/pdu.h"

#define store(field, value) __atomic_store_n(&(field), (value), __ATOMIC_RELEASE)

void slowio_hold_begin(struct xbond_hold *hold)
{
	if (!hold->silence_ns)
		hold->silence_ns = LACP_LONG_TIMEOUT_TIME;
	store(hold->enabled, 1);
}

void slowio_hold_clear(struct xbond_hold *hold)
{
	store(hold->enabled, 0);
	store(hold->holding, 0);
	memset(hold, 0, sizeof(*hold));
}

void slowio_hold_follow(struct xbond_hold *hold, const struct lacp_system *sys, unsigned int slot)
{
	bool current = sys->port[slot].rx == LACP_RX_CURRENT;

	store(hold->current, current);
	store(hold->holding, current && sys->state.config.hold && hold->sent_ns);
}

/* Half written the frame must not be used. */
void slowio_hold_sent(struct xbond_hold *hold, const struct lacp_system *sys, unsigned int slot,
		      const uint8_t *frame, uint64_t now_ns)
{
	bool fast = sys->port[slot].actor.state & LACP_TIMEOUT;

	store(hold->holding, 0);
	memcpy(hold->pdu, frame, sizeof(hold->pdu));
	hold->sent_ns = now_ns;
	hold->silence_ns = fast ? LACP_SHORT_TIMEOUT_TIME : LACP_LONG_TIMEOUT_TIME;
	slowio_hold_follow(hold, sys, slot);
}

/* The partner's words about itself, for the programs to compare with. */
static void keep_partner(struct xbond_hold *hold, const struct xbond_pdu *pdu)
{
	struct lacp_decoded decoded;

	lacp_pdu_decode(pdu->frame, pdu->length, &decoded);
	if (decoded.kind == LACP_PDU_LACP)
		lacp_info_encode(hold->partner, &decoded.pdu.actor);
}

int slowio_hold_receive(struct xbond_hold *hold, struct lacp_system *sys, const struct xbond_pdu *pdu)
{
	const struct lacp_counters *counters = &sys->port[pdu->slot].counters;
	uint64_t ignored = counters->foreign_rx + counters->looped_rx;
	int r = lacp_receive(sys, pdu->slot, pdu->frame, pdu->length, pdu->received_ns);

	if (!r && ignored == counters->foreign_rx + counters->looped_rx)
		keep_partner(hold, pdu);
	return r;
}

/* The partner was heard since, if the programs have answered for us. A port they have given up has heard nobody. */
void slowio_hold_end(struct xbond_hold *hold, struct lacp_system *sys, unsigned int slot)
{
	bool given_up = hold->ended != XBOND_HOLD_GOES_ON;

	if (sys->used >> slot & 1 && (given_up || hold->heard_ns))
		lacp_hold_ended(sys, slot, given_up ? 0 : hold->heard_ns, hold->answered_ns);
	hold->heard_ns = 0;
	hold->ended = XBOND_HOLD_GOES_ON;
}
