/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/mode.h"
#include "daemon/base/main_loop.h"
#include "daemon/dataplane/attach.h"
#include "daemon/handover/handover_plan.h"
#include "daemon/manage/apply.h"
#include "daemon/manage/lifecycle.h"
#include "network/bonding.h"
#include "network/filters.h"
#include "network/link.h"
#include "options/names.h"
#include "options/values.h"

int handover_check_master(const struct link_list *links, const struct link_info *link,
			  struct err *err)
{
	const struct link_info *master = link_list_find(links, link->master);

	if (!master || !strcmp(master->kind, "bridge") || !strcmp(master->kind, "vrf"))
		return 0;
	return err_set(err, EOPNOTSUPP,
		       "%s is a port of %s (%s), and only ports of bridges and VRFs are handed "
		       "over; take it out first",
		       link->name, master->name, *master->kind ? master->kind : "hardware");
}

int handover_check_name(const struct link_list *links, const char *name, struct err *err)
{
	for (size_t i = 0; i < links->count; i++)
		if (!strcmp(links->link[i].name, name))
			return err_set(err, EEXIST,
				       "the name %s is needed during the change, and a device has "
				       "it; rename that device",
				       name);
	return 0;
}

static bool survey_is_foreign(uint32_t program)
{
	return program && !attach_is_of_xbond(program);
}

static void survey_note_lost(struct handover *plan, const struct link_info *link)
{
	if (strcmp(link->qdisc, "noqueue") && strcmp(link->qdisc, "noop"))
		handover_note(plan, "the qdisc %s of %s is not handed over", link->qdisc,
			      link->name);
	if (attach_has_others(&plan->daemon->nl, link->ifindex) ||
	    survey_is_foreign(link->xdp_id) || survey_is_foreign(link->xdp_generic_id))
		handover_note(plan, "the filters and BPF programs of %s are not handed over",
			      link->name);
}

static int survey_add_device(struct handover *plan, const struct link_list *links,
			     const struct link_info *link, int lower, struct err *err)
{
	struct handover_device *device = &plan->devices[plan->device_count];
	int r;

	if (plan->device_count == HANDOVER_DEVICES_MAX)
		return err_set(err, E2BIG, "more than %d devices are on %s", HANDOVER_DEVICES_MAX,
			       handover_name(plan));
	*device = (struct handover_device){ .old = link->ifindex,
					    .lower = lower,
					    .is_up = link->flags & IFF_UP,
					    .has_master = link->master };
	memcpy(device->name, link->name, sizeof(device->name));
	memcpy(device->kind, link->kind, sizeof(device->kind));
	snprintf(device->new_name, XBOND_NAME_SIZE, "n%zu-%.8s", plan->device_count, link->name);
	snprintf(device->old_name, XBOND_NAME_SIZE, "o%zu-%.8s", plan->device_count, link->name);
	plan->device_count++;
	survey_note_lost(plan, link);
	r = handover_check_master(links, link, err);
	if (!r)
		r = handover_check_name(links, device->new_name, err);
	return r ? r : handover_check_name(links, device->old_name, err);
}

/* What is on the device at this index, and is no slave of it. */
static int survey_add_uppers(struct handover *plan, const struct link_list *links, size_t index,
			     struct err *err)
{
	int r = 0, lower = plan->devices[index].old;

	for (size_t i = 0; i < links->count && !r; i++) {
		const struct link_info *link = &links->link[i];

		if (!link_is_on(link, lower) && !link_sends_by(link, lower))
			continue;
		if (!link_copy_can(link))
			return err_set(err, EOPNOTSUPP,
				       "%s (%s) is on %s, and only VLANs and macvlans are handed "
				       "over; remove it first",
				       link->name, link->kind, plan->devices[index].name);
		r = survey_add_device(plan, links, link, (int)index, err);
	}
	return r;
}

static void survey_take_port(const char *name, unsigned int number, void *arg)
{
	struct handover *plan = arg;

	for (size_t i = 0; i < plan->slave_count; i++)
		if (!strcmp(plan->slaves[i].name, name))
			plan->slaves[i].port = number;
}

static struct handover_slave *survey_add_slave(struct handover *plan, const char *name, int ifindex)
{
	struct handover_slave *slave = &plan->slaves[plan->slave_count++];

	memcpy(slave->name, name, XBOND_NAME_SIZE);
	slave->ifindex = ifindex;
	slave->port = (unsigned int)plan->slave_count;
	slave->options = json_object();
	return slave;
}

