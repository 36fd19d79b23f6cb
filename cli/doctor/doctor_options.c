/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks of what users have set: options, the configuration file, the monitors' targets. */
#include <stdio.h>
#include <string.h>

#include "bpf/slots.h"
#include "cli/doctor/doctor.h"
#include "common/clock.h"
#include "common/mac.h"
#include "common/mode.h"
#include "options/values.h"

#define ANSWERS_MISSED 10 /* intervals of the ARP monitor; fewer may be a failover */

/* Of one scope: options whose value does not come from the file, or from its default. */
struct options_difference {
	unsigned int count;
	const struct option_spec *first;
	char runs[OPTION_TEXT_SIZE], file[OPTION_TEXT_SIZE];
};

static bool options_are_compared(const struct doctor_bond *bond, const struct option_spec *option,
				 const struct option_set *file)
{
	return option->home != OPTION_NOWHERE && !option->is_alias &&
	       option->id != OPT_ACTIVE_SLAVE &&
	       (option->id != OPT_HASH_SEED || file->given[option->id]) &&
	       option_is_of_mode(option, bond->pins.bond->mode);
}

static void options_compare(const struct doctor_bond *bond, enum option_scope scope,
			    unsigned int slot, const struct option_set *file,
			    struct options_difference *difference)
{
	for (unsigned int id = 0; id < OPT_COUNT; id++) {
		const struct option_spec *option = option_at(id);
		char runs[OPTION_TEXT_SIZE], kept[OPTION_TEXT_SIZE];
		struct option_value value, initial;

		if (option->scope != scope || !options_are_compared(bond, option, file))
			continue;
		initial = option_initial(option);
		values_read(&bond->pins, option, slot, &value);
		option_format(option, &value, runs, sizeof(runs));
		option_format(option, file->given[id] ? &file->value[id] : &initial, kept,
			      sizeof(kept));
		if (!strcmp(runs, kept) || difference->count++)
			continue;
		difference->first = option;
		memcpy(difference->runs, runs, sizeof(runs));
		memcpy(difference->file, kept, sizeof(kept));
	}
}

static void options_tell(const struct doctor_facts *facts, const struct doctor_bond *bond,
			 const char *slave, const struct options_difference *difference,
			 struct doctor_report *report)
{
	char more[32] = "";

	if (!difference->count)
		return;
	if (difference->count > 1)
		snprintf(more, sizeof(more), "; %u more differ", difference->count - 1);
	doctor_found(
		report, DOCTOR_WARNING, slave,
		"%s is %s now, and will be %s after a boot, according to %s/%s" PATHS_CONFIG_SUFFIX
		"%s",
		difference->first->name, difference->runs, difference->file,
		facts->host.paths.config_dir, bond->name, more);
	doctor_advise(report, "'bondctl save %s' keeps the present value", bond->name);
}

static bool options_is_slave(const struct config_slave *kept, const struct xbond_slave *slave)
{
	if (config_slave_is_by_mac(kept))
		return mac_is_same(kept->perm_mac, slave->perm_mac);
	return !strcmp(kept->name, slave->name);
}

static const struct config_slave *options_find_slave(const struct config_file *config,
						     const struct xbond_slave *slave)
{
	for (size_t i = 0; i < config->slave_count; i++)
		if (options_is_slave(&config->slaves[i], slave))
			return &config->slaves[i];
	return NULL;
}

static void options_check_slaves(const struct doctor_facts *facts, const struct doctor_bond *bond,
				 struct doctor_report *report)
{
	doctor_for_each_slave (slave, bond) {
		const struct config_slave *kept = options_find_slave(&bond->config, slave->pin);
		struct options_difference difference = { 0 };

		if (kept) {
			options_compare(bond, OPTION_SLAVE, slave->slot, &kept->options,
					&difference);
			options_tell(facts, bond, slave->pin->name, &difference, report);
			continue;
		}
		doctor_found(report, DOCTOR_WARNING, slave->pin->name,
			     "it is not in the configuration file, so it will not be a slave after "
			     "a boot");
		doctor_advise(report, "'bondctl save %s' keeps it", bond->name);
	}
	for (size_t i = 0; i < bond->config.slave_count; i++) {
		const struct config_slave *kept = &bond->config.slaves[i];
		char text[MAC_FORMAT_SIZE];
		const char *name = config_slave_name(kept, text);

		if (config_slave_slot(kept, &bond->pins) >= 0)
			continue;
		doctor_found(report, DOCTOR_WARNING, name,
			     "the configuration file has it as a slave, but it is not one");
		doctor_advise(report,
			      "'bondctl add-slave %s %s', or 'bondctl save %s' to forget it",
			      bond->name, name, bond->name);
	}
}

