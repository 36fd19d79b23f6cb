/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/memory.h"
#include "daemon/base/main_loop.h"
#include "daemon/base/worker.h"
#include "daemon/bond/attach_check.h"
#include "daemon/bond/evaluate.h"
#include "daemon/monitor/monitor.h"
#include "network/driver.h"

/*
 * A thread asks drivers for their carrier and speed. The kernel answers under the RTNL lock, which
 * others may hold for as long as a NIC needs for a reset; the main loop does not wait for that. The
 * thread knows no bonds.
 */

struct poller_query {
	struct asked_slave of;
	char name[XBOND_NAME_SIZE];
	bool wants_carrier, wants_speed;
	int carrier;		     /* the answer, if requested: 1, 0; else -errno */
	uint32_t speed_mbps, duplex; /* from ethtool_speed(), if requested */
};

static void poller_ask(struct asker *asker, void *question)
{
	struct poller_query *query = question;

	query->carrier =
		query->wants_carrier ? ethtool_carrier(&asker->ethtool, query->name) : -ENODATA;
	if (query->wants_speed)
		ethtool_speed(&asker->ethtool, query->name, &query->speed_mbps, &query->duplex);
}

static const struct asker_kind poller_kind = {
	.name = "poll",
	.size = sizeof(struct poller_query),
	.ask = poller_ask,
};

/* Of a bond, when it is polled next; of a member, whether the next poll also asks for its speed. */
struct part poll_part = { .bond_size = sizeof(uint64_t), .member_size = sizeof(bool) };

static uint64_t *poll_next_ns(const struct bond *bond)
{
	return part_of_bond(bond, &poll_part);
}

static bool *poll_speed_due(const struct bond *bond, unsigned int slot)
{
	return part_of_member(bond, &poll_part, slot);
}

#define ACCURACY_US 5000
/* bonds that are due within this time are polled together */
#define SLACK_NS (10 * NS_PER_MS)

struct poll_batch {
	struct poller_query *queries;
	size_t count;
};

static uint64_t poll_interval_ns(struct bond *bond)
{
	return bond_pin(bond)->miimon_ms * NS_PER_MS;
}

/* Not while the poller is busy; it reports when it is done. */
static void poll_arm(struct daemon *daemon)
{
	uint64_t next_ns = UINT64_MAX;

	for (struct bond *bond = daemon->bonds; bond && !daemon->poller->busy; bond = bond->next)
		if (*poll_next_ns(bond) < next_ns)
			next_ns = *poll_next_ns(bond);
	loop_timer_at(daemon->poll, next_ns);
}

static bool poll_is_due(struct bond *bond, uint64_t now_ns)
{
	uint64_t interval_ns = poll_interval_ns(bond);

	return *poll_next_ns(bond) <= now_ns + (interval_ns > 2 * SLACK_NS ? SLACK_NS : 0);
}

/* looked: only what look_take() does not tell. */
static void poll_add(struct poll_batch *batch, struct bond *bond, bool looked)
{
	bond_for_each_member (bond, slot) {
		bool speed_due = *poll_speed_due(bond, slot) || !delay_knows_speed(bond, slot);
		struct poller_query *query;

		if (looked && !speed_due)
			continue;
		memory_more(batch->queries, batch->count);
		query = &batch->queries[batch->count++];
		*query = (struct poller_query){ .of = asked_slave(bond, slot),
						.wants_carrier = !looked,
						.wants_speed = speed_due };
		memcpy(query->name, bond_slave(bond, slot)->name, sizeof(query->name));
		*poll_speed_due(bond, slot) = false;
	}
}

