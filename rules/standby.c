/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/standby.h"

uint64_t standby_next(struct standby_state *state, const struct standby_input *input)
{
	uint64_t left = state->standby & input->selected & ~input->distributing;

	if (left & ~state->coming)
		state->until_ns = input->now_ns + STANDBY_TIME_NS;
	state->standby = input->standby;
	state->coming = (state->coming | left) & ~input->standby & ~input->distributing;
	state->refused &= ~input->distributing;
	if (state->coming && input->now_ns >= state->until_ns) {
		state->refused |= state->coming;
		state->coming = 0;
	}
	if (!state->coming)
		state->until_ns = 0;
	return state->coming | (state->standby & ~state->refused);
}