/* The hook of ifupdown makes bonds; what other managers have configured was there before. */
static void options_tell_no_file(const struct doctor_bond *bond, struct doctor_report *report)
{
	if (bond->manager && !strcmp(bond->manager, "ifupdown")) {
		doctor_found(report, DOCTOR_NOTE, NULL,
			     "it has no configuration file, and needs none if ifupdown makes it: "
			     "ifupdown has brought it up");
		doctor_advise(report,
			      "its stanza in interfaces(5) should say 'bond-driver xbond'; changes "
			      "belong there, not in a file of bondctl");
		return;
	}
	doctor_found(report, DOCTOR_NOTE, NULL,
		     "it has no configuration file, so bondd does not create it after a boot");
	doctor_advise(report, "'bondctl save %s' writes one", bond->name);
}

void doctor_check_config(const struct doctor_facts *facts, const struct doctor_bond *bond,
			 struct doctor_report *report)
{
	struct options_difference difference = { 0 };

	switch (bond->config_is) {
	case DOCTOR_CONFIG_NONE: options_tell_no_file(bond, report); return;
	case DOCTOR_CONFIG_BAD:
		doctor_found(report, DOCTOR_BAD, NULL,
			     "its configuration file is wrong, so it will be missing after a boot: "
			     "%s",
			     bond->config_error.text);
		doctor_advise(report, "correct the file, or rewrite it: bondctl save %s",
			      bond->name);
		return;
	case DOCTOR_CONFIG_READ: break;
	}
	options_compare(bond, OPTION_BOND, 0, &bond->config.bond, &difference);
	options_tell(facts, bond, NULL, &difference, report);
	options_check_slaves(facts, bond, report);
}

static void options_check_effect(const struct doctor_bond *bond, enum option_scope scope,
				 unsigned int slot, struct doctor_report *report)
{
	for (unsigned int id = 0; id < OPT_COUNT; id++) {
		const struct option_spec *option = option_at(id);
		char text[OPTION_TEXT_SIZE];
		struct option_value value;

		if (option->scope != scope || option->home == OPTION_NOWHERE || option->is_alias ||
		    option_has_effect(option, bond->pins.bond->mode))
			continue;
		values_read(&bond->pins, option, slot, &value);
		if (option_is_default(option, &value))
			continue;
		option_format(option, &value, text, sizeof(text));
		doctor_found(report, DOCTOR_NOTE,
			     scope == OPTION_SLAVE ? bond->pins.slaves[slot].name : NULL,
			     "%s %s has no effect in mode %s", option->name, text,
			     mode_name(bond->pins.bond->mode));
		doctor_advise(report, "nothing is wrong; its default is %s", option->initial);
	}
}

/* They exclude each other. That tlb_dynamic_lb is on, too, was perhaps nobody's wish. */
static void options_check_flowlets(const struct doctor_bond *bond, struct doctor_report *report)
{
	const struct xbond_bond *pin = bond->pins.bond;

	if (!pin->flowlet_gap_us || !pin->rebalance_interval_s ||
	    !option_has_effect(option_at(OPT_FLOWLET_GAP), pin->mode))
		return;
	doctor_found(report, DOCTOR_NOTE, NULL,
		     "rebalance_interval %u has no effect while flowlet_gap is set",
		     pin->rebalance_interval_s);
	doctor_advise(report, "bondctl set %s flowlet_gap 0, or rebalance_interval 0", bond->name);
}

