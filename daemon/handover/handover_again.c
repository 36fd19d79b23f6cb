/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The second look: what has changed while a slave was waited for. */
#include <errno.h>
#include <net/if.h>

#include "daemon/handover/handover_plan.h"
#include "network/link.h"

/*
 * A kernel bond without slaves takes another address by itself, and forgets its neighbours by that.
 */
static bool again_is_empty(struct handover *plan)
{
	if (plan->kind != HANDOVER_TAKEOVER || !strcmp(plan->old_kind, "team"))
		return false;
	for (size_t i = 0; i < plan->slave_count; i++)
		if (plan->old_side->has(plan, plan->devices[0].old, &plan->slaves[i]))
			return false;
	return true;
}

/* A team has the address that teamd wants, and with fail_over_mac active it is a slave's. */
static bool again_has_own_mac(struct handover *plan)
{
	const char *policy = json_string_value(json_object_get(plan->options, "fail_over_mac"));

	if (policy && !strcmp(policy, "active"))
		return false;
	return plan->kind != HANDOVER_TAKEOVER ||
	       (strcmp(plan->old_kind, "team") && !again_is_empty(plan));
}

/* They have their names again, if nobody else has them. */
static int again_take_devices(struct handover *plan, struct err *err)
{
	for (size_t i = 0; i < plan->device_count; i++) {
		struct handover_device *device = &plan->devices[i];
		struct link_info now;

		if (handover_find_old(plan, i, &now))
			continue;
		if (strcmp(now.name, device->name) &&
		    link_set_name(&plan->daemon->nl, device->old, device->name, err))
			return -EEXIST;
		if (device->lower < 0 && again_has_own_mac(plan))
			memcpy(plan->mac, now.mac, XBOND_MAC_SIZE);
		device->is_up = now.flags & IFF_UP;
		device->has_master = now.master;
	}
	return 0;
}

/* A request that fails says nothing. */
static bool again_has_left(struct handover *plan, const struct handover_slave *slave)
{
	int old = plan->devices[0].old, r;
	struct link_info now;

	if (plan->old_side->has(plan, old, slave))
		return false;
	r = link_get(&plan->daemon->nl, -1, slave->ifindex, &now);
	return r ? r == -ENODEV : now.master != old;
}

/* What others have done with the slaves that have not been moved. */
static void again_take_slaves(struct handover *plan)
{
	size_t kept = 0;

	for (size_t i = 0; i < plan->slave_count; i++) {
		struct handover_slave *slave = &plan->slaves[i];

		if (!slave->is_first && again_has_left(plan, slave)) {
			handover_note(plan, "%s has left %s meanwhile", slave->name,
				      handover_name(plan));
			json_decref(slave->options);
			continue;
		}
		if (!slave->is_first) {
			slave->is_down = link_is_down(&plan->daemon->nl, slave->ifindex);
			handover_survey_options(plan, slave);
		}
		plan->slaves[kept++] = *slave;
	}
	plan->slave_count = kept;
}

int handover_survey_now(struct handover *plan, struct err *err)
{
	int r = again_take_devices(plan, err);

	if (!r && !again_is_empty(plan))
		r = handover_survey_conf(plan, err);
	if (r)
		return r;
	again_take_slaves(plan);
	plan->is_untouched = false;
	return handover_journal_write(plan, err);
}

static bool again_is_planned(const struct handover *plan, int ifindex)
{
	for (size_t i = 0; i < plan->device_count; i++)
		if (plan->devices[i].old == ifindex || plan->devices[i].new == ifindex)
			return true;
	for (size_t i = 0; i < plan->slave_count; i++)
		if (plan->slaves[i].ifindex == ifindex)
			return true;
	return false;
}

static int again_check_device(struct handover *plan, const struct link_list *links, size_t index,
			      struct err *err)
{
	const struct handover_device *device = &plan->devices[index];
	struct link_info now;

	if (handover_find_old(plan, index, &now))
		return err_set(err, ENODEV, "%s was removed meanwhile", device->name);
	if (device->lower < 0 && now.mtu != plan->mtu)
		return err_set(err, EAGAIN, "the MTU of %s was changed meanwhile; try again",
			       device->name);
	for (size_t i = 0; i < links->count; i++) {
		const struct link_info *link = &links->link[i];

		if ((link_is_on(link, device->old) || link_sends_by(link, device->old) ||
		     link->master == device->old) &&
		    !again_is_planned(plan, link->ifindex))
			return err_set(err, EAGAIN,
				       "%s has come to %s since the %s began, and would be lost; "
				       "try again",
				       link->name, device->name, plan->words->name);
	}
	return handover_check_master(links, &now, err);
}

static int again_check(struct handover *plan, const struct link_list *links, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < plan->device_count && !r; i++) {
		r = again_check_device(plan, links, i, err);
		if (!r)
			r = handover_check_name(links, plan->devices[i].old_name, err);
	}
	return r;
}

int handover_survey_again(struct handover *plan, struct err *err)
{
	struct link_list links;
	int r = link_list_read(&plan->daemon->nl, &links);

	r = r ? err_set(err, EAGAIN, "the devices cannot be listed; try again")
	      : again_check(plan, &links, err);
	link_list_free(&links);
	return r ? r : handover_survey_now(plan, err);
}
