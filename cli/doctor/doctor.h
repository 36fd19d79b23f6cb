/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the doctor goes by, and what it finds. doctor_facts.c gathers the facts; each check judges
 * them and does nothing else, so that tests can feed it facts that this machine does not have.
 */
#ifndef XBOND_CLI_DOCTOR_DOCTOR_H
#define XBOND_CLI_DOCTOR_DOCTOR_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "cli/base/captured.h"
#include "cli/doctor/doctor_talk.h"
#include "common/err.h"
#include "common/paths.h"
#include "common/pins.h"
#include "common/readings.h"
#include "lacp/lacp.h"
#include "network/driver.h"
#include "network/ip.h"
#include "network/link.h"
#include "network/nl.h"
#include "network/xdp_sockets.h"
#include "options/config_file.h"

/* What the doctor has found: filled by the checks, printed by cmd_doctor.c. */

enum doctor_severity {
	DOCTOR_NOTE,	/* good to know */
	DOCTOR_WARNING, /* works, but not as well or as safely as it could */
	DOCTOR_BAD,	/* something does not work, or will not work at the next failure */
	DOCTOR_SEVERITIES,
};

struct doctor_report {
	json_t *findings[DOCTOR_SEVERITIES]; /* arrays of objects, as `doctor -j` prints them */
	/* Of what is found next. NULL: it is not about one bond. */
	const char *check, *bond;
	json_t *last;
};

void doctor_report_init(struct doctor_report *report);
void doctor_report_done(struct doctor_report *report);

/*
 * A finding, as one line without a full stop; slave: NULL if it is not about one. Each is followed
 * by its advice.
 */
void doctor_found(struct doctor_report *report, enum doctor_severity severity, const char *slave,
		  const char *format, ...) __attribute__((format(printf, 4, 5)));
