/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/handover/handover_run.h"

#include <errno.h>

#include "common/clock.h"
#include "daemon/base/event.h"
#include "daemon/handover/handover_journal.h"
#include "daemon/handover/handover_side.h"
#include "daemon/handover/handover_step.h"

/* A link takes about two seconds, LACP two to four; a new bond of the kernel waits 8 for ports. */
#define WAIT_NS (20000 * NS_PER_MS)

static int run_prepare(struct handover *plan, struct err *err)
{
	int r = handover_journal_write(plan, err);

	if (!r)
		r = handover_passed("handover-recorded", err);
	if (!r)
		r = handover_prepare(plan, err);
	return r ? r : handover_journal_write(plan, err);
}

/* Those that go first must carry traffic before anything else changes over. */
static int run_look(struct handover *plan, const struct handover_slave *slave, struct err *err)
{
	if (!handover_is_used(plan, slave)) {
		if (!plan->is_hurried && clock_now_ns() < plan->wait_until_ns)
			return 1;
		if (slave->is_first)
			return err_set(err, ETIMEDOUT, "%s carries no traffic in the new bond",
				       slave->name);
		handover_note(plan, "%s carries no traffic yet", slave->name);
	}
	plan->wait_until_ns = 0;
	return 0;
}

/* Other work has a turn after each slave that is not the first. */
static int run_slave(struct handover *plan, const struct handover_slave *slave, struct err *err)
{
	int r;

	if (plan->wait_until_ns)
		return run_look(plan, slave, err);
	r = handover_move(plan, slave, err);
	if (r)
		return r;
	plan->wait_until_ns = clock_now_ns() + WAIT_NS;
	return slave->is_first || plan->is_hurried ? run_look(plan, slave, err) : 1;
}

static int run_slaves(struct handover *plan, bool are_first, struct err *err)
{
	for (; plan->next_slave < plan->slave_count; plan->next_slave++) {
		const struct handover_slave *slave = &plan->slaves[plan->next_slave];
		int r = slave->is_first == are_first ? run_slave(plan, slave, err) : 0;

		if (r)
			return r;
	}
	plan->next_slave = 0;
	return 0;
}

static int run_first(struct handover *plan, struct err *err)
{
	return run_slaves(plan, true, err);
}

static int run_switch(struct handover *plan, struct err *err)
{
	int r = handover_switch(plan, err);

	plan->has_switched = !r;
	return r;
}

static int run_others(struct handover *plan, struct err *err)
{
	int r = run_slaves(plan, false, err);

	return r ? r : handover_passed("handover-all-moved", err);
}

static int run_record_end(struct handover *plan, struct err *err)
{
	plan->is_ending = true;
	return handover_journal_write(plan, err);
}

static int (*const run_stages[])(struct handover *plan, struct err *err) = {
	run_prepare, run_first, run_switch, run_others, run_record_end,
};

/* From here on it is done. What the old bond has left is removed, or the next bondd does it. */
static void run_finish(struct handover *plan)
{
	struct err why;

	handover_passed("handover-ending", NULL);
	if (handover_end(plan, &why)) {
		event_error(handover_name(plan), NULL, "the old bond %s is still there: %s",
			    plan->devices[0].old_name, why.text);
		return;
	}
	handover_journal_remove(plan);
	event_config(plan->is_back ? "handback" : "takeover", handover_name(plan), NULL,
		     "is %s now", plan->new_side->whose);
}

static int run_go_back(struct handover *plan, struct err *err)
{
	struct err why = { 0 };
	int r;

	plan->is_ending = false;
	r = handover_undo(plan, &why);
	if (!r || r == -ESTALE)
		handover_journal_remove(plan);
	return r ? err_set(err, -r, "%s", why.text) : 0;
}

static int run_fail(struct handover *plan, int r, const struct err *why, struct err *err)
{
	struct err worse;
	int back = run_go_back(plan, &worse);

	if (back == -ESTALE)
		return err_set(err, -r, "%s; and not everything could be undone: %s", why->text,
			       worse.text);
	if (back)
		return err_set(err, -r,
			       "%s; and not everything could be undone: %s ('bondctl %s %s' tries "
			       "again)",
			       why->text, worse.text, plan->is_back ? "handback" : "takeover",
			       handover_name(plan));
	return err_set(err, -r, "%s; everything is %s again, as it was", why->text,
		       plan->old_side->whose);
}

int handover_run(struct handover *plan, struct err *err)
{
	const size_t count = sizeof(run_stages) / sizeof(run_stages[0]);
	struct err why = { 0 };
	int r = 0;

	while (!r && plan->stage < count) {
		r = run_stages[plan->stage](plan, &why);
		plan->stage += !r;
	}
	if (r < 0)
		return run_fail(plan, r, &why, err);
	if (!r)
		run_finish(plan);
	return r;
}

int handover_hurry(struct handover *plan, struct err *err)
{
	const struct err why = { "bondd is stopping" };

	plan->is_hurried = true;
	return plan->has_switched ? handover_run(plan, err) : run_fail(plan, -EINTR, &why, err);
}

int handover_settle(struct daemon *daemon, const char *name, struct err *err)
{
	struct handover *plan;
	int r = handover_journal_read(daemon, name, &plan, err);

	if (r)
		return r == -ENOENT ? 0 : r;
	if (plan->is_ending)
		run_finish(plan);
	else
		r = run_go_back(plan, err);
	if (!r && !plan->is_ending)
		event_notice(name, NULL, "a %s that was not finished is undone",
			     plan->is_back ? "handback" : "takeover");
	handover_free(plan);
	return r;
}
