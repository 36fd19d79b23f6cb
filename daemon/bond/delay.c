/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/bond/delay.h"

#include "daemon/base/main_loop.h"
#include "daemon/bond/burst.h"
#include "daemon/bond/daemon.h"
#include "daemon/bond/evaluate.h"

#define TIMER_ACCURACY_US 1000

static int delay_on_time(sd_event_source *source, uint64_t usec, void *arg)
{
	struct bond *bond = arg;

	(void)source;
	(void)usec;
	latency_note("delay");
	burst_begin(bond->daemon);
	bond_evaluate(bond);
	burst_end(bond->daemon);
	return 0;
}

int delay_start(struct bond *bond)
{
	int r = sd_event_add_time(bond->daemon->event, &bond->delay, CLOCK_MONOTONIC, UINT64_MAX,
				  TIMER_ACCURACY_US, delay_on_time, bond);

	if (r < 0)
		return r;
	bond_arm_delay(bond);
	return 0;
}

void delay_stop(struct bond *bond)
{
	bond->delay = sd_event_source_disable_unref(bond->delay);
}
