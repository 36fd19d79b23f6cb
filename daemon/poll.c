/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/poll.h"

#include "common/clock.h"
#include "daemon/bypass.h"

#define ACCURACY_US 5000
#define SLACK_NS (10 * NS_PER_MS) /* who is due so soon is polled along */

static uint64_t interval_ns(struct bond *bond)
{
	return bond_pin(bond)->miimon_ms * NS_PER_MS;
}

static void arm(struct daemon *daemon)
{
	uint64_t next_ns = UINT64_MAX;

	for (struct bond *bond = daemon->bonds; bond; bond = bond->next)
		if (bond->next_poll_ns < next_ns)
			next_ns = bond->next_poll_ns;
	sd_event_source_set_time(daemon->poll, next_ns == UINT64_MAX ? UINT64_MAX : next_ns / 1000);
}

static int on_time(sd_event_source *source, uint64_t usec, void *arg)
{
	uint64_t now_ns = clock_now_ns();
	struct daemon *daemon = arg;
	bool direct = false;

	(void)source;
	(void)usec;
	for (struct bond *bond = daemon->bonds; bond; bond = bond->next) {
		if (bond->next_poll_ns > now_ns + (interval_ns(bond) > 2 * SLACK_NS ? SLACK_NS : 0))
			continue;
		bond_poll(bond);
		bond->next_poll_ns =
			clock_now_ns() + interval_ns(bond); /* others have a turn, however long it took */
		direct |= bond_wants_direct(bond);
	}
	if (direct)
		bypass_follow_captures(daemon);
	arm(daemon);
	return 0;
}

int poll_init(struct daemon *daemon)
{
	int r = sd_event_add_time(daemon->event, &daemon->poll, CLOCK_MONOTONIC, UINT64_MAX, ACCURACY_US,
				  on_time, daemon);

	if (r < 0)
		return r;
	sd_event_source_set_enabled(daemon->poll, SD_EVENT_ON);
	return 0;
}

void poll_done(struct daemon *daemon)
{
	daemon->poll = sd_event_source_disable_unref(daemon->poll);
}

void poll_schedule(struct bond *bond)
{
	bond->next_poll_ns = clock_now_ns() + interval_ns(bond);
	arm(bond->daemon);
}
