/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/manage/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/slots.h"
#include "common/err.h"
#include "common/memory.h"
#include "daemon/bond/awaited.h"
#include "daemon/manage/apply.h"
#include "daemon/slave/slave.h"
#include "options/values.h"
#include "view/view_json.h"

struct plan_step *plan_add(struct plan *plan, enum plan_action action)
{
	struct plan_step *step;

	memory_more(plan->steps, plan->count);
	step = &plan->steps[plan->count++];
	*step = (struct plan_step){ .action = action };
	return step;
}

void plan_free(struct plan *plan)
{
	free(plan->steps);
	*plan = (struct plan){ 0 };
}

static const struct {
	const char *name,
		*sentence; /* sentence: %s is the bond, behind it come names and options */
} plan_actions[] = {
	[PLAN_CREATE] = { "create", "create %s" },
	[PLAN_SET] = { "set", "set %s" },
	[PLAN_SET_SLAVE] = { "set-slave", "set-slave %s" },
	[PLAN_ADD_SLAVE] = { "add-slave", "add-slave %s" },
	[PLAN_DEL_SLAVE] = { "del-slave", "del-slave %s" },
	[PLAN_AWAIT] = { "await", "add to %s when it appears:" },
	[PLAN_FORGET] = { "forget", "no longer add to %s when it appears:" },
};

static void plan_step_say(FILE *text, const struct plan_step *step, const char *bond)
{
	char value[OPTION_TEXT_SIZE];

	fprintf(text, plan_actions[step->action].sentence, bond); /* NOLINT: of the table above */
	for (size_t i = 0; i < step->slave_count; i++)
		fprintf(text, " %s", step->slaves[i]);
	for (int id = 0; id < OPT_COUNT; id++) {
		if (!step->options.given[id])
			continue;
		option_format(option_at(id), &step->options.value[id], value, sizeof(value));
		fprintf(text, " %s %s", option_at(id)->name, value);
	}
}

json_t *plan_step_json(const struct plan_step *step, const char *bond)
{
	json_t *slaves = json_array();
	char *said = NULL;
	size_t length;
	FILE *text = memory_need(open_memstream(&said, &length));
	json_t *json;

	for (size_t i = 0; i < step->slave_count; i++)
		json_array_append_new(slaves, json_value_text(step->slaves[i]));
	plan_step_say(text, step, bond);
	fclose(text);
	json = json_pack("{s:s, s:o, s:o, s:o}", "action", plan_actions[step->action].name,
			 "slaves", slaves, "options",
			 option_set_to_json(&step->options, json_value_text), "text",
			 json_value_text(said));
	free(said);
	return json;
}

/* A NIC that was added under another name than the configuration's has that one in this list. */
static int plan_slaves_slot_added(struct bond *bond, const char *name)
{
	for (const struct awaited *awaited = bond->daemon->awaited; awaited;
	     awaited = awaited->next) {
		if (awaited->bond != bond || !awaited->added ||
		    strcmp(awaited->slave.name, name) != 0)
			continue;
		bond_for_each_member (bond, slot)
			if (!memcmp(bond_slave(bond, slot)->perm_mac, awaited->perm_mac,
				    XBOND_MAC_SIZE))
				return (int)slot;
	}
	return -1;
}

/* A member stays one, also where a bond goes back behind a mistake. */
static int plan_slaves_unseen(struct bond *bond, struct plan_slave *slave, int r, struct err *err)
{
	char name[MAC_FORMAT_SIZE];

	if (slave->slot < 0 && !config_slave_is_by_mac(slave->config))
		slave->slot = pins_slot_by_name(&bond->dataplane.pins, slave->config->name);
	return err_set(err, -r, "the kernel does not say whether %s is there: %s; try again",
		       config_slave_name(slave->config, name), strerror(-r));
}

static int plan_slaves_find_one(struct bond *bond, const struct config_slave *config,
				struct plan_slave *ret_slave, struct err *err)
{
	int r;

	*ret_slave = (struct plan_slave){ .config = config, .slot = -1 };
	r = slave_find(bond, config, &ret_slave->link);
	ret_slave->is_there = !r;
	if (ret_slave->is_there)
		ret_slave->slot = bond_slot_by_ifindex(bond, ret_slave->link.ifindex);
	else if (!config_slave_is_by_mac(config))
		ret_slave->slot = plan_slaves_slot_added(bond, config->name);
	if (ret_slave->slot >= 0 && !bond_is_member(bond, (unsigned int)ret_slave->slot))
		ret_slave->slot = -1;
	if (r == -ENOTUNIQ && config_slave_is_by_mac(config))
		return slave_find_is_unclear(config, err);
	return r && r != -ENODEV && r != -ENOTUNIQ ? plan_slaves_unseen(bond, ret_slave, r, err)
						   : 0;
}

