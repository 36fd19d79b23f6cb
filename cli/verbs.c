/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of verbs. What a verb does is in its cmd_ file; bondctl.c runs it, help.c shows it. */
#include <limits.h>

#include "cli/base/cli.h"

static const struct verb_flag show_flags[] = {
	{ "--details", "-d", NULL, "prints all options and everything else that is known" },
	{ "--proc", NULL, NULL, "prints what /proc/net/bonding/BOND would contain" },
	{ .name = NULL },
};

static const struct verb_flag monitor_flags[] = {
	{ "--since", NULL, "TIME", "starts with the events since then (-1h, 15:30, 2026-01-31)" },
	{ "--count", "-c", "N", "exits after so many events" },
	{ "--no-follow", NULL, NULL, "with --since: prints the past events and exits" },
	{ "--kinds", NULL, NULL, "lists the kinds of events and exits" },
	{ .name = NULL },
};

static const struct verb_flag explain_flags[] = {
	{ "--pcap", NULL, "FILE",
	  "says which slave each packet of a capture takes; - is standard input" },
	{ "--summary", NULL, NULL, "with --pcap: only what each slave gets" },
	{ .name = NULL },
};

static const struct verb_flag simulate_flags[] = {
	{ "--slaves", NULL, "N", "how many slaves, without BOND (default 2)" },
	{ "--weights", NULL, "N,N,...", "of the slaves (default 1 each, or those of BOND)" },
	{ "--policy", NULL, "layer2|layer2+3|layer3+4|encap2+3|encap3+4|vlan+srcmac",
	  "xmit_hash_policy (default layer2, or that of BOND)" },
	{ "--symmetric", NULL, NULL, "both directions of a flow take one slave" },
	{ "--seed", NULL, "N", "hash_seed (default 1, or that of BOND)" },
	{ "--flows", NULL, "N", "how many flows are made up (default 10000)" },
	{ "--pcap", NULL, "FILE", "packets of a capture instead; - is standard input" },
	{ .name = NULL },
};

static const struct verb_flag doctor_flags[] = {
	{ "--list", NULL, NULL, "lists the checks without running them" },
	{ "--seconds", NULL, "N", "how long to watch the traffic (default 5)" },
	{ "--no-traffic", NULL, NULL, "does not watch the traffic, and so ends at once" },
	{ .name = NULL },
};

static const struct verb_flag top_flags[] = {
	{ "--once", NULL, NULL, "prints one table after one interval and exits" },
	{ "--interval", NULL, "SECONDS", "how long rates are measured (default 1)" },
	{ .name = NULL },
};

static const struct verb_flag flows_flags[] = {
	{ "--seconds", NULL, "N", "how long to measure (default 3)" },
	{ "--top", NULL, "N", "how many flows of each slave (default 10)" },
	{ "--rx", NULL, NULL, "received packets instead of those sent" },
	{ .name = NULL },
};

static const struct verb_flag capture_flags[] = {
	{ "--slave", NULL, "DEV", "only this slave" },
	{ "--write", "-w", "FILE", "pcapng instead of text; - is standard output" },
	{ "--count", "-c", "N", "exits after so many packets" },
	{ "--snaplen", "-s", "N", "with -w: no more than so many bytes of each packet (262144)" },
	{ .name = NULL },
};

#define DRY_RUN "--dry-run", NULL, NULL, "prints the steps without doing them"
#define CHANGED_STATUS "--changed-status", NULL, NULL, "exit status 6 if something was changed"

static const struct verb_flag load_flags[] = {
	{ DRY_RUN },
	{ CHANGED_STATUS },
	{ .name = NULL },
};

static const struct verb_flag apply_flags[] = {
	{ DRY_RUN },
	{ CHANGED_STATUS },
	{ "--confirm", NULL, "SECONDS",
	  "rolls back after so long, unless 'bondctl confirm' is called" },
	{ "--interrupt", NULL, NULL, "allows steps that interrupt the traffic for a moment" },
	{ .name = NULL },
};

static const struct verb_flag import_flags[] = {
	{ "--write", "-w", NULL, "writes BOND.conf to CONFIG_DIR, if there is none yet" },
	{ "--root", NULL, "DIR", "reads the files of the machine whose root is DIR" },
	{ "--keys", NULL, NULL, "lists every key of the tool and what becomes of it" },
	{ .name = NULL },
};