static int survey_read_slave(struct handover *plan, struct handover_slave *slave,
			     struct bonding_slave *ret_now)
{
	int r = bonding_read_slave(&plan->daemon->nl, slave->ifindex, ret_now);

	if (r)
		return r;
	json_decref(slave->options);
	slave->options = option_set_to_json(&ret_now->options, name_to_json);
	return 0;
}

void handover_survey_options(struct handover *plan, struct handover_slave *slave)
{
	struct bonding_slave now;

	survey_read_slave(plan, slave, &now);
}

/*
 * A team tells nothing of its ports here. active: the bond's, to which all come that know its
 * address; 0: none.
 */
static void survey_kernel_slave(struct handover *plan, const struct link_info *link, int active)
{
	struct handover_slave *slave = survey_add_slave(plan, link->name, link->ifindex);
	struct bonding_slave now;

	slave->has_link = link->carrier;
	slave->is_down = !(link->flags & IFF_UP);
	if (survey_read_slave(plan, slave, &now))
		return;
	slave->has_link = now.has_link;
	slave->is_first = now.has_link && active && link->ifindex != active;
}

static int survey_kernel_slaves(struct handover *plan, const struct link_list *links,
				struct err *err)
{
	int active = bonding_active_slave(&plan->daemon->nl, plan->devices[0].old);

	for (size_t i = 0; i < links->count; i++) {
		if (links->link[i].master != plan->devices[0].old)
			continue;
		if (plan->slave_count == XBOND_MAX_SLAVES)
			return err_set(err, ENOSPC, "%s has more than %d slaves",
				       handover_name(plan), XBOND_MAX_SLAVES);
		survey_kernel_slave(plan, &links->link[i], active);
	}
	bonding_visit_ports(handover_name(plan), survey_take_port, plan);
	return 0;
}

static int survey_check_mode(struct handover *plan, const struct option_set *options,
			     struct err *err)
{
	if (!options->given[OPT_MODE] && strcmp(plan->old_kind, "bond"))
		return err_set(err, EINVAL,
			       "only teamd knows how %s works; add 'mode MODE' and the other "
			       "options that it should have",
			       handover_name(plan));
	return 0;
}

/* The driver looks at min_links in 802.3ad only. Here it would take the carrier in any mode. */
static void survey_leave_min_links(struct handover *plan, struct option_set *options)
{
	if (!options->given[OPT_MIN_LINKS] || option_set_mode(options, 0) == XBOND_MODE_8023AD)
		return;
	options->given[OPT_MIN_LINKS] = false;
	handover_note(plan,
		      "min_links %u has no effect with the kernel's driver in this mode, and "
		      "is left out",
		      options->value[OPT_MIN_LINKS].number);
}

static void survey_take_wanted(struct option_set *options, const struct option_set *wanted)
{
	for (int id = 0; id < OPT_COUNT; id++)
		if (wanted->given[id]) {
			options->given[id] = true;
			options->value[id] = wanted->value[id];
		}
}

static int survey_kernel_options(struct handover *plan, const json_t *given, struct err *err)
{
	struct option_set options = { 0 }, wanted = { 0 };
	int r = option_set_from_json(&wanted, OPTION_BOND, given, err);

	if (!r && !strcmp(plan->old_kind, "bond"))
		r = bonding_read(&plan->daemon->nl, plan->devices[0].old, &options, err);
	if (r)
		return r;
	survey_leave_min_links(plan, &options);
	survey_take_wanted(&options, &wanted);
	r = survey_check_mode(plan, &options, err);
	if (r)
		return r;
	for (int id = 0; id < OPT_COUNT; id++)
		options.given[id] &= wanted.given[id] ||
				     option_is_of_mode(option_at(id), option_set_mode(&options, 0));
	json_decref(plan->options);
	plan->options = option_set_to_json(&options, name_to_json);
	return 0;
}

static int survey_kernel(struct handover *plan, const struct link_list *links,
			 const struct link_info *link, const json_t *given, struct err *err)
{
	int r;

	if (daemon_find_bond(plan->daemon, link->name))
		return err_set(err, EEXIST, "%s is xbond's already", link->name);
	r = lifecycle_check_ending(plan->daemon, link->name, err);
	if (!r)
		r = lifecycle_check_pins(plan->daemon, link->name, err);
	if (r)
		return r;
	if (strcmp(link->kind, "bond") && strcmp(link->kind, "team"))
		return err_set(err, EINVAL,
			       "%s is neither a kernel bond nor a team ('ip link show type bond' "
			       "lists its bonds)",
			       link->name);
	memcpy(plan->old_kind, link->kind, sizeof(plan->old_kind));
	r = survey_kernel_options(plan, given, err);
	return r ? r : survey_kernel_slaves(plan, links, err);
}

