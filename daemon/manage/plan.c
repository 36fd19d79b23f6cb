/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/manage/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/memory.h"
#include "daemon/base/crashpoint.h"
#include "daemon/base/main_loop.h"
#include "daemon/bond/awaited.h"
#include "daemon/manage/apply.h"
#include "daemon/manage/requests.h"
#include "options/option_set.h"
#include "options/values.h"

struct planning {
	struct bond *bond;
	const struct plan_wish *wish;
	struct plan_slaves slaves;
	struct option_set options; /* of the bond, that differ */
	struct option_set latent;  /* likewise, which the new mode does not have */
	uint32_t mode;
	bool empties; /* all slaves leave before the options are set */
};

/* What a file may leave to the bond that runs: how it was made, and what bondd has chosen for it.
 */
static bool plan_is_left(const struct planning *planning, enum option_id id)
{
	if (id == OPT_ACTIVE_SLAVE)
		return true;
	if (id == OPT_PATH && bond_only_direct(bond_pin(planning->bond)))
		return !planning->wish->file->bond.given[id];
	return (id == OPT_DEVICE || id == OPT_HASH_SEED || id == OPT_FAIL_OVER_MAC) &&
	       !planning->wish->file->bond.given[id];
}

static struct option_value plan_wanted(const struct option_set *options,
				       const struct option_spec *option)
{
	const struct option_spec *other = option_set_other_name(option);

	if (other && !options->given[option->id] && options->given[other->id])
		return options->value[other->id];
	return options->given[option->id] ? options->value[option->id] : option_initial(option);
}

/* An option that the bond's mode has now, and the mode that it goes back to has not. */
static bool plan_is_latent(const struct planning *planning, const struct option_spec *option)
{
	return planning->wish->is_exact &&
	       option_is_of_mode(option, bond_pin(planning->bond)->mode);
}

static void plan_compare(struct planning *planning)
{
	const struct option_set *asked = &planning->wish->file->bond;

	for (int id = 0; id < OPT_WEIGHT; id++) {
		const struct option_spec *option = option_at(id);
		bool is_of_mode = option_is_of_mode(option, planning->mode);
		struct option_set *into = is_of_mode ? &planning->options : &planning->latent;
		struct option_value now;

		if (option->is_alias || option->home == OPTION_NOWHERE ||
		    plan_is_left(planning, id) ||
		    (!is_of_mode && !plan_is_latent(planning, option)))
			continue;
		into->value[id] = plan_wanted(asked, option);
		values_read(&planning->bond->dataplane.pins, option, 0, &now);
		into->given[id] = !option_value_is_same(&now, &into->value[id]);
	}
}

/* A bond that was made as it asks is right. Another kind of device is a handover, and no step. */
static int plan_check_device(struct planning *planning, struct err *err)
{
	const struct xbond_bond *pin = bond_pin(planning->bond);
	bool *given = &planning->options.given[OPT_DEVICE];
	uint32_t wanted = planning->options.value[OPT_DEVICE].number;
	char text[OPTION_TEXT_SIZE];

	option_format(option_at(OPT_DEVICE), &planning->options.value[OPT_DEVICE], text,
		      sizeof(text));
	if (!*given || option_device_is(wanted, pin->device_kind)) {
		*given = false;
		return option_set_check_device(&planning->wish->file->bond, pin, err);
	}
	return err_set(err, EBUSY,
		       "device: %s has another kind of device; 'bondctl set %s device %s' changes "
		       "it under traffic",
		       pin->name, pin->name, text);
}

static int plan_check_empty(struct planning *planning, struct err *err)
{
	struct bond *bond = planning->bond;
	const char *name = bond_pin(bond)->name;

	if (!planning->options.given[OPT_FAIL_OVER_MAC] || !bond_slave_count(bond))
		return 0;
	planning->empties = true;
	if (!planning->slaves.stay || planning->wish->may_interrupt)
		return 0;
	return err_set(err, ENOTEMPTY,
		       "fail_over_mac: can be changed only while the bond has no slaves, which "
		       "interrupts the traffic; 'bondctl apply %s --interrupt' removes the slaves "
		       "and adds them again",
		       name);
}