static int plan_slaves_check_twice(const struct plan_slaves *slaves, struct err *err)
{
	const struct plan_slave *last = &slaves->list[slaves->count - 1];
	char one[MAC_FORMAT_SIZE], other[MAC_FORMAT_SIZE];

	for (size_t i = 0; i + 1 < slaves->count; i++) {
		const struct plan_slave *slave = &slaves->list[i];

		if (slave->is_there && last->is_there && slave->link.ifindex == last->link.ifindex)
			return err_set(err, EINVAL,
				       "[slave %s] and [slave %s] are the same device, %s; name it "
				       "once",
				       config_slave_name(slave->config, one),
				       config_slave_name(last->config, other), last->link.name);
	}
	return 0;
}

int plan_slaves_find(struct bond *bond, const struct config_file *file,
		     struct plan_slaves *ret_slaves, struct err *err)
{
	struct err *first = err;
	int r = 0;

	/* All of them, even behind a mistake: a bond that goes back keeps what it can. */
	*ret_slaves = (struct plan_slaves){ 0 };
	for (size_t i = 0; i < file->slave_count && i < XBOND_MAX_SLAVES; i++) {
		struct plan_slave *slave = &ret_slaves->list[ret_slaves->count++];

		if (plan_slaves_find_one(bond, &file->slaves[i], slave, first) ||
		    plan_slaves_check_twice(ret_slaves, first)) {
			r = r ? r : -EINVAL;
			first = NULL;
		}
		if (slave->slot >= 0)
			ret_slaves->stay |= slots_bit((unsigned int)slave->slot);
		else
			ret_slaves->new_count += slave->is_there;
	}
	ret_slaves->leave = bond_members(bond) & ~ret_slaves->stay;
	return r;
}

int plan_slaves_check(struct bond *bond, const struct plan_slaves *slaves, const json_t *leaving,
		      struct err *err)
{
	struct link_info link;
	int r = 0;

	for (size_t i = 0; i < slaves->count && !r; i++) {
		const struct plan_slave *slave = &slaves->list[i];

		if (slave->is_there && slave->slot < 0 &&
		    !json_object_get(leaving, slave->link.name))
			r = enslave_check(bond, slave->link.name, false, &link, err);
	}
	return r;
}

/* What the slave shall have in this mode: as given, or the default. */
static bool plan_slaves_wants(const struct config_slave *config, const struct option_spec *option,
			      uint32_t mode, struct option_value *ret_value)
{
	if (option->scope != OPTION_SLAVE || option->home == OPTION_NOWHERE ||
	    !option_is_of_mode(option, mode))
		return false;
	*ret_value = config->options.given[option->id] ? config->options.value[option->id]
						       : option_initial(option);
	return true;
}

static bool plan_slaves_differs(struct bond *bond, const struct plan_slave *slave, uint32_t mode,
				struct option_set *ret_options)
{
	bool differs = false;

	*ret_options = (struct option_set){ 0 };
	for (int id = OPT_WEIGHT; id < OPT_COUNT; id++) {
		const struct option_spec *option = option_at(id);
		struct option_value now, *wanted = &ret_options->value[id];

		if (!plan_slaves_wants(slave->config, option, mode, wanted))
			continue;
		values_read(&bond->dataplane.pins, option, (unsigned int)slave->slot, &now);
		ret_options->given[id] = !option_value_is_same(&now, wanted);
		differs |= ret_options->given[id];
	}
	return differs;
}

static void plan_slaves_name(struct plan_step *step, const char *name)
{
	if (step->slave_count < XBOND_MAX_SLAVES)
		snprintf(step->slaves[step->slave_count++], MAC_FORMAT_SIZE, "%s", name);
}

void plan_slaves_set(struct bond *bond, const struct plan_slaves *slaves, uint32_t mode,
		     struct plan *plan)
{
	struct option_set options;

	for (size_t i = 0; i < slaves->count; i++) {
		const struct plan_slave *slave = &slaves->list[i];
		struct plan_step *step;

		if (slave->slot < 0 || !plan_slaves_differs(bond, slave, mode, &options))
			continue;
		step = plan_add(plan, PLAN_SET_SLAVE);
		step->options = options;
		plan_slaves_name(step, bond_slave(bond, (unsigned int)slave->slot)->name);
	}
}

static uint32_t plan_slaves_queue_id(const struct plan_slave *slave)
{
	const struct option_set *options = &slave->config->options;

	return options->given[OPT_QUEUE_ID] ? options->value[OPT_QUEUE_ID].number : 0;
}

static bool plan_slaves_takes_queue_id(const struct plan_slaves *slaves, uint32_t number, int slot)
{
	for (size_t i = 0; i < slaves->count; i++)
		if (slaves->list[i].slot != slot &&
		    plan_slaves_queue_id(&slaves->list[i]) == number)
			return true;
	return false;
}

void plan_slaves_free_queue_ids(struct bond *bond, const struct plan_slaves *slaves, uint64_t gone,
				struct plan *plan)
{
	struct plan_step *step = NULL;

