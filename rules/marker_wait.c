/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/marker_wait.h"

uint64_t marker_wait_ask(struct marker_wait *wait, const struct marker_wait_input *input)
{
	uint64_t ask;

	if (input->changed)
		wait->asked &= input->draining;
	ask = input->losers & ~wait->asked;
	if (ask && !wait->until_ns)
		wait->until_ns = input->now_ns + MARKER_WAIT_NS;
	wait->asked |= ask;
	return ask;
}

bool marker_wait_goes_on(struct marker_wait *wait, const struct marker_wait_input *input)
{
	if (input->losers & input->draining && input->now_ns < wait->until_ns)
		return true;
	*wait = (struct marker_wait){ 0 };
	return false;
}