/* Would request_set() refuse the options as they are then? */
static int plan_check_together(const struct planning *planning, struct err *err)
{
	struct xbond_bond then = *bond_pin(planning->bond);
	struct pins pins = { .bond = &then };

	values_write_given(&pins, OPTION_IN_BOND, 0, &planning->options);
	return option_together_check(&then, err);
}

static void plan_set(struct plan *plan, const struct option_set *options)
{
	struct plan_step *step = NULL;

	for (int id = 0; id < OPT_WEIGHT; id++) {
		if (!options->given[id])
			continue;
		if (!step)
			step = plan_add(plan, PLAN_SET);
		step->options.given[id] = true;
		step->options.value[id] = options->value[id];
	}
}

/* With more slaves to come, the bond would lose its carrier for the moment. */
static void plan_take_late(struct planning *planning, struct option_set *ret_late)
{
	struct option_set *options = &planning->options;
	uint32_t wanted = options->value[OPT_MIN_LINKS].number;

	*ret_late = (struct option_set){ 0 };
	if (!options->given[OPT_MIN_LINKS] || wanted <= bond_pin(planning->bond)->min_links ||
	    (!planning->slaves.new_count && !planning->empties))
		return;
	options->given[OPT_MIN_LINKS] = false;
	ret_late->given[OPT_MIN_LINKS] = true;
	ret_late->value[OPT_MIN_LINKS] = options->value[OPT_MIN_LINKS];
}

static void plan_order(struct planning *planning, struct plan *plan)
{
	const struct plan_slaves *slaves = &planning->slaves;
	struct bond *bond = planning->bond;
	bool crowded = bond_slave_count(bond) + slaves->new_count > XBOND_MAX_SLAVES;
	/* A slave that comes back gets the slot that it had, if its successor is gone. */
	bool leaves_first = crowded || (planning->wish->is_exact && slaves->stay);
	uint64_t first = planning->empties ? slaves->stay | slaves->leave
					   : (leaves_first ? slaves->leave : 0);
	struct option_set late;

	plan_take_late(planning, &late);
	plan_set(plan, &planning->latent);
	plan_slaves_del(bond, first, plan);
	plan_slaves_free_queue_ids(bond, slaves, first, plan);
	plan_set(plan, &planning->options);
	if (!planning->empties)
		plan_slaves_set(bond, slaves, planning->mode, plan);
	plan_slaves_add(bond, slaves, planning->mode, planning->empties, plan);
	plan_set(plan, &late);
	plan_slaves_del(bond, slaves->leave & ~first, plan);
	plan_slaves_await(bond, slaves, planning->mode, plan);
}

int plan_make(struct bond *bond, const struct plan_wish *wish, struct plan *ret_plan,
	      struct err *err)
{
	struct planning *planning = memory_need(calloc(1, sizeof(*planning)));
	int r;

	*ret_plan = (struct plan){ 0 };
	planning->bond = bond;
	planning->wish = wish;
	planning->mode =
		option_set_mode(&wish->file->bond, option_initial(option_at(OPT_MODE)).number);
	plan_compare(planning);
	r = plan_slaves_find(bond, wish->file, &planning->slaves, err);
	if (!r)
		r = plan_check_device(planning, err);
	if (!r)
		r = plan_check_empty(planning, err);
	if (!r)
		r = plan_check_together(planning, err);
	if (!r)
		r = plan_slaves_check(bond, &planning->slaves, wish->leaving, err);
	/* What refuses a bond that goes back shall not keep the rest of it from doing so. */
	if (!r || wish->is_exact)
		plan_order(planning, ret_plan);
	free(planning);
	return r;
}

