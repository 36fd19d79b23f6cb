/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's bonds and teams as a side of a handover. */
#include <net/if.h>

#include "common/mode.h"
#include "daemon/handover/handover_side.h"
#include "network/bonding.h"
#include "network/link.h"

static int kernel_side_create(struct handover *plan, const char *name, struct err *err)
{
	struct nl *nl = &plan->daemon->nl;
	struct link_end end = { .name = name, .mac = plan->mac, .mtu = plan->mtu };
	struct option_set options = { 0 };
	struct link_info made;
	int r = option_set_from_json(&options, OPTION_BOND, plan->options, err);

	if (!r)
		r = bonding_create(nl, &end, &options, err);
	if (!r)
		r = link_get_by_name(nl, name, &made);
	if (r)
		return r;
	link_copy_sleep(name);
	return link_set_flags(nl, made.ifindex, IFF_UP, IFF_UP, err);
}

/* The driver takes no slave that is up. It brings it up itself. */
static int kernel_side_add(struct handover *plan, int ifindex, const struct handover_slave *slave,
			   struct err *err)
{
	struct nl *nl = &plan->daemon->nl;
	struct option_set options = { 0 };
	int r = option_set_from_json(&options, OPTION_SLAVE, slave->options, err);

	if (!r)
		r = link_set_flags(nl, slave->ifindex, 0, IFF_UP, err);
	if (!r)
		r = link_set_master(nl, slave->ifindex, ifindex, err);
	if (!r && json_object_size(slave->options))
		r = bonding_set_slave(nl, slave->ifindex, &options, err);
	return r;
}

static int kernel_side_release(struct handover *plan, int ifindex,
			       const struct handover_slave *slave, struct err *err)
{
	(void)ifindex;
	return link_set_master(&plan->daemon->nl, slave->ifindex, 0, err);
}

static bool kernel_side_has(struct handover *plan, int ifindex, const struct handover_slave *slave)
{
	struct link_info link;

	return !link_get(&plan->daemon->nl, -1, slave->ifindex, &link) && link.master == ifindex;
}

static bool kernel_side_uses(struct handover *plan, int ifindex, const struct handover_slave *slave)
{
	const char *mode = json_string_value(json_object_get(plan->options, "mode"));
	bool is_ad = mode && !strcmp(mode, mode_name(XBOND_MODE_8023AD));
	struct bonding_slave now;

	(void)ifindex;
	return !bonding_read_slave(&plan->daemon->nl, slave->ifindex, &now) && now.distributes &&
	       (now.has_aggregator || !is_ad);
}

static void kernel_side_follow(struct handover *plan, int ifindex)
{
	(void)plan;
	(void)ifindex;
}

static int kernel_side_remove(struct handover *plan, int ifindex, struct err *err)
{
	return link_delete(&plan->daemon->nl, ifindex, err);
}

const struct handover_side handover_side_kernel = {
	.whose = "the kernel's",
	.create = kernel_side_create,
	.add = kernel_side_add,
	.release = kernel_side_release,
	.has = kernel_side_has,
	.uses = kernel_side_uses,
	.follow = kernel_side_follow,
	.remove = kernel_side_remove,
};