/* Whatever differs from the default. */
static struct option_set survey_xbond_options(const struct pins *pins)
{
	struct option_set options = { 0 };

	for (int id = 0; id < OPT_COUNT; id++) {
		const struct option_spec *option = option_at(id);
		struct option_value *value = &options.value[id];

		if (option->scope != OPTION_BOND || id == OPT_ACTIVE_SLAVE || option->is_alias ||
		    option->home == OPTION_NOWHERE)
			continue;
		values_read(pins, option, 0, value);
		options.given[id] =
			id == OPT_MODE || id == OPT_HASH_SEED || !option_is_default(option, value);
	}
	return options;
}

/* The kernel's driver is not told of what it does not have. */
static void survey_leave_policy(struct handover *plan, struct option_set *options)
{
	if (!options->given[OPT_XMIT_HASH_POLICY] ||
	    options->value[OPT_XMIT_HASH_POLICY].number <= XBOND_POLICY_VLAN_SRCMAC)
		return;
	options->given[OPT_XMIT_HASH_POLICY] = false;
	handover_note(plan, "the kernel has no xmit_hash_policy flow; it is layer2 now");
}

/* Of a conversion: what the user wants otherwise is checked as for 'set'. */
static int survey_wanted(struct option_set *options, const json_t *given, struct err *err)
{
	struct option_set wanted = { 0 };
	int r = option_set_from_json(&wanted, OPTION_BOND, given, err);

	if (!r)
		r = option_set_check_mode(&wanted, option_set_mode(options, 0), err);
	if (!r)
		survey_take_wanted(options, &wanted);
	return r;
}

/* What would be lost, because it belongs to the old bond's programs or to its name. */
static int survey_check_conversion(const struct bond *bond, struct err *err)
{
	const char *name = bond->dataplane.pins.bond->name;

	if (bond->device.away)
		return err_set(err, EOPNOTSUPP,
			       "device: %s is in another network namespace; bring it back first",
			       name);
	if (policy_is_loaded(bond->dataplane.pins.dir))
		return err_set(err, EBUSY,
			       "device: a policy is loaded, which belongs to the device; 'bondctl "
			       "policy unload %s' first, and load it again afterwards",
			       name);
	if (rollback_left_s(name))
		return err_set(err, EBUSY,
			       "device: a rollback of %s waits; 'bondctl confirm %s' or 'bondctl "
			       "rollback %s' first",
			       name, name, name);
	return 0;
}

static void survey_xbond_slave(struct handover *plan, struct bond *bond, unsigned int slot)
{
	const struct xbond_slave *now = bond_slave(bond, slot);
	struct handover_slave *slave = survey_add_slave(plan, now->name, (int)now->ifindex);
	struct option_set options = { 0 };

	for (int id = OPT_WEIGHT; id < OPT_FORCE; id++) {
		values_read(&bond->dataplane.pins, option_at(id), slot, &options.value[id]);
		options.given[id] = (plan->kind == HANDOVER_CONVERSION ||
				     option_is_of_mode(option_at(id), bond_pin(bond)->mode)) &&
				    !option_is_default(option_at(id), &options.value[id]);
	}
	json_decref(slave->options);
	slave->options = option_set_to_json(&options, name_to_json);
	slave->port = slot + 1;
	slave->has_link = now->link == XBOND_LINK_UP;
	slave->is_down = link_is_down(&plan->daemon->nl, slave->ifindex);
	slave->is_first = slave->has_link && mode_has(bond_pin(bond)->mode, MODE_ACTIVE) &&
			  slot != bond_pin(bond)->active_slot;
}

static int survey_xbond(struct handover *plan, const struct link_info *link, const json_t *given,
			struct err *err)
{
	struct option_set options;
	struct bond *bond;
	int r = request_find(plan->daemon, link->name, &bond, err);

	if (r == -ENOENT)
		r = err_set(err, ENOENT, "%s is not an xbond bond ('bondctl list' lists them)",
			    link->name);
	if (r)
		return r;
	options = survey_xbond_options(&bond->dataplane.pins);
	if (plan->kind == HANDOVER_HANDBACK)
		survey_leave_policy(plan, &options);
	else
		r = survey_check_conversion(bond, err);
	if (!r && plan->kind == HANDOVER_CONVERSION)
		r = survey_wanted(&options, given, err);
	if (r)
		return r;
	json_decref(plan->options);
	plan->options = option_set_to_json(&options, name_to_json);
	bond_for_each_member (bond, slot)
		survey_xbond_slave(plan, bond, slot);
	return 0;
}

