/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/handover/handover.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/mac.h"
#include "common/memory.h"
#include "common/pins.h"
#include "daemon/base/directories.h"
#include "daemon/base/event.h"
#include "daemon/base/main_loop.h"
#include "daemon/handover/handover_plan.h"
#include "network/link.h"
#include "options/names.h"

#define LOOK_US 5000
#define ACCURACY_US 1

/* One handover from its first step to its end, in turns between which bondd does other work. */

/* A link takes about two seconds, LACP two to four; a new bond of the kernel waits 8 for ports. */
#define WAIT_NS (20000 * NS_PER_MS)

/* While bondd waits for the kernel it cannot hear that a slave is used: of that, so much counts. */
#define STALL_NS (100 * NS_PER_MS)

/* What bondd or an earlier one could not bring to its end. */
static struct retry handover_left;

/* Of a stage that goes on in another turn: when other work has had one, or in a while. */
enum { RUN_SOON = 1, RUN_WAITS };

static int run_prepare(struct handover *plan, struct err *err)
{
	int r = handover_journal_write(plan, err);

	if (!r)
		r = handover_passed("handover-recorded", err);
	if (!r)
		r = handover_prepare(plan, err);
	return r ? r : handover_journal_write(plan, err);
}

static int run_move(struct handover *plan, const struct handover_slave *slave, struct err *err)
{
	plan->looked_ns = clock_now_ns();
	plan->wait_until_ns = plan->looked_ns + WAIT_NS;
	return handover_move(plan, slave, err);
}

static bool run_may_wait(struct handover *plan)
{
	uint64_t now = clock_now_ns();

	if (now - plan->looked_ns > STALL_NS)
		plan->wait_until_ns += now - plan->looked_ns - STALL_NS;
	plan->looked_ns = now;
	return !plan->is_hurried && now < plan->wait_until_ns;
}

/* Those that go first must carry traffic before anything else changes over. */
static int run_look(struct handover *plan, const struct handover_slave *slave, struct err *err)
{
	if (handover_is_used(plan, slave))
		return 0;
	if (run_may_wait(plan))
		return RUN_WAITS;
	if (slave->is_first)
		return err_set(err, ETIMEDOUT, "%s carries no traffic in the new bond",
			       slave->name);
	handover_note(plan, "%s carries no traffic yet", slave->name);
	return 0;
}

/* Other work has a turn after each slave that is moved and is not the first. */
static int run_slaves(struct handover *plan, bool are_first,
		      int (*step)(struct handover *plan, const struct handover_slave *slave,
				  struct err *err),
		      struct err *err)
{
	while (plan->next_slave < plan->slave_count) {
		const struct handover_slave *slave = &plan->slaves[plan->next_slave];
		int r = slave->is_first == are_first ? step(plan, slave, err) : 0;

		if (r)
			return r;
		plan->next_slave++;
		if (step == run_move && !slave->is_first && !plan->is_hurried)
			return RUN_SOON;
	}
	plan->next_slave = 0;
	return 0;
}

static int run_move_first(struct handover *plan, struct err *err)
{
	return run_slaves(plan, true, run_move, err);
}

static int run_look_first(struct handover *plan, struct err *err)
{
	return run_slaves(plan, true, run_look, err);
}

/* Somebody has given the old bond another address meanwhile. Slaves may refuse it. */
static void run_follow_mac(struct handover *plan, const uint8_t *before)
{
	struct err why;

	if (mac_is_same(before, plan->mac) ||
	    !link_set_mac(&plan->daemon->nl, plan->devices[0].new, plan->mac, &why))
		return;
	handover_note(plan, "its new MAC address is not taken along: %s", why.text);
	memcpy(plan->mac, before, XBOND_MAC_SIZE);
}

static int run_switch(struct handover *plan, struct err *err)
{
	uint8_t before[XBOND_MAC_SIZE];
	int r;

	memcpy(before, plan->mac, sizeof(before));
	r = handover_survey_again(plan, err);
	if (!r)
		run_follow_mac(plan, before);
	if (!r)
		r = handover_switch(plan, err);
	plan->has_switched = !r;
	return r;
}

/* Nothing reaches them in the old bond any more, so none waits for another. */
static int run_move_others(struct handover *plan, struct err *err)
{
	return run_slaves(plan, false, run_move, err);
}

