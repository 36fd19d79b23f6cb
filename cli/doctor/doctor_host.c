/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks of the machine, of bondd, of pins that cannot be read, and of the BPF programs. */
#include <stdio.h>

#include "cli/base/picture.h"
#include "cli/base/print.h"
#include "cli/doctor/doctor.h"
#include "common/clock.h"
#include "network/driver.h"
#include "view/view_bond.h"

/* A turn of the main loop that still runs. */
#define HOST_STUCK_NS (2 * NS_PER_S)
/* For how long one slow turn is worth a word, and several. */
#define HOST_SLOW_ONCE_NS (3600 * NS_PER_S)
#define HOST_SLOW_OFTEN 3
#define HOST_SLOW_OFTEN_NS (24 * 3600 * NS_PER_S)

/* What xbond does otherwise, before this version. */
static const struct {
	unsigned int since;
	const char *lacks;
} host_features[] = {
	{ DOCTOR_KERNEL(6, 2), "fast detection of failures on idle links" },
	{ DOCTOR_KERNEL(6, 6), "TCX, which other programs cannot remove by mistake" },
	{ DOCTOR_KERNEL(6, 10), "netkit devices that a bond can be made of, which cost less than "
				"veth pairs" },
};

void doctor_check_bpf(const struct doctor_facts *facts, struct doctor_report *report)
{
	if (!facts->host.has_bpffs) {
		doctor_found(report, DOCTOR_BAD, NULL, "%s is not on a BPF file system",
			     facts->host.paths.bpf_dir);
		doctor_advise(report, "mount one: mount -t bpf bpf /sys/fs/bpf");
	}
	if (facts->host.has_jit == DOCTOR_NO) {
		doctor_found(report, DOCTOR_WARNING, NULL,
			     "the BPF JIT is off, so each packet costs several times as much");
		doctor_advise(report, "turn it on: sysctl -w net.core.bpf_jit_enable=1");
	}
}

void doctor_check_kernel(const struct doctor_facts *facts, struct doctor_report *report)
{
	if (facts->host.has_btf == DOCTOR_NO) {
		doctor_found(report, DOCTOR_WARNING, NULL,
			     "the kernel has no BTF, so bondd cannot watch carriers with BPF");
		doctor_advise(report, "use a kernel with CONFIG_DEBUG_INFO_BTF");
	}
	for (size_t i = 0; i < sizeof(host_features) / sizeof(host_features[0]); i++) {
		unsigned int since = host_features[i].since;

		if (facts->host.kernel >= since)
			continue;
		doctor_found(report, DOCTOR_NOTE, NULL, "this kernel lacks %s",
			     host_features[i].lacks);
		doctor_advise(report, "nothing is wrong; Linux %u.%u and later have it",
			      since >> 16, since & 0xffff);
	}
}

static const struct doctor_bond *host_find_beating(const struct doctor_facts *facts, bool beating)
{
	doctor_for_each_open (bond, facts)
		if (bond->pins.bond->state == XBOND_BOND_READY &&
		    pins_bondd_alive(&bond->pins) == beating)
			return bond;
	return NULL;
}

static void host_check_absent(const struct doctor_facts *facts, struct doctor_report *report)
{
	if (host_find_beating(facts, true)) {
		doctor_found(report, DOCTOR_WARNING, NULL,
			     VIEW_BONDD_SILENT " at %s/" PATHS_SOCKET_NAME
					       ", but was alive less than 3 s ago",
			     facts->host.paths.run_dir);
		doctor_advise(report, "if this goes on, give bondctl the --run-dir of that bondd");
		return;
	}
	doctor_found(report, facts->bond_count ? DOCTOR_BAD : DOCTOR_NOTE, NULL,
		     VIEW_BONDD_STOPPED "%s",
		     facts->bond_count
			     ? ": traffic continues and avoids lost links, but nothing else is done"
			     : "");
	doctor_advise(report, "start it: systemctl start bondd");
}

static void host_check_room(const struct doctor_facts *facts, struct doctor_report *report)
{
	if (!facts->host.run_dir_is_full)
		return;
	doctor_found(report, DOCTOR_WARNING, NULL,
		     "the file system of %s is full: bondd keeps no figures of its loop there",
		     facts->host.paths.run_dir);
	doctor_advise(report, "make room: df %s", facts->host.paths.run_dir);
}

void doctor_check_bondd(const struct doctor_facts *facts, struct doctor_report *report)
{
	const struct doctor_host *host = &facts->host;
	const struct doctor_bond *left = host_find_beating(facts, false);

	host_check_room(facts, report);
	if (!host->bondd_answers)
		host_check_absent(facts, report);
	else if (host->loop_is_known && host->loop.began_ns &&
		 host->loop.began_ns + HOST_STUCK_NS < host->now_ns) {
		doctor_found(report, DOCTOR_BAD, NULL,
			     VIEW_BONDD_SILENT ": it has been stuck for %llu s",
			     (unsigned long long)((host->now_ns - host->loop.began_ns) / NS_PER_S));
		doctor_advise(report, "see its log; if it stays stuck, restart it, which does not "
				      "disturb traffic");
	} else if (host->bondd_is_silent) {
		doctor_found(report, DOCTOR_BAD, NULL,
			     VIEW_BONDD_SILENT ", though it is there: perhaps it was stopped");
		doctor_advise(report, "'kill -CONT' lets it go on if its state in ps is T; "
				      "otherwise restart it, which does not disturb traffic");
	} else if (left) {
		doctor_found(report, DOCTOR_BAD, NULL, "bondd runs, but does not manage %s",
			     left->name);
		doctor_advise(report, "see its log for the reason; another bondd, or one of "
				      "another namespace, may have made the bond");
	}
}