/*
 * The kernel numbers ports in the order in which they come, and two ports of one number confuse a
 * partner. So they go in the order of their numbers, until one has a link.
 */
static void survey_choose_ports(struct handover *plan)
{
	for (size_t i = 0; i < plan->slave_count; i++) {
		plan->slaves[i].is_first = true;
		if (plan->slaves[i].has_link)
			return;
	}
}

/* The last one with a link, unless one is better known. */
static void survey_choose_first(struct handover *plan)
{
	const char *mode = json_string_value(json_object_get(plan->options, "mode"));
	size_t first = 0;

	if (plan->kind == HANDOVER_HANDBACK && mode &&
	    !strcmp(mode, mode_name(XBOND_MODE_8023AD))) {
		survey_choose_ports(plan);
		return;
	}
	for (size_t i = 0; i < plan->slave_count; i++)
		if (plan->slaves[i].is_first ||
		    (plan->slaves[i].has_link && !plan->slaves[first].is_first))
			first = i;
	for (size_t i = 0; i < plan->slave_count; i++)
		plan->slaves[i].is_first = i == first;
}

int handover_survey_conf(struct handover *plan, struct err *err)
{
	struct netconf_device *pairs = handover_pairs(plan, true);
	struct netconf conf = { 0 };
	int r = netconf_read(&plan->daemon->nl, pairs, plan->device_count, &conf, err);

	free(pairs);
	netconf_free(r ? &conf : &plan->conf);
	if (!r)
		plan->conf = conf;
	return r;
}

struct survey_elsewhere {
	int lowers[HANDOVER_DEVICES_MAX];
	size_t count, lower;
	struct link_info upper;
	bool is_found;
};

static void survey_look_elsewhere(void *arg)
{
	struct survey_elsewhere *look = arg;

	look->is_found =
		namespaces_find_upper(look->lowers, look->count, &look->upper, &look->lower);
}

static int survey_check_elsewhere(const struct handover *plan, struct err *err)
{
	struct survey_elsewhere look = { .count = plan->device_count };

	for (size_t i = 0; i < look.count; i++)
		look.lowers[i] = plan->devices[i].old;
	idle_run(survey_look_elsewhere, &look);
	if (!look.is_found)
		return 0;
	return err_set(err, EOPNOTSUPP,
		       "%s (%s) in another network namespace is on %s and would be lost; remove it "
		       "first",
		       look.upper.name, look.upper.kind, plan->devices[look.lower].name);
}

static int survey_all(struct handover *plan, const struct link_list *links,
		      const struct link_info *link, const json_t *given, struct err *err)
{
	int r = survey_add_device(plan, links, link, -1, err);

	if (r)
		return r;
	memcpy(plan->mac, link->mac, XBOND_MAC_SIZE);
	plan->mtu = link->mtu;
	plan->has_chains = nft_chains_on(link->name);
	r = plan->kind == HANDOVER_TAKEOVER ? survey_kernel(plan, links, link, given, err)
					    : survey_xbond(plan, link, given, err);
	for (size_t i = 0; i < plan->device_count && !r; i++)
		r = survey_add_uppers(plan, links, i, err);
	if (!r)
		r = survey_check_elsewhere(plan, err);
	if (r)
		return r;
	survey_choose_first(plan);
	plan->is_untouched = true;
	return handover_survey_conf(plan, err);
}

int handover_survey(struct handover *plan, const char *name, const json_t *given, struct err *err)
{
	struct link_info link;
	struct link_list links;
	int r = strlen(name) < XBOND_NAME_SIZE ? link_get_by_name(&plan->daemon->nl, name, &link)
					       : -ENODEV;

	if (r == -ENODEV)
		return err_set(err, ENODEV, "no such device: %s ('ip link' lists them)", name);
	if (r)
		return err_set(err, -r,
			       "the kernel does not say whether %s is there: %s; try again", name,
			       strerror(-r));
	r = link_list_read(&plan->daemon->nl, &links);
	r = r ? err_set(err, EAGAIN, "the devices cannot be listed; try again")
	      : survey_all(plan, &links, &link, given, err);
	link_list_free(&links);
	return r;
}