static int run_look_others(struct handover *plan, struct err *err)
{
	int r = run_slaves(plan, false, run_look, err);

	if (!r)
		r = plan->new_side->complete(plan, plan->devices[0].new, err);
	return r ? r : handover_passed("handover-all-moved", err);
}

static int run_record_end(struct handover *plan, struct err *err)
{
	plan->is_ending = true;
	return handover_journal_write(plan, err);
}

static int (*const run_stages[])(struct handover *plan, struct err *err) = {
	run_prepare,	 run_move_first,  run_look_first, run_switch,
	run_move_others, run_look_others, run_record_end,
};

/* From here on it is done. What the old bond has left is removed, or the next bondd does it. */
static int run_finish(struct handover *plan, struct err *err)
{
	struct err why;
	int r;

	handover_passed("handover-ending", NULL);
	r = handover_end(plan, &why);
	if (r)
		return err_set(err, -r, "the old bond %s cannot be removed: %s",
			       plan->devices[0].old_name, why.text);
	handover_journal_remove(plan);
	event_config(plan->words->name, handover_name(plan), NULL, "%s", plan->words->done);
	return 0;
}

/* What was in the way may be so no longer at the second attempt. */
static int run_go_back(struct handover *plan, struct err *err)
{
	struct err why = { 0 };
	int r;

	plan->is_ending = false;
	r = handover_undo(plan, &why);
	if (r && r != -ESTALE)
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
		return err_set(err, -r, "%s; but not everything could be undone: %s", why->text,
			       worse.text);
	if (back) {
		retry_later(&handover_left);
		return err_set(err, -r,
			       "%s; but not everything could be undone: %s (bondd tries again, and "
			       "so does the same command)",
			       why->text, worse.text);
	}
	return err_set(err, -r, "%s; the %s was undone: everything is as it was", why->text,
		       plan->words->name);
}

/*
 * Does what can be done now. RUN_SOON, RUN_WAITS: call it again. 0: it is done. -errno, with a line
 * in err: it has failed, and what was done is undone.
 */
static int handover_run(struct handover *plan, struct err *err)
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
	if (!r && run_finish(plan, &why)) {
		event_error(handover_name(plan), NULL, "%s (bondd tries again)", why.text);
		retry_later(&handover_left);
	}
	return r;
}

/*
 * The same without another turn: what has changed over goes on without waiting for slaves, and
 * anything else is undone.
 */
static int handover_hurry(struct handover *plan, struct err *err)
{
	const struct err why = { "bondd is stopping" };

	plan->is_hurried = true;
	return plan->has_switched ? handover_run(plan, err) : run_fail(plan, -EINTR, &why, err);
}

/* Neither the old bond nor the new one can be done without then. */
static bool handover_is_unadopted(const struct handover *plan)
{
	const struct handover_device *bond = &plan->devices[0];

	return daemon_is_unadopted(plan->daemon, bond->name) ||
	       daemon_is_unadopted(plan->daemon, bond->new_name) ||
	       daemon_is_unadopted(plan->daemon, bond->old_name);
}

/* What an earlier bondd began is finished or undone, as the journal says. */
static int handover_settle(struct daemon *daemon, const char *name, struct err *err)
{
	struct handover *plan;
	int r = handover_journal_read(daemon, name, &plan, err);

	if (r)
		return r == -ENOENT ? 0 : r;
	if (handover_is_unadopted(plan))
		r = err_set(err, EAGAIN, "not all of its bonds are adopted yet");
	else
		r = plan->is_ending ? run_finish(plan, err) : run_go_back(plan, err);
	if (!r && !plan->is_ending)
		event_notice(name, NULL, "a %s had not come to its end; it is undone now",
			     plan->words->name);
	handover_free(plan);
	return r;
}

struct handover_waiting {
	struct handover_waiting *next;
	struct daemon *daemon;
	char bond[XBOND_NAME_SIZE];
	struct handover_order order;
	json_t *notes;
	struct handover *plan; /* NULL: it has not begun */
	sd_event_source *timer;
};

static struct handover_waiting *handover_first; /* it has its turns; those after it wait */

static void handover_free_waiting(struct handover_waiting *waiting)
{
	sd_event_source_disable_unref(waiting->timer);
	if (waiting->plan)
		handover_free(waiting->plan);
	json_decref(waiting->order.options);
	json_decref(waiting->notes);
	free(waiting);
}

