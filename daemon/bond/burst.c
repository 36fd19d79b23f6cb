/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/bond/burst.h"

#include <errno.h>
#include <string.h>

#include "daemon/base/main_loop.h"
#include "daemon/bond/daemon.h"
#include "daemon/bond/evaluate.h"
#include "daemon/dataplane/dataplane.h"

static int burst_on_settled(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	(void)source;
	(void)fd;
	(void)events;
	latency_note("plans");
	burst_settled(arg);
	return 0;
}

int burst_init(struct daemon *daemon, struct err *err)
{
	sd_event_source *io = NULL;
	int r;

	daemon->settler = settler_new(err);
	if (!daemon->settler)
		return -ENOMEM;
	r = sd_event_add_io(daemon->event, &io, settler_fd(daemon->settler), EPOLLIN,
			    burst_on_settled, daemon);
	if (r < 0)
		return err_set(err, -r, "cannot start: %s", strerror(-r));
	sd_event_source_set_priority(io, SD_EVENT_PRIORITY_IMPORTANT);
	sd_event_source_set_floating(io, true);
	sd_event_source_unref(io);
	return 0;
}

void burst_done(struct daemon *daemon)
{
	settler_free(daemon->settler);
	daemon->settler = NULL;
}

void burst_begin(struct daemon *daemon)
{
	daemon->in_burst = true;
}

void burst_end(struct daemon *daemon)
{
	bool due = false;

	for (struct bond *bond = daemon->bonds; bond; bond = bond->next) {
		if (bond->evaluation.plan_due && bond->dataplane.settled)
			bond_evaluate(bond);
		due |= bond->evaluation.plan_due;
	}
	daemon->in_burst = false;
	if (due)
		burst_settle(daemon);
}

void burst_settle(struct daemon *daemon)
{
	uint64_t ticket = 0;

	for (struct bond *bond = daemon->bonds; bond; bond = bond->next) {
		if (bond->dataplane.settled || bond->dataplane.ticket)
			continue;
		if (!ticket)
			ticket = settler_ask(daemon->settler);
		bond->dataplane.ticket = ticket;
	}
}

int burst_fd(const struct daemon *daemon)
{
	return settler_fd(daemon->settler);
}

void burst_settled(struct daemon *daemon)
{
	uint64_t served = settler_served(daemon->settler);

	for (struct bond *bond = daemon->bonds; bond; bond = bond->next) {
		struct dataplane *dataplane = &bond->dataplane;

		if (dataplane->ticket && dataplane->ticket <= served)
			dataplane->settled = true;
		if (dataplane->settled)
			dataplane->ticket = 0;
	}
	burst_begin(daemon);
	burst_end(daemon);
}