	bond_for_each_member (bond, slot) {
		uint32_t number = bond_slave(bond, slot)->queue_id;

		if (!number || gone & slots_bit(slot) ||
		    !plan_slaves_takes_queue_id(slaves, number, (int)slot))
			continue;
		if (!step)
			step = plan_add(plan, PLAN_SET_SLAVE);
		step->options.given[OPT_QUEUE_ID] = true;
		plan_slaves_name(step, bond_slave(bond, slot)->name);
	}
}

/* What `add-slave` would be given: no defaults. */
static void plan_slaves_options(const struct config_slave *config, uint32_t mode,
				struct option_set *ret_options)
{
	*ret_options = (struct option_set){ 0 };
	for (int id = OPT_WEIGHT; id < OPT_COUNT; id++) {
		struct option_value *wanted = &ret_options->value[id];

		ret_options->given[id] = plan_slaves_wants(config, option_at(id), mode, wanted) &&
					 !option_is_default(option_at(id), wanted);
	}
}

static bool plan_slaves_is_same(const struct option_set *a, const struct option_set *b)
{
	for (int id = 0; id < OPT_COUNT; id++)
		if (a->given[id] != b->given[id] ||
		    (a->given[id] && !option_value_is_same(&a->value[id], &b->value[id])))
			return false;
	return true;
}

void plan_slaves_add(struct bond *bond, const struct plan_slaves *slaves, uint32_t mode, bool again,
		     struct plan *plan)
{
	struct plan_step *step = NULL;
	struct option_set options;

	for (size_t i = 0; i < slaves->count; i++) {
		const struct plan_slave *slave = &slaves->list[i];
		bool is_member = slave->slot >= 0;

		if (is_member ? !again : !slave->is_there)
			continue;
		plan_slaves_options(slave->config, mode, &options);
		if (!step || !plan_slaves_is_same(&step->options, &options))
			step = plan_add(plan, PLAN_ADD_SLAVE);
		step->options = options;
		plan_slaves_name(step, is_member ? bond_slave(bond, (unsigned int)slave->slot)->name
						 : slave->link.name);
	}
}

void plan_slaves_del(struct bond *bond, uint64_t slots, struct plan *plan)
{
	struct plan_step *step = slots ? plan_add(plan, PLAN_DEL_SLAVE) : NULL;

	bond_for_each_member (bond, slot)
		if (slots & slots_bit(slot))
			plan_slaves_name(step, bond_slave(bond, slot)->name);
}

/* With the same settings, whether they are given or defaults. */
static bool plan_slaves_awaits(const struct awaited *awaited, const struct config_slave *config,
			       uint32_t mode)
{
	for (int id = OPT_WEIGHT; id < OPT_COUNT; id++) {
		struct option_value now, wanted;

		if (!plan_slaves_wants(config, option_at(id), mode, &wanted) ||
		    !plan_slaves_wants(&awaited->slave, option_at(id), mode, &now))
			continue;
		if (!option_value_is_same(&now, &wanted))
			return false;
	}
	return true;
}

/* Whether it is one of those: a slave that is added because it is there is no longer awaited. */
static bool plan_slaves_have(const struct plan_slaves *slaves, const struct awaited *awaited)
{
	char one[MAC_FORMAT_SIZE], other[MAC_FORMAT_SIZE];

	for (size_t i = 0; i < slaves->count; i++)
		if (!strcmp(config_slave_name(slaves->list[i].config, one),
			    config_slave_name(&awaited->slave, other)))
			return true;
	return false;
}

static void plan_slaves_forget(struct bond *bond, const struct plan_slaves *slaves,
			       struct plan *plan)
{
	struct plan_step *step = NULL;
	char text[MAC_FORMAT_SIZE];

	for (const struct awaited *awaited = bond->daemon->awaited; awaited;
	     awaited = awaited->next) {
		if (awaited->bond != bond || awaited->added || plan_slaves_have(slaves, awaited))
			continue;
		if (!step)
			step = plan_add(plan, PLAN_FORGET);
		plan_slaves_name(step, config_slave_name(&awaited->slave, text));
	}
}

void plan_slaves_await(struct bond *bond, const struct plan_slaves *slaves, uint32_t mode,
		       struct plan *plan)
{
	char text[MAC_FORMAT_SIZE];

	for (size_t i = 0; i < slaves->count; i++) {
		const struct plan_slave *slave = &slaves->list[i];
		const struct awaited *awaited;
		struct plan_step *step;

		if (slave->is_there || slave->slot >= 0)
			continue;
		awaited = awaited_find(bond, config_slave_name(slave->config, text));
		if (awaited && plan_slaves_awaits(awaited, slave->config, mode))
			continue;
		step = plan_add(plan, PLAN_AWAIT);
		step->slave = *slave->config;
		plan_slaves_options(slave->config, mode, &step->options);
		plan_slaves_name(step, text);
	}
	plan_slaves_forget(bond, slaves, plan);
}