void doctor_check_no_effect(const struct doctor_facts *facts, const struct doctor_bond *bond,
			    struct doctor_report *report)
{
	options_check_effect(bond, OPTION_BOND, 0, report);
	options_check_flowlets(bond, report);
	doctor_for_each_slave (slave, bond)
		options_check_effect(bond, OPTION_SLAVE, slave->slot, report);
}

void doctor_check_policy(const struct doctor_facts *facts, const struct doctor_bond *bond,
			 struct doctor_report *report)
{
	if (!bond->policy_problem[0])
		return;
	doctor_found(report, DOCTOR_WARNING, NULL, "policy %s is not in use: %s", bond->policy,
		     bond->policy_problem);
	doctor_advise(report, "'bondctl policy unload %s' removes it", bond->name);
}

void doctor_check_min_links(const struct doctor_facts *facts, const struct doctor_bond *bond,
			    struct doctor_report *report)
{
	const struct xbond_bond *pin = bond->pins.bond;
	bool is_capped =
		doctor_is_lacp(bond) && pin->max_links && pin->max_links < bond->slave_count;
	unsigned int most = is_capped ? pin->max_links : bond->slave_count;

	if (!bond->slave_count || pin->min_links <= most)
		return;
	doctor_found(report, DOCTOR_BAD, NULL,
		     "min_links is %u, and at most %u slaves can be in use (%s), so it never has "
		     "carrier",
		     pin->min_links, most, is_capped ? "max_links" : "there are no more");
	doctor_advise(report, "bondctl set %s min_links %u, or add slaves", bond->name, most);
}

void doctor_check_choice(const struct doctor_facts *facts, const struct doctor_bond *bond,
			 struct doctor_report *report)
{
	const char *primary = bond->pins.bond->primary;
	unsigned int drained = 0;

	if (mode_has(bond->pins.bond->mode, MODE_ACTIVE) && primary[0] &&
	    pins_slot_by_name(&bond->pins, primary) < 0) {
		doctor_found(report, DOCTOR_WARNING, NULL, "the primary, %s, is not a slave",
			     primary);
		doctor_advise(report, "bondctl add-slave %s %s, or bondctl set %s primary none",
			      bond->name, primary, bond->name);
	}
	doctor_for_each_slave (slave, bond)
		drained += slots_have(bond->pins.settings->drain_mask, slave->slot);
	if (!drained || drained < bond->slave_count)
		return;
	doctor_found(report, DOCTOR_WARNING, NULL,
		     "all slaves are drained, so drain has no effect");
	doctor_advise(report, "bondctl set-slave %s DEV drain off", bond->name);
}

static void options_check_target(const struct doctor_facts *facts, const struct doctor_bond *bond,
				 const struct doctor_target *target, struct doctor_report *report)
{
	const struct link_info *by = link_list_find(&facts->links, target->ifindex);

	if (target->error) {
		doctor_found(report, DOCTOR_WARNING, NULL, "there is no route to ARP target %s: %s",
			     target->text, strerror(-target->error));
		doctor_advise(report, "give %s an address of its subnet, or use another target",
			      bond->name);
	} else if (by && !doctor_is_above(facts, by, bond->device.link->ifindex)) {
		doctor_found(report, DOCTOR_WARNING, NULL,
			     "ARP target %s is reached through %s, not through the bond",
			     target->text, by->name);
		doctor_advise(report, "use a target that is reached through %s", bond->name);
	}
}

/* When a target last answered on some slave; 0: never. */
static uint64_t options_answered_ns(const struct doctor_bond *bond)
{
	uint64_t last_ns = 0;

	doctor_for_each_slave (slave, bond) {
		const struct xbond_probe_times *times = &bond->pins.probes->times[slave->slot];

		for (unsigned int i = 0; i < XBOND_PROBE_TARGETS; i++)
			if (times->from_ns[i] > last_ns)
				last_ns = times->from_ns[i];
	}
	return last_ns;
}