void doctor_advise(struct doctor_report *report, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Drops what is bad, unless it was found before, too: of the same bond, slave and check. */
void doctor_report_confirm(struct doctor_report *report, const struct doctor_report *before);

/* All findings, the worst first. A new reference. */
json_t *doctor_report_json(const struct doctor_report *report);

enum doctor_answer { DOCTOR_UNKNOWN, DOCTOR_NO, DOCTOR_YES };

#define DOCTOR_KERNEL(major, minor) ((major) << 16 | (minor))

/* The machine, and bondd. */
struct doctor_host {
	unsigned int kernel; /* DOCTOR_KERNEL() */
	bool has_bpffs;
	enum doctor_answer has_btf, has_jit;
	bool bondd_answers;   /* its socket takes connections */
	bool bondd_is_silent; /* but bondd answers nothing */
	bool run_dir_is_full;
	bool has_ptp4l; /* it runs */
	bool has_team;	/* that can send: loaded, or the kernel loads it */
	bool loop_is_known;
	struct loop_figures loop;
	enum doctor_answer starts_at_boot; /* UNKNOWN: systemd does not run here */
	uint64_t now_ns;
	struct paths paths;
};

/* Offloads, as bits of doctor_device. */
enum doctor_offload {
	DOCTOR_TSO,
	DOCTOR_CHECKSUM,
	DOCTOR_SCATTER,
	DOCTOR_GRO,
	DOCTOR_LRO,
	DOCTOR_NO_VLANS, /* vlan-challenged */
};

struct doctor_device {
	const struct link_info *link; /* NULL: no device of this namespace */
	uint32_t offloads;	      /* bits of enum doctor_offload */
	bool offloads_are_known;
	bool xdp_is_known;
	uint64_t xdp; /* XDP_FEATURE_* */
	bool stats_are_known;
	struct link_stats stats;
	bool is_captured;
};

/* Of one slave, while the traffic was watched (doctor_watch.c). Packets, as the bond counts them.
 */
struct doctor_seen {
	bool is_known;
	uint64_t sent, received, dropped;
	uint64_t sent_bytes, received_bytes;
	uint64_t by_afxdp;  /* received by AF_XDP, by programs of our library */
	uint64_t at_device; /* frames that its device has received, by the driver's count */
	uint64_t missed;    /* frames that its AF_XDP sockets had no room for */
	bool talks_are_known;
	struct talk_sums talk;
};

struct doctor_slave {
	unsigned int slot;
	const struct xbond_slave *pin;
	struct doctor_device device;
	enum attached attached;
	bool is_other_program; /* another one is attached than is pinned */
	struct xbond_counters counters;
	unsigned int queues; /* that receive; 0: unknown */
	char why[256];	     /* it is not in use; "": it is */
	const char *manager; /* that has configured it; NULL: none */
	bool manager_is_sure;
	struct doctor_seen seen;
};

/* A target of the ARP monitor. */
struct doctor_target {
	char text[64];
	int error; /* of asking for the route */
	int ifindex;
};

struct doctor_bond {
	char name[XBOND_NAME_SIZE];
	bool is_open; /* otherwise why_not is known, and nothing else */
	struct err why_not;
	struct pins pins;
	struct lacp_system lacp; /* of mode 802.3ad */
	struct doctor_device device;
	const char *manager;	/* that has it; NULL: none is known */
	enum attached attached; /* the programs of the pair */
	bool is_other_program;
	bool is_of_older_build;
	struct doctor_slave slave[XBOND_MAX_SLAVES];
	unsigned int slave_count;
	struct doctor_target target[2 * XBOND_MAX_TARGETS];
	unsigned int target_count;
	enum { DOCTOR_CONFIG_NONE, DOCTOR_CONFIG_BAD, DOCTOR_CONFIG_READ } config_is;
	struct config_file config;
	struct err config_error;
	int rp_filter, forwarding;	      /* in force for bond0; -1: unknown */
	bool port_has_route, port_has_socket; /* of others, on the port side of its pair */
	char policy[XBOND_NAME_SIZE + 16];    /* of the user; "": none */
	char policy_problem[96];	      /* why it does not decide; "": it does */
};

struct doctor_facts {
	const char *only; /* the bond that is asked for; NULL: all */
	struct doctor_host host;
	char **configured; /* names of bonds that have a file; NULL: nobody knows */
	struct link_list links;
	struct address *address;
	size_t address_count;
	struct xdp_sockets sockets; /* empty also if the kernel does not tell */
	/*
	 * All bonds, for what concerns several; of those that are not asked for, devices are not
	 * looked at.
	 */
	struct doctor_bond *bond;
	size_t bond_count;
	unsigned int watched_s; /* how long traffic was watched; 0: it was not */
};

typedef void doctor_host_check(const struct doctor_facts *facts, struct doctor_report *report);
typedef void doctor_bond_check(const struct doctor_facts *facts, const struct doctor_bond *bond,
			       struct doctor_report *report);

struct doctor_check {
	const char *name;
	const char *help; /* what it looks at */
	/* One of them: once, or once for each bond whose pins could be read, or that has LACP. */
	doctor_host_check *host;
	doctor_bond_check *bond, *lacp;
};

/* The table; the last one has no name. */
extern const struct doctor_check doctor_checks[];

/* Runs all checks on the machine and on the bonds that are asked for. */
void doctor_run(const struct doctor_facts *facts, struct doctor_report *report);

/*
 * Returns 0, or -errno with a line in err if bonds cannot be seen at all. only: NULL for all. Free
 * the facts in either case.
 */
int doctor_gather(const struct paths *paths, const char *only, struct doctor_facts *ret_facts,
		  struct err *err);
void doctor_facts_free(struct doctor_facts *facts);

/* Is the device the other one, or above it: a VLAN on it, a bridge with it as a port? */
bool doctor_is_above(const struct doctor_facts *facts, const struct link_info *link, int lower);

static inline bool doctor_is_lacp(const struct doctor_bond *bond)
{
	return bond->pins.bond->mode == XBOND_MODE_8023AD;
}

bool doctor_is_asked(const struct doctor_facts *facts, const struct doctor_bond *bond);
/* It is administratively up, or its device is not in this namespace. */
bool doctor_is_meant_to_work(const struct doctor_bond *bond);
/* The ARP monitor is on, and a slave that hears no replies of its own is taken down. */
bool doctor_arp_needs_each_link(const struct doctor_bond *bond);
bool doctor_bondd_is_alive(const struct doctor_facts *facts, const struct doctor_bond *bond);

/* Those whose pins can be read. */
#define doctor_for_each_open(open, facts)                                \
	for (struct doctor_bond *open = (facts)->bond;                   \
	     open && open < (facts)->bond + (facts)->bond_count; open++) \
		if ((open)->is_open)

#define doctor_for_each_slave(slave, bond)                     \
	for (const struct doctor_slave *slave = (bond)->slave; \
	     slave < (bond)->slave + (bond)->slave_count; slave++)

/* Has each slave seen who answers? */
bool doctor_talks_are_known(const struct doctor_bond *bond);

/* doctor_host.c */
doctor_host_check doctor_check_bpf, doctor_check_kernel, doctor_check_bondd, doctor_check_loop,
	doctor_check_boot, doctor_check_pins, doctor_check_carrier_source;
doctor_bond_check doctor_check_attached, doctor_check_programs, doctor_check_path, doctor_check_xdp;
/* doctor_links.c */
doctor_bond_check doctor_check_carrier, doctor_check_device, doctor_check_link,
	doctor_check_hold_down, doctor_check_speed, doctor_check_errors, doctor_check_balance,
	doctor_check_clients;
/* doctor_traffic.c */
doctor_bond_check doctor_check_unanswered, doctor_check_refused, doctor_check_other_xdp,
	doctor_check_afxdp;
/* doctor_losses.c */
doctor_bond_check doctor_check_loss, doctor_check_slow, doctor_check_far_mtu, doctor_check_far_mac,
	doctor_check_channel, doctor_check_lacp_unused;
/* doctor_devices.c */
doctor_bond_check doctor_check_mtu, doctor_check_offloads, doctor_check_lro, doctor_check_vlan,
	doctor_check_promiscuous, doctor_check_slave_use, doctor_check_released,
	doctor_check_filters, doctor_check_manager, doctor_check_mac, doctor_check_rp_filter,
	doctor_check_port_side, doctor_check_timestamps, doctor_check_device_kind;
/* doctor_options.c */
doctor_bond_check doctor_check_config, doctor_check_no_effect, doctor_check_policy,
	doctor_check_min_links, doctor_check_choice, doctor_check_arp, doctor_check_bfd;
/* doctor_lacp.c */
doctor_bond_check doctor_check_lacp_silent, doctor_check_lacp_individual, doctor_check_lacp_partner,
	doctor_check_lacp_key, doctor_check_lacp_loop, doctor_check_lacp_rate,
	doctor_check_lacp_sync, doctor_check_lacp_pdus;

/* Gathers the facts of one bond and of its devices. */

#define GATHER_CAPTURES_MAX 1024

struct gatherer {
	struct nl nl;
	struct ethtool ethtool;
	int captured[GATHER_CAPTURES_MAX];
	size_t captured_count;
	bool managers_are_here;
};

/* The bond's pins are open. */
void gather_bond(struct gatherer *gatherer, const struct doctor_facts *facts,
		 struct doctor_bond *bond);

/*
 * Watches the traffic of bonds for some seconds: counters before and after, and packet sockets on
 * the slaves, which exist only meanwhile. Changes nothing and sends nothing. Judges nothing.
 */

struct doctor_watch;

/*
 * Of the bonds that are asked for, are up and have their slaves here. Returns NULL if there are
 * none, or if that cannot be done. Takes seconds plus less than a second.
 */
struct doctor_watch *doctor_watch_new(const struct doctor_facts *facts, unsigned int seconds);
void doctor_watch_free(struct doctor_watch *watch);

/* Writes what was seen into the facts, of slaves that are still the same. NULL: nothing. */
void doctor_watch_tell(const struct doctor_watch *watch, struct doctor_facts *facts);

#endif
