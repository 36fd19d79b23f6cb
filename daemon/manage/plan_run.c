/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/manage/plan_run.h"

#include <errno.h>

#include "daemon/base/crashpoint.h"
#include "daemon/base/main_loop.h"
#include "daemon/bond/awaited.h"
#include "daemon/manage/requests.h"
#include "daemon/manage/slave_find.h"
#include "options/values.h"

/* Those that bondd keeps, and the steering ones, which act at once. */
static void plan_run_split(const struct option_set *options, struct option_set *ret_kept,
			   struct option_set *ret_steering, size_t *ret_kept_count)
{
	*ret_kept = *ret_steering = (struct option_set){ 0 };
	*ret_kept_count = 0;
	for (int id = 0; id < OPT_COUNT; id++) {
		bool steers = option_at(id)->home == OPTION_IN_SETTINGS;
		struct option_set *into = steers ? ret_steering : ret_kept;

		into->given[id] = options->given[id];
		into->value[id] = options->value[id];
		*ret_kept_count += options->given[id] && !steers;
	}
}

static void plan_run_steer(struct bond *bond, unsigned int slot, const struct option_set *steering)
{
	for (int id = 0; id < OPT_COUNT; id++)
		if (steering->given[id])
			values_write_setting(&bond->dataplane.pins, option_at(id), slot,
					     &steering->value[id]);
}

static int plan_run_set(struct daemon *daemon, const char *name, const struct plan_step *step,
			struct err *err)
{
	struct option_set kept, steering;
	struct bond *bond;
	size_t count;
	int r;

	plan_run_split(&step->options, &kept, &steering, &count);
	r = count ? request_set(daemon, name, &kept, err) : 0;
	if (!r)
		r = request_find(daemon, name, &bond, err);
	if (r)
		return r;
	plan_run_steer(bond, 0, &steering);
	return request_refresh(daemon, name, err);
}

static int plan_run_set_slave(struct daemon *daemon, const char *name, const struct plan_step *step,
			      const char *const *slaves, struct err *err)
{
	struct option_set kept, steering;
	struct bond *bond;
	size_t count;
	int r;

	plan_run_split(&step->options, &kept, &steering, &count);
	r = count ? request_set_slaves(daemon, name, slaves, step->slave_count, &kept, err) : 0;
	if (!r)
		r = request_find(daemon, name, &bond, err);
	if (r)
		return r;
	for (size_t i = 0; i < step->slave_count; i++) {
		int slot = pins_slot_by_name(&bond->dataplane.pins, slaves[i]);

		if (slot >= 0)
			plan_run_steer(bond, (unsigned int)slot, &steering);
	}
	return request_refresh(daemon, name, err);
}

static bool plan_run_is_member(struct bond *bond, const struct config_slave *slave)
{
	struct link_info link;

	return !slave_find(bond, slave, &link) && bond_slot_by_ifindex(bond, link.ifindex) >= 0;
}

/* Members are not awaited any more. */
static void plan_run_tidy_awaited(struct bond *bond)
{
	char text[MAC_FORMAT_SIZE];
	struct awaited *awaited = bond->daemon->awaited;

	while (awaited) {
		bool is_over = awaited->bond == bond && !awaited->added &&
			       plan_run_is_member(bond, &awaited->slave);

		if (is_over)
			awaited_remove(bond, config_slave_name(&awaited->slave, text));
		awaited = is_over ? bond->daemon->awaited : awaited->next;
	}
}

static int plan_run_add_slave(struct daemon *daemon, const char *name, const struct plan_step *step,
			      const char *const *slaves, json_t *notes, struct err *err)
{
	struct bond *bond;
	int r = request_add_slaves(daemon, name, slaves, step->slave_count, &step->options, notes,
				   err);

	if (!r && !request_find(daemon, name, &bond, err))
		plan_run_tidy_awaited(bond);
	return r;
}

static int plan_run_await(struct daemon *daemon, const char *name, const struct plan_step *step,
			  struct err *err)
{
	struct bond *bond;
	int r = request_find(daemon, name, &bond, err);

	if (r)
		return r;
	for (size_t i = 0; i < step->slave_count; i++)
		awaited_remove(bond, step->slaves[i]);
	if (step->action == PLAN_AWAIT)
		awaited_add(bond, &step->slave, NULL, false);
	return 0;
}

static int plan_run_step(struct daemon *daemon, const char *name, const struct plan_step *step,
			 json_t *notes, struct err *err)
{
	const char *slaves[XBOND_MAX_SLAVES];

	for (size_t i = 0; i < step->slave_count; i++)
		slaves[i] = step->slaves[i];
	switch (step->action) {
	case PLAN_CREATE: return request_create(daemon, name, &step->options, err);
	case PLAN_SET: return plan_run_set(daemon, name, step, err);
	case PLAN_SET_SLAVE: return plan_run_set_slave(daemon, name, step, slaves, err);
	case PLAN_ADD_SLAVE: return plan_run_add_slave(daemon, name, step, slaves, notes, err);
	case PLAN_DEL_SLAVE:
		return request_del_slaves(daemon, name, slaves, step->slave_count, notes, err);
	case PLAN_AWAIT:
	case PLAN_FORGET: return plan_run_await(daemon, name, step, err);
	}
	return -EINVAL;
}

int plan_run(struct daemon *daemon, const char *bond, const struct plan *plan, bool goes_on,
	     json_t *notes, struct err *err)
{
	struct err why;
	int r = 0;

	for (size_t i = 0; i < plan->count && (!r || goes_on); i++) {
		int failed = plan_run_step(daemon, bond, &plan->steps[i], notes, &why);

		crashpoint(i ? "plan-later-step" : "plan-first-step");
		if (failed && !r)
			r = err_set(err, -failed, "%s", why.text);
		idle_turn();
	}
	return r;
}
