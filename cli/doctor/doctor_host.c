/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks of the machine, of bondd, and of pins that cannot be read. */
#include "cli/doctor/doctor.h"

#include "common/clock.h"
#include "view/view_bond.h"

/* A turn of the main loop that still runs, or that once took so long. */
#define HOST_STUCK_NS (2 * NS_PER_S)
#define HOST_SLOW_NS (NS_PER_S / 2)

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
	for (size_t i = 0; i < facts->bond_count; i++)
		if (facts->bond[i].is_open && facts->bond[i].pins.bond->state == XBOND_BOND_READY &&
		    pins_bondd_alive(&facts->bond[i].pins) == beating)
			return &facts->bond[i];
	return NULL;
}

static void host_check_absent(const struct doctor_facts *facts, struct doctor_report *report)
{
	if (host_find_beating(facts, true)) {
		doctor_found(report, DOCTOR_WARNING, NULL,
			     VIEW_BONDD_SILENT " at %s/" PATHS_SOCKET_NAME
					       ", but was there less than 3 s ago",
			     facts->host.paths.run_dir);
		doctor_advise(report, "if this goes on, give bondctl the --run-dir of that bondd");
		return;
	}
	doctor_found(report, facts->bond_count ? DOCTOR_BAD : DOCTOR_NOTE, NULL,
		     VIEW_BONDD_STOPPED "%s",
		     facts->bond_count
			     ? ": traffic continues, but nothing is repaired and LACP only answers"
			     : "");
	doctor_advise(report, "start it: systemctl start bondd");
}

void doctor_check_bondd(const struct doctor_facts *facts, struct doctor_report *report)
{
	const struct doctor_host *host = &facts->host;
	const struct doctor_bond *left = host_find_beating(facts, false);

	if (!host->bondd_answers)
		host_check_absent(facts, report);
	else if (host->loop_is_known && host->loop.began_ns &&
		 host->loop.began_ns + HOST_STUCK_NS < host->now_ns) {
		doctor_found(report, DOCTOR_BAD, NULL,
			     VIEW_BONDD_SILENT ": it has been stuck for %llu s",
			     (unsigned long long)((host->now_ns - host->loop.began_ns) / NS_PER_S));
		doctor_advise(report, "see its log; if it stays stuck, restart it, which does not "
				      "disturb traffic");
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

	if (!facts->host.loop_is_known || loop->worst_ns < HOST_SLOW_NS)
		return;
	doctor_found(report, DOCTOR_NOTE, NULL,
		     "a turn of bondd's main loop took %llu ms, of which it waited %llu ms for a "
		     "CPU (%.*s)",
		     (unsigned long long)(loop->worst_ns / NS_PER_MS),
		     (unsigned long long)((loop->worst_ns - loop->worst_own_ns) / NS_PER_MS),
		     LOOP_WORK_SIZE, loop->worst_work);
	doctor_advise(report, "packets and LACP did not wait for it; if it happens again, look for "
			      "what holds the RTNL lock or the CPUs");
}

void doctor_check_boot(const struct doctor_facts *facts, struct doctor_report *report)
{
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
