/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/carrier.h"

#include "common/clock.h"

static struct carrier_state carrier_settled(enum xbond_link link)
{
	return (struct carrier_state){ .link = link };
}

static struct carrier_state carrier_delayed(enum xbond_link link, const struct carrier_input *input,
					    uint32_t delay_ms)
{
	return (struct carrier_state){ .link = link,
				       .deadline_ns = input->now_ns + delay_ms * NS_PER_MS };
}

struct carrier_state carrier_next(struct carrier_state state, const struct carrier_input *input)
{
	bool due = state.deadline_ns && input->now_ns >= state.deadline_ns;

	/* A delay that was running when an earlier bondd died starts again. */
	if (state.link == XBOND_LINK_GOING_DOWN && !state.deadline_ns)
		state = carrier_delayed(state.link, input, input->downdelay_ms);
	if (state.link == XBOND_LINK_GOING_UP && !state.deadline_ns)
		state = carrier_delayed(state.link, input, input->updelay_ms);

	switch (state.link) {
	case XBOND_LINK_UP:
		if (input->carrier)
			return state;
		return input->downdelay_ms
			       ? carrier_delayed(XBOND_LINK_GOING_DOWN, input, input->downdelay_ms)
			       : carrier_settled(XBOND_LINK_DOWN);
	case XBOND_LINK_GOING_DOWN:
		if (input->carrier)
			return carrier_settled(XBOND_LINK_UP);
		return due ? carrier_settled(XBOND_LINK_DOWN) : state;
	case XBOND_LINK_DOWN:
		if (!input->carrier)
			return state;
		return input->updelay_ms && !input->needed
			       ? carrier_delayed(XBOND_LINK_GOING_UP, input, input->updelay_ms)
			       : carrier_settled(XBOND_LINK_UP);
	case XBOND_LINK_GOING_UP:
		if (!input->carrier)
			return carrier_settled(XBOND_LINK_DOWN);
		return due || input->needed ? carrier_settled(XBOND_LINK_UP) : state;
	}
	return carrier_settled(XBOND_LINK_DOWN);
}