void doctor_check_loop(const struct doctor_facts *facts, struct doctor_report *report)
{
	const struct loop_figures *loop = &facts->host.loop;
	uint64_t age_ns = facts->host.now_ns - loop->slow_ended_ns;
	char ago[UNITS_SIZE], others[64] = "";

	if (!facts->host.loop_is_known || !loop->slow_turns ||
	    age_ns > (loop->slow_turns < HOST_SLOW_OFTEN ? HOST_SLOW_ONCE_NS : HOST_SLOW_OFTEN_NS))
		return;
	if (loop->slow_turns > 1)
		snprintf(others, sizeof(others), "; %llu turns were so slow since bondd started",
			 (unsigned long long)loop->slow_turns);
	doctor_found(report, DOCTOR_NOTE, NULL,
		     "%s ago bondd's main loop was busy for %llu ms with '%.*s', of which it "
		     "waited %llu ms for a CPU%s",
		     units_duration((long long)(age_ns / NS_PER_MS), ago),
		     (unsigned long long)(loop->slow_ns / NS_PER_MS), LOOP_WORK_SIZE,
		     loop->slow_work,
		     (unsigned long long)((loop->slow_ns - loop->slow_own_ns) / NS_PER_MS), others);
	doctor_advise(report, "packets and LACP did not wait for it; if it happens again, look for "
			      "what holds the RTNL lock or the CPUs");
}

static bool host_has_bond(const struct doctor_facts *facts, const char *name)
{
	for (size_t i = 0; i < facts->bond_count; i++)
		if (!strcmp(facts->bond[i].name, name))
			return true;
	return false;
}

static void host_check_refused(const struct doctor_facts *facts, struct doctor_report *report)
{
	for (char **name = facts->configured; name && *name; name++) {
		if (host_has_bond(facts, *name))
			continue;
		report->bond = *name;
		doctor_found(report, DOCTOR_WARNING, NULL,
			     "it has a configuration file, but is not there: bondd has refused it, "
			     "or it was deleted and comes back when bondd starts");
		doctor_advise(report,
			      "make it, or see why bondd refuses it: bondctl apply %s; if it was "
			      "deleted for good: rm %s/%s" PATHS_CONFIG_SUFFIX,
			      *name, facts->host.paths.config_dir, *name);
		report->bond = NULL;
	}
}

void doctor_check_boot(const struct doctor_facts *facts, struct doctor_report *report)
{
	if (facts->host.bondd_answers && !facts->only)
		host_check_refused(facts, report);
	if (facts->host.starts_at_boot != DOCTOR_NO)
		return;
	doctor_found(report, DOCTOR_WARNING, NULL,
		     "%s has bonds, but systemd does not start bondd at boot",
		     facts->host.paths.config_dir);
	doctor_advise(report, "enable it: systemctl enable bondd");
}

void doctor_check_pins(const struct doctor_facts *facts, struct doctor_report *report)
{
	for (size_t i = 0; i < facts->bond_count; i++) {
		const struct doctor_bond *bond = &facts->bond[i];

		if (bond->is_open || !doctor_is_asked(facts, bond))
			continue;
		report->bond = bond->name;
		doctor_found(report, DOCTOR_BAD, NULL, "its pins cannot be read: %s",
			     bond->why_not.text);
		doctor_advise(report, "traffic continues; use bondctl and bondd of the version "
				      "that created it, or create it again");
		report->bond = NULL;
	}
}

/* Checks of the BPF programs: are they there, are they ours, do they do what was asked for? */

void doctor_check_attached(const struct doctor_facts *facts, const struct doctor_bond *bond,
			   struct doctor_report *report)
{
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
	doctor_for_each_open (bond, facts)
		if (bond->pins.failover && doctor_bondd_is_alive(facts, bond))
			return bond;
	return NULL;
}

void doctor_check_carrier_source(const struct doctor_facts *facts, struct doctor_report *report)
{
	const struct doctor_bond *bond = programs_find_watched(facts);
	uint32_t source = bond ? bond->pins.failover->carrier_source : XBOND_CARRIER_FENTRY;
	bool is_old = facts->host.kernel < DOCTOR_KERNEL(6, 2);

	if (source == XBOND_CARRIER_POLL) {
		doctor_found(report, is_old ? DOCTOR_NOTE : DOCTOR_WARNING, NULL,
			     "carrier is watched by link events and a poll (miimon), not by a BPF "
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