const struct verb cli_verbs[] = {
	{ "create", "BOND [OPTION VALUE]...", "creates a bond", 1, INT_MAX, .run = cmd_create,
	  .takes_options = true, .not_option = OPT_ACTIVE_SLAVE },
	{ "delete", "BOND", "releases the slaves and removes the bond", 1, 1, .run = cmd_delete },
	{ "add-slave", "BOND DEV... [OPTION VALUE]...", "adds slaves: all of them or none", 2,
	  INT_MAX, .run = cmd_slaves, .takes_options = true, .scope = OPTION_SLAVE,
	  .not_option = OPT_COUNT },
	{ "del-slave", "BOND DEV...", "releases slaves and restores them", 2, INT_MAX,
	  .run = cmd_slaves, .scope = OPTION_SLAVE },
	{ "set", "BOND OPTION VALUE [OPTION VALUE]...", "changes options of a bond: all or none", 2,
	  INT_MAX, .run = cmd_set, .takes_options = true, .not_option = OPT_COUNT },
	{ "set-slave", "BOND DEV OPTION VALUE [OPTION VALUE]...", "changes options of a slave", 3,
	  INT_MAX, .run = cmd_set_slave, .takes_options = true, .scope = OPTION_SLAVE,
	  .not_option = OPT_FORCE },
	{ "show", "[-d|--proc] [BOND]", "shows a bond or all of them", 0, 1, .run = cmd_show,
	  .flags = show_flags },
	{ "list", "", "lists the names of the bonds", 0, 0, .run = cmd_list },
	{ "stats", "[BOND]", "shows the counters of a bond or of all", 0, 1, .run = cmd_stats },
	{ "monitor", "[BOND]", "prints the events of a bond, or of all, as they happen", 0, 1,
	  .run = cmd_monitor, .flags = monitor_flags },
	{ "top", "[BOND]", "shows the current rates of bonds and slaves", 0, 1, .run = cmd_top,
	  .flags = top_flags },
	{ "explain",
	  "BOND src IP dst IP [proto tcp|udp|icmp] [sport N] [dport N] [vlan N] [smac MAC] [dmac "
	  "MAC] [label N] | BOND --pcap FILE",
	  "says which slave a flow takes, and why", 1, INT_MAX, .run = cmd_explain,
	  .flags = explain_flags },
	{ "policy", "load|unload|show BOND [FILE]",
	  "lets a BPF function of your own choose the slaves", 2, 3, .run = cmd_policy },
	{ "simulate", "[BOND]", "computes what each slave would get, and what a failure would move",
	  0, 1, .run = cmd_simulate, .flags = simulate_flags },
	{ "doctor", "[BOND]", "checks for faults and possible improvements", 0, 1,
	  .run = cmd_doctor, .flags = doctor_flags },
	{ "flows", "BOND", "shows the largest flows of each slave", 1, 1, .run = cmd_flows,
	  .flags = flows_flags },
	{ "capture", "BOND [FILTER...]", "captures packets on the slaves", 1, INT_MAX,
	  .run = cmd_capture, .flags = capture_flags },
	{ "takeover", "BOND [OPTION VALUE]...",
	  "turns a kernel bond or a team into an xbond bond; options that are given win", 1,
	  INT_MAX, .run = cmd_handover, .takes_options = true, .not_option = OPT_ACTIVE_SLAVE },
	{ "handback", "BOND", "turns an xbond bond into a kernel bond", 1, 1, .run = cmd_handover },
	{ "sysfs-tree", "DIR", "writes to DIR what /sys would show of kernel bonds", 1, 1,
	  .run = cmd_sysfs_tree },
	{ "check", "[FILE...]", "prints every mistake in configuration files", 0, INT_MAX,
	  .run = cmd_check },
	{ "load", "[BOND]", "creates a bond from its file, or all that do not exist", 0, 1,
	  .run = cmd_apply, .flags = load_flags },
	{ "apply", "[BOND]", "changes a bond, or all, to what the files say", 0, 1,
	  .run = cmd_apply, .flags = apply_flags },
	{ "confirm", "[BOND]", "keeps what 'apply --confirm' has changed", 0, 1,
	  .run = cmd_confirm },
	{ "rollback", "[BOND]", "changes a bond back to what it was before 'apply --confirm'", 0, 1,
	  .run = cmd_confirm },
	{ "import",
	  "ifupdown|netplan|networkd|networkmanager|teamd|ovs|kernel|nmstate|cloud-init "
	  "[FILE|BOND]...",
	  "converts another tool's configuration into xbond's", 1, INT_MAX, .run = cmd_import,
	  .flags = import_flags },
	{ "save", "BOND", "writes the bond to CONFIG_DIR/BOND.conf", 1, 1, .run = cmd_save },
	{ "help", "[VERB]", "lists the verbs, or opens the manual page of one", 0, 1,
	  .run = cmd_help },
	{ "complete", "-- [WORD...]", "prints completions of the last WORD, for shells", 0, INT_MAX,
	  .run = cmd_complete },
	{ .name = NULL },
};