/* The slave is added if it is there, else awaited. */
static int plan_add_new_slave(struct daemon *daemon, const struct config_slave *slave,
			      struct plan *plan, struct err *err)
{
	char name[MAC_FORMAT_SIZE];
	struct link_info link;
	int r = slave_find_new(daemon, slave, &link);
	struct plan_step *step;

	if (r && r != -ENODEV && r != -ENOTUNIQ)
		return err_set(err, -r,
			       "the kernel does not say whether %s is there: %s; try again",
			       config_slave_name(slave, name), strerror(-r));
	step = plan_add(plan, r ? PLAN_AWAIT : PLAN_ADD_SLAVE);
	step->options = slave->options;
	step->slave = *slave;
	if (r)
		config_slave_name(slave, step->slaves[0]);
	else
		snprintf(step->slaves[0], MAC_FORMAT_SIZE, "%s", link.name);
	step->slave_count = 1;
	return 0;
}

int plan_make_new(struct daemon *daemon, const struct config_file *file, struct plan *ret_plan,
		  struct err *err)
{
	struct xbond_settings settings = { 0 };
	struct xbond_bond bond = { 0 };
	int r;

	*ret_plan = (struct plan){ 0 };
	values_fill(&bond, &settings, &file->bond);
	r = option_together_check(&bond, err);
	if (!r)
		plan_add(ret_plan, PLAN_CREATE)->options = file->bond;
	for (size_t i = 0; i < file->slave_count && !r; i++)
		r = plan_add_new_slave(daemon, &file->slaves[i], ret_plan, err);
	return r;
}

/* Returns how many bondd keeps; the steering ones act at once. */
static size_t plan_run_kept(const struct option_set *options, struct option_set *ret_kept)
{
	size_t count = 0;

	*ret_kept = *options;
	for (int id = 0; id < OPT_COUNT; id++) {
		ret_kept->given[id] &= option_at(id)->home != OPTION_IN_SETTINGS;
		count += ret_kept->given[id];
	}
	return count;
}

/* Of the bond, or of these slaves. */
static int plan_run_set(struct daemon *daemon, const char *name, const struct plan_step *step,
			const char *const *slaves, struct err *err)
{
	struct option_set kept;
	struct pins *pins;
	struct bond *bond;
	int r = 0;

	if (plan_run_kept(&step->options, &kept))
		r = step->action == PLAN_SET ? request_set(daemon, name, &kept, err)
					     : request_set_slaves(daemon, name, slaves,
								  step->slave_count, &kept, err);
	if (!r)
		r = request_find(daemon, name, &bond, err);
	if (r)
		return r;
	pins = &bond->dataplane.pins;
	if (step->action == PLAN_SET)
		values_write_given(pins, OPTION_IN_SETTINGS, 0, &step->options);
	for (size_t i = 0; i < step->slave_count; i++) {
		int slot = pins_slot_by_name(pins, slaves[i]);

		if (slot >= 0)
			values_write_given(pins, OPTION_IN_SETTINGS, (unsigned int)slot,
					   &step->options);
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

/* What is not yet as before is no slave any more, so the plan goes on. */
static int plan_run_del_slave(struct daemon *daemon, const char *name, const struct plan_step *step,
			      const char *const *slaves, json_t *notes, struct err *err)
{
	int r = request_del_slaves(daemon, name, slaves, step->slave_count, notes, err);

	if (r != -EAGAIN)
		return r;
	request_note(notes, "%s", err->text);
	return 0;
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
	case PLAN_SET:
	case PLAN_SET_SLAVE: return plan_run_set(daemon, name, step, slaves, err);
	case PLAN_ADD_SLAVE: return plan_run_add_slave(daemon, name, step, slaves, notes, err);
	case PLAN_DEL_SLAVE: return plan_run_del_slave(daemon, name, step, slaves, notes, err);
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