/* Has the monitor said for so long of some slave that its link works? */
static bool options_arp_works_since(const struct doctor_bond *bond, uint64_t since_ns)
{
	const uint32_t bit = 1u << XBOND_MONITOR_ARP;

	doctor_for_each_slave (slave, bond) {
		const struct xbond_verdict *verdict = &bond->pins.monitors[slave->slot];

		if (verdict->spoken & verdict->works & bit &&
		    verdict->since_ns[XBOND_MONITOR_ARP] < since_ns)
			return true;
	}
	return false;
}

/*
 * Slaves can be up without answers: by any frame, or, as backups, by the active slave's probes.
 * Then each becomes the active one in turn.
 */
static void options_check_answers(const struct doctor_facts *facts, const struct doctor_bond *bond,
				  struct doctor_report *report)
{
	uint64_t silence_ns = ANSWERS_MISSED * NS_PER_MS * bond->pins.bond->arp_interval_ms;
	uint64_t since_ns = facts->host.now_ns - silence_ns, last_ns;

	if (!bond->pins.probes || !bond->pins.monitors || !doctor_bondd_is_alive(facts, bond) ||
	    facts->host.now_ns < silence_ns || !options_arp_works_since(bond, since_ns))
		return;
	last_ns = options_answered_ns(bond);
	if (last_ns >= since_ns)
		return;
	doctor_found(report, DOCTOR_WARNING, NULL,
		     "no target of the ARP monitor answers, but links count as working");
	doctor_advise(report,
		      "are the targets there, and do they answer to the bond's addresses? With "
		      "'arp_validate all' only their answers count");
}

/*
 * Of a target that a group of links leads to, all replies come by one of them. With
 * broadcast_neighbor the far end, if it has that, too, replies by all.
 */
static void options_check_arp_mode(const struct doctor_bond *bond, struct doctor_report *report)
{
	if (!doctor_arp_needs_each_link(bond))
		return;
	doctor_found(report, DOCTOR_NOTE, NULL,
		     "the ARP monitor is on in mode %s, where each slave must hear replies of its "
		     "own",
		     mode_name(bond->pins.bond->mode));
	doctor_advise(report, "a switch sends all replies over one link, and slaves that hear "
			      "nothing are taken down: use bfd_interval, or LACP");
}

void doctor_check_arp(const struct doctor_facts *facts, const struct doctor_bond *bond,
		      struct doctor_report *report)
{
	static const uint8_t none[16];
	const struct xbond_bond *pin = bond->pins.bond;
	bool has_targets =
		pin->arp_ip_target[0] || memcmp(pin->ns_ip6_target[0], none, sizeof(none)) != 0;

	if (has_targets && !pin->arp_interval_ms) {
		doctor_found(report, DOCTOR_NOTE, NULL,
			     "it has ARP targets, but the ARP monitor is off");
		doctor_advise(report, "bondctl set %s arp_interval 1000", bond->name);
	}
	if (!has_targets && pin->arp_interval_ms) {
		doctor_found(report, DOCTOR_WARNING, NULL,
			     "the ARP monitor is on, but has no targets");
		doctor_advise(report, "bondctl set %s arp_ip_target ADDRESS", bond->name);
	}
	if (!pin->arp_interval_ms || !doctor_is_meant_to_work(bond))
		return;
	options_check_arp_mode(bond, report);
	if (has_targets)
		options_check_answers(facts, bond, report);
	for (unsigned int i = 0; bond->device.link && i < bond->target_count; i++)
		options_check_target(facts, bond, &bond->target[i], report);
}

void doctor_check_bfd(const struct doctor_facts *facts, const struct doctor_bond *bond,
		      struct doctor_report *report)
{
	if (!bond->pins.bond->bfd_interval_ms || !bond->pins.bfd || bond->pins.bfd->known_ns ||
	    !doctor_bondd_is_alive(facts, bond) || !doctor_is_meant_to_work(bond))
		return;
	doctor_found(report, DOCTOR_WARNING, NULL,
		     "micro-BFD is on, but the far end does not speak it on any link");
	doctor_advise(report,
		      "set it up there for each member link, with the same addresses; see "
		      "'bondctl show %s'",
		      bond->name);
}