void poll_ask(struct daemon *daemon)
{
	uint64_t now_ns = clock_now_ns();
	struct poll_batch batch = { 0 };
	bool direct = false;

	if (daemon->poller->busy)
		return;
	for (struct bond *bond = daemon->bonds; bond; bond = bond->next) {
		if (!poll_is_due(bond, now_ns))
			continue;
		*poll_next_ns(bond) = now_ns + poll_interval_ns(bond);
		if (!bond_is_ready(bond))
			continue;
		if (memcmp(&bond->evaluation.seen, bond->dataplane.pins.settings,
			   sizeof(bond->evaluation.seen)))
			bond_evaluate(bond);
		poll_add(&batch, bond, look_take(bond, now_ns));
		direct |= bond_wants_direct(bond);
	}
	if (direct)
		bypass_read_captures(daemon);
	asker_ask(daemon->poller, batch.queries, batch.count);
	free(batch.queries);
	poll_arm(daemon);
}

/*
 * Returns true if the link works now and did not, or the other way round. News that came after the
 * question counts instead.
 */
static bool poll_take(struct bond *bond, const struct poller_query *answer, uint64_t asked_ns)
{
	const struct link_verdict *verdict = &bond->members[answer->of.slot].verdict;
	bool carrier = answer->carrier > 0;

	if (answer->carrier < 0 || verdict->learnt_ns[XBOND_MONITOR_CARRIER] >= asked_ns ||
	    carrier == verdict_of(bond, answer->of.slot, XBOND_MONITOR_CARRIER))
		return false;
	return verdict_set(bond, answer->of.slot, XBOND_MONITOR_CARRIER, carrier);
}

/* Without carrier most drivers do not know their speed, so the last one is kept. */
static void poll_take_speed(struct bond *bond, const struct poller_query *answer, uint64_t asked_ns)
{
	struct xbond_slave *slave = bond_slave(bond, answer->of.slot);
	bool was_known = delay_knows_speed(bond, answer->of.slot);

	if (!verdict_of(bond, answer->of.slot, XBOND_MONITOR_CARRIER))
		return;
	delay_note_speed(bond, answer->of.slot, asked_ns);
	if (answer->speed_mbps == slave->speed_mbps && answer->duplex == slave->duplex && was_known)
		return;
	slave->speed_mbps = answer->speed_mbps;
	slave->duplex = answer->duplex;
	bond_evaluate(bond);
}

void poll_answer(struct daemon *daemon)
{
	size_t count;
	const struct poller_query *answers = asker_answers(daemon->poller, &count);
	uint64_t asked_ns = daemon->poller->asked_ns;
	struct bond *bond = NULL, *changed = NULL;

	for (size_t i = 0; i < count; i++) {
		bond = asked_slave_bond(daemon, bond, &answers[i].of);
		if (!bond)
			continue;
		if (changed && changed != bond) {
			bond_evaluate(changed);
			changed = NULL;
		}
		if (poll_take(bond, &answers[i], asked_ns))
			changed = bond;
		if (answers[i].wants_speed)
			poll_take_speed(bond, &answers[i], asked_ns);
	}
	if (changed)
		bond_evaluate(changed);
	poll_arm(daemon);
}

static int poll_on_time(sd_event_source *source, uint64_t usec, void *arg)
{
	return burst_run(arg, "poll", poll_ask);
}

static int poll_on_answers(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	return burst_run(arg, "poll", poll_answer);
}

int poll_init(struct daemon *daemon)
{
	int r = asker_new(&poller_kind, &daemon->poller);

	if (!r)
		r = loop_watch(daemon->event, daemon->poller->worker.fd, poll_on_answers, daemon);
	return r ? r : loop_timer(daemon->event, ACCURACY_US, poll_on_time, daemon, &daemon->poll);
}

void poll_done(struct daemon *daemon)
{
	daemon->poll = sd_event_source_disable_unref(daemon->poll);
	asker_free(daemon->poller);
	daemon->poller = NULL;
}

void poll_want_speed(struct bond *bond, unsigned int slot)
{
	*poll_speed_due(bond, slot) = true;
}

void poll_soon(struct bond *bond)
{
	*poll_next_ns(bond) = 0;
	poll_arm(bond->daemon);
}

void poll_schedule(struct bond *bond)
{
	*poll_next_ns(bond) = clock_now_ns() + poll_interval_ns(bond);
	poll_arm(bond->daemon);
}
