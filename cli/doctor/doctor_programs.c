/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks of the BPF programs: are they there, are they ours, do they do what was asked for? */

#include "cli/base/counted.h"
#include "cli/doctor/doctor.h"
#include "network/driver.h"

void doctor_check_attached(const struct doctor_facts *facts, const struct doctor_bond *bond,
			   struct doctor_report *report)
{
	(void)facts;
	if (bond->attached == ATTACHED_NOT) {
		doctor_found(report, DOCTOR_BAD, NULL,
			     "programs of %s are not attached, so it does not send", bond->name);
		doctor_advise(
			report,
			"bondd attaches them again when it runs; its log says what prevents that");
	}
	doctor_for_each_slave (slave, bond) {
		if (slave->attached != ATTACHED_NOT)
			continue;
		doctor_found(
			report, DOCTOR_BAD, slave->pin->name,
			"its program is not attached, so the bond receives nothing through it");
		doctor_advise(
			report,
			"bondd attaches it again when it runs; its log says what prevents that");
	}
}

static void programs_check_older(const struct doctor_bond *bond, struct doctor_report *report)
{
	if (!bond->is_of_older_build)
		return;
	doctor_found(report, DOCTOR_NOTE, NULL,
		     "it has the maps of an earlier version, without some that this one uses");
	doctor_advise(report, "start bondd of this version: it adds them under traffic");
}

void doctor_check_programs(const struct doctor_facts *facts, const struct doctor_bond *bond,
			   struct doctor_report *report)
{
	bool is_other = bond->is_other_program;
	const char *first = NULL;

	(void)facts;
	doctor_for_each_slave (slave, bond)
		if (slave->is_other_program && !first)
			first = slave->pin->name;
	if (is_other || first) {
		doctor_found(report, DOCTOR_WARNING, first,
			     "the program attached is not the one that is pinned");
		doctor_advise(report,
			      "bondd replaces it when it runs: an upgrade was not finished, "
			      "or somebody has changed the pins");
	}
	programs_check_older(bond, report);
}

static const char *programs_why_not_better(const struct doctor_host *host, bool is_poll)
{
	if (host->has_btf == DOCTOR_NO)
		return "the kernel has no BTF (CONFIG_DEBUG_INFO_BTF)";
	if (host->kernel < DOCTOR_KERNEL(6, 2))
		return "nothing is wrong; it needs Linux 6.2";
	return is_poll ? "the kernel has refused both fentry and tracepoints; bondd's log has the "
			 "errors"
		       : "nothing is wrong; fentry needs BPF trampolines and ftrace "
			 "(CONFIG_FUNCTION_TRACER)";
}

/* All bonds of a bondd have the same. Known only while bondd, which watches, runs. */
static const struct doctor_bond *programs_find_watched(const struct doctor_facts *facts)
{
	for (size_t i = 0; i < facts->bond_count; i++)
		if (facts->bond[i].is_open && facts->bond[i].pins.failover &&
		    doctor_bondd_is_alive(facts, &facts->bond[i]))
			return &facts->bond[i];
	return NULL;
}

void doctor_check_carrier_source(const struct doctor_facts *facts, struct doctor_report *report)
{
	const struct doctor_bond *bond = programs_find_watched(facts);
	uint32_t source = bond ? bond->pins.failover->carrier_source : XBOND_CARRIER_FENTRY;
	bool is_old = facts->host.kernel < DOCTOR_KERNEL(6, 2);

	if (source == XBOND_CARRIER_POLL) {
		doctor_found(report, is_old ? DOCTOR_NOTE : DOCTOR_WARNING, NULL,
			     "carrier is watched by messages and a poll (miimon), not by a BPF "
			     "program");
		doctor_advise(report, "%s", programs_why_not_better(&facts->host, true));
	} else if (source == XBOND_CARRIER_TRACEPOINT) {
		doctor_found(report, DOCTOR_NOTE, NULL,
			     "carrier is watched by tracepoints, not by fentry");
		doctor_advise(report, "%s", programs_why_not_better(&facts->host, false));
	}
}

void doctor_check_path(const struct doctor_facts *facts, const struct doctor_bond *bond,
		       struct doctor_report *report)
{
	(void)facts;
	if (bond->pins.settings->path != XBOND_PATH_DIRECT ||
	    !(bond->pins.table->flags & XBOND_F_FORCE_COUNTED))
		return;
	doctor_found(report, DOCTOR_NOTE, NULL, "path direct is set, but counted is in force: %s",
		     counted_why(bond->device.link, bond->device.is_captured));
	doctor_advise(report,
		      "nothing is lost; direct is in force again when captures, root "
		      "qdisc, egress filters and XDP programs are gone from %s",
		      bond->name);
}

void doctor_check_xdp(const struct doctor_facts *facts, const struct doctor_bond *bond,
		      struct doctor_report *report)
{
	const uint64_t needed = XDP_FEATURE_BASIC | XDP_FEATURE_REDIRECT;

	(void)facts;
	if (bond->pins.bond->rx_hook != XBOND_RX_XDP)
		return;
	doctor_for_each_slave (slave, bond) {
		const struct doctor_device *device = &slave->device;

		if (slave->pin->rx_hook == XBOND_RX_XDP)
			continue;
		doctor_found(report, DOCTOR_WARNING, slave->pin->name,
			     "rx_hook xdp is set, but it receives through TC%s",
			     device->xdp_is_known && (device->xdp & needed) != needed
				     ? ": its driver has no native XDP"
			     : slave->pin->before.flags & XBOND_SLAVE_XDP_REFUSED
				     ? ": its driver has refused the program"
				     : "");
		doctor_advise(
			report,
			"set rx_hook auto to accept this; bondd's log has the driver's error");
	}
}