/* Of the first one. */
static void handover_tell(int r, const struct err *err)
{
	struct handover_waiting *done = handover_first;

	for (struct bond *bond = done->daemon->bonds; bond; bond = bond->next)
		bond_hand_over(bond, "");
	handover_first = done->next;
	done->order.tell(r, err, done->notes, done->order.arg);
	handover_free_waiting(done);
	if (handover_first)
		loop_timer_after(handover_first->timer, 0);
}

static int handover_start(struct handover_waiting *waiting, struct err *err)
{
	struct bond *bond;
	int r = handover_settle(waiting->daemon, waiting->bond, err);

	if (r)
		return r;
	waiting->plan = handover_new(waiting->daemon, waiting->order.kind, waiting->notes);
	r = handover_survey(waiting->plan, waiting->bond, waiting->order.options, err);
	bond = daemon_find_bond(waiting->daemon, waiting->bond);
	if (!r && bond)
		bond_hand_over(bond, waiting->bond);
	return r;
}

static int handover_on_turn(sd_event_source *source, uint64_t usec, void *arg)
{
	struct handover_waiting *waiting = arg;
	struct err err = { "" };
	int r = 0;

	latency_note(handover_words(waiting->order.kind)->name);
	event_set_author(waiting->order.author);
	if (!waiting->plan)
		r = handover_start(waiting, &err);
	if (!r)
		r = handover_run(waiting->plan, &err);
	event_set_author(0);
	if (r > 0)
		loop_timer_after(waiting->timer, r == RUN_SOON ? 0 : LOOK_US);
	else
		handover_tell(r, &err);
	return 0;
}

static void handover_append(struct handover_waiting *waiting)
{
	struct handover_waiting **at = &handover_first;

	while (*at)
		at = &(*at)->next;
	*at = waiting;
	if (waiting == handover_first)
		loop_timer_after(waiting->timer, 0);
}

int handover_begin(struct daemon *daemon, const struct handover_order *order, struct err *err)
{
	int r = name_check("bond", order->bond, err);
	struct handover_waiting *waiting = handover_first;

	if (r)
		return r;
	while (waiting && strcmp(waiting->bond, order->bond) != 0)
		waiting = waiting->next;
	if (waiting)
		return err_set(err, EBUSY, PINS_HANDED_OVER, order->bond);
	waiting = memory_need(calloc(1, sizeof(*waiting)));
	waiting->daemon = daemon;
	waiting->order = *order;
	waiting->order.bond = waiting->bond;
	waiting->notes = json_array();
	json_incref(order->options);
	snprintf(waiting->bond, sizeof(waiting->bond), "%s", order->bond);
	r = loop_timer(daemon->event, ACCURACY_US, handover_on_turn, waiting, &waiting->timer);
	if (r) {
		handover_free_waiting(waiting);
		return err_set(err, -r, "cannot make a timer: %s", strerror(-r));
	}
	handover_append(waiting);
	return 0;
}

void handover_stop(void)
{
	struct err err = { "" };
	int r = 0;

	if (handover_first && handover_first->plan) {
		event_set_author(handover_first->order.author);
		r = handover_hurry(handover_first->plan, &err);
		event_set_author(0);
		handover_tell(r, &err);
	}
	while (handover_first) {
		r = err_set(&err, EINTR, "bondd is stopping; nothing was changed");
		handover_tell(r, &err);
	}
}

struct recovery {
	struct daemon *daemon;
	bool is_again, is_left;
};

static void handover_recover_one(const char *name, void *arg)
{
	struct recovery *recovery = arg;
	struct err err;
	int r = handover_settle(recovery->daemon, name, &err);

	recovery->is_left |= r && r != -ESTALE;
	if (r == -ESTALE || (r && !recovery->is_again))
		event_error(name, NULL,
			    "a takeover, handback or conversion had not come to its "
			    "end, and not all of it can be undone: %s%s",
			    err.text, r == -ESTALE || r == -EPROTO ? "" : " (bondd tries again)");
}

void handover_recover(struct daemon *daemon, bool is_again)
{
	struct recovery recovery = { daemon, is_again, false };

	if (is_again &&
	    (!handover_left.pause_ns || handover_first || clock_now_ns() < handover_left.next_ns))
		return;
	if (run_file_visit(&daemon->paths, HANDOVER_DIRECTORY, HANDOVER_SUFFIX,
			   handover_recover_one, &recovery))
		recovery.is_left = true;
	if (recovery.is_left)
		retry_later(&handover_left);
	else
		handover_left = (struct retry){ 0 };
}
