/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of checks, in the order of the manual, what runs them, and what they share: how they
 * find things among the facts, and how they say what they have found.
 */
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/doctor/doctor.h"
#include "common/mode.h"
#include "view/view_json.h"

/* How checks say what they have found. */

#define LINE_SIZE 1024

void doctor_report_init(struct doctor_report *report)
{
	*report = (struct doctor_report){ 0 };
	for (int i = 0; i < DOCTOR_SEVERITIES; i++)
		report->findings[i] = json_array();
}

void doctor_report_done(struct doctor_report *report)
{
	for (int i = 0; i < DOCTOR_SEVERITIES; i++)
		json_decref(report->findings[i]);
}

static void report_set_line(json_t *finding, const char *key, const char *format, va_list words)
{
	char line[LINE_SIZE];

	vsnprintf(line, sizeof(line), format, words);
	json_object_set_new(finding, key, json_value_text(line));
}

void doctor_found(struct doctor_report *report, enum doctor_severity severity, const char *slave,
		  const char *format, ...)
{
	static const char *const names[] = {
		[DOCTOR_NOTE] = "note",
		[DOCTOR_WARNING] = "warning",
		[DOCTOR_BAD] = "bad",
	};
	va_list words;

	report->last = json_object();
	json_object_set_new(report->last, "bond", json_value_text(report->bond));
	json_object_set_new(report->last, "slave", json_value_text(slave));
	json_object_set_new(report->last, "check", json_string(report->check));
	json_object_set_new(report->last, "severity", json_string(names[severity]));
	va_start(words, format);
	report_set_line(report->last, "finding", format, words);
	va_end(words);
	json_array_append_new(report->findings[severity], report->last);
}

void doctor_advise(struct doctor_report *report, const char *format, ...)
{
	va_list words;

	va_start(words, format);
	report_set_line(report->last, "advice", format, words);
	va_end(words);
}

static bool report_is_same(const json_t *finding, const json_t *other)
{
	static const char *const keys[] = { "bond", "slave", "check" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!json_equal(json_object_get(finding, keys[i]), json_object_get(other, keys[i])))
			return false;
	return true;
}

static bool report_has(const json_t *findings, const json_t *finding)
{
	const json_t *other;
	size_t at;

	json_array_foreach (findings, at, other)
		if (report_is_same(finding, other))
			return true;
	return false;
}

void doctor_report_confirm(struct doctor_report *report, const struct doctor_report *before)
{
	json_t *bad = report->findings[DOCTOR_BAD];

	for (size_t at = json_array_size(bad); at-- > 0;)
		if (!report_has(before->findings[DOCTOR_BAD], json_array_get(bad, at)))
			json_array_remove(bad, at);
}

json_t *doctor_report_json(const struct doctor_report *report)
{
	json_t *all = json_array();

	for (int i = DOCTOR_SEVERITIES - 1; i >= 0; i--)
		json_array_extend(all, report->findings[i]);
	return all;
}

/* How they find things among the facts. */

bool doctor_is_asked(const struct doctor_facts *facts, const struct doctor_bond *bond)
{
	return !facts->only || !strcmp(facts->only, bond->name);
}

bool doctor_is_meant_to_work(const struct doctor_bond *bond)
{
	return !bond->device.link || bond->device.link->flags & IFF_UP;
}

bool doctor_arp_needs_each_link(const struct doctor_bond *bond)
{
	const struct xbond_bond *pin = bond->pins.bond;

	return pin->arp_interval_ms && !pin->broadcast_neighbor &&
	       mode_has(pin->mode, MODE_PROBES) && mode_has(pin->mode, MODE_TURNS | MODE_HASH);
}

bool doctor_bondd_is_alive(const struct doctor_facts *facts, const struct doctor_bond *bond)
{
	return facts->host.bondd_answers && pins_bondd_alive(&bond->pins);
}

static bool doctor_find_above(const struct doctor_facts *facts, const struct link_info *link,
			      int lower, int depth)
{
	if (!link || depth < 0)
		return false;
	if (link->ifindex == lower)
		return true;
	if (link_has_lower(link) && link->lower_nsid < 0 &&
	    doctor_find_above(facts, link_list_find(&facts->links, link->lower), lower, depth - 1))
		return true;
	for (size_t i = 0; i < facts->links.count; i++)
		if (facts->links.link[i].master == link->ifindex &&
		    doctor_find_above(facts, &facts->links.link[i], lower, depth - 1))
			return true;
	return false;
}

bool doctor_is_above(const struct doctor_facts *facts, const struct link_info *link, int lower)
{
	return doctor_find_above(facts, link, lower, 6);
}

/* The checks. */

const struct doctor_check doctor_checks[] = {
	{ "bpf", "a BPF file system is there, and the BPF JIT is on", .host = doctor_check_bpf },
	{ "kernel", "this kernel has all that xbond would use", .host = doctor_check_kernel },
	{ "bondd", "bondd is running and not stuck", .host = doctor_check_bondd },
	{ "loop", "the main loop of bondd has not been held up", .host = doctor_check_loop },
	{ "boot", "bonds with a configuration file come back after a boot",
	  .host = doctor_check_boot },
	{ "pins", "the pinned maps can be read, and are of this version",
	  .host = doctor_check_pins },
	{ "attached", "all programs are attached", .bond = doctor_check_attached },
	{ "programs", "the attached programs are the pinned ones, and those of this build",
	  .bond = doctor_check_programs },
	{ "carrier-source", "the loss of carrier is noticed as fast as this kernel allows",
	  .host = doctor_check_carrier_source },
	{ "path", "path direct is in force where it is set", .bond = doctor_check_path },
	{ "xdp", "slaves receive through XDP where rx_hook says so", .bond = doctor_check_xdp },
	{ "carrier", "the bond is up and has slaves and carrier", .bond = doctor_check_carrier },
	{ "device", "the devices of bond and slaves are there", .bond = doctor_check_device },
	{ "link", "the links of all slaves work", .bond = doctor_check_link },
	{ "hold-down", "no slave is held down for flaps, silence or errors",
	  .bond = doctor_check_hold_down },
	{ "speed", "no half duplex; equal speeds where packets take turns",
	  .bond = doctor_check_speed },
	{ "errors", "slaves receive few broken frames and have room for all",
	  .bond = doctor_check_errors },
	{ "balance", "slaves send and receive their shares", .bond = doctor_check_balance },
	{ "clients", "balance-alb has room for all neighbours in its map of clients",
	  .bond = doctor_check_clients },
	{ "unanswered", "what each slave sends is answered, over whichever slave",
	  .bond = doctor_check_unanswered },
	{ "refused", "no traffic for the bond arrives by slaves that do not receive",
	  .bond = doctor_check_refused },
	{ "loss", "no slave loses a part of what it carries", .bond = doctor_check_loss },
	{ "slow", "no slave is much slower than the others", .bond = doctor_check_slow },
	{ "far-mtu", "the far end gets long frames, too", .bond = doctor_check_far_mtu },
	{ "far-mac", "nobody at the far end has the bond's MAC address",
	  .bond = doctor_check_far_mac },
	{ "channel", "the switch takes the slaves for one channel where the mode needs it",
	  .bond = doctor_check_channel },
	{ "lacp-unused", "nobody speaks LACP to a bond that does not",
	  .bond = doctor_check_lacp_unused },
	{ "afxdp", "programs use AF_XDP on all queues, in time and as the driver can",
	  .bond = doctor_check_afxdp },
	{ "other-xdp", "no XDP programs of others take frames of slaves",
	  .bond = doctor_check_other_xdp },
	{ "mtu", "the MTUs of slaves, of the bond and of devices on it agree",
	  .bond = doctor_check_mtu },
	{ "offloads", "all slaves have the same offloads", .bond = doctor_check_offloads },
	{ "lro", "no slave merges frames that the bond forwards", .bond = doctor_check_lro },
	{ "vlan", "slaves take tagged frames if the bond has VLANs", .bond = doctor_check_vlan },
	{ "promiscuous", "mac_policy filter works without promiscuous slaves",
	  .bond = doctor_check_promiscuous },
	{ "slave-use", "slaves have no master, no addresses and no devices on them",
	  .bond = doctor_check_slave_use },
	{ "released", "all that was changed on removed slaves is restored",
	  .bond = doctor_check_released },
	{ "filters", "no filters or nft chains on slaves are bypassed",
	  .bond = doctor_check_filters },
	{ "manager", "no network manager has configured a slave", .bond = doctor_check_manager },
	{ "mac", "no other device has the MAC address of the bond", .bond = doctor_check_mac },
	{ "rp_filter", "no strict rp_filter where replies may come another way",
	  .bond = doctor_check_rp_filter },
	{ "port-side", "nobody else uses the port side of the bond",
	  .bond = doctor_check_port_side },
	{ "timestamps", "ptp4l gets one software timestamp for each packet",
	  .bond = doctor_check_timestamps },
	{ "device-kind", "a pair only where no team would do", .bond = doctor_check_device_kind },
	{ "config", "the configuration file is there and says what is running",
	  .bond = doctor_check_config },
	{ "no-effect", "no options without effect in the mode", .bond = doctor_check_no_effect },
	{ "policy", "a policy that is loaded is in use", .bond = doctor_check_policy },
	{ "min_links", "min_links can be reached", .bond = doctor_check_min_links },
	{ "choice", "primary names a slave; not all slaves are drained",
	  .bond = doctor_check_choice },
	{ "arp", "the ARP monitor has targets that answer, and routes to them",
	  .bond = doctor_check_arp },
	{ "bfd", "the far end speaks BFD if bfd_interval is set", .bond = doctor_check_bfd },
	{ "lacp-silent", "a partner is heard on every port", .lacp = doctor_check_lacp_silent },
	{ "lacp-individual", "the partner lets its ports be aggregated",
	  .lacp = doctor_check_lacp_individual },
	{ "lacp-partner", "all ports have one partner system, and no crossed cables",
	  .lacp = doctor_check_lacp_partner },
	{ "lacp-key", "all ports have one key, at both ends", .lacp = doctor_check_lacp_key },
	{ "lacp-loop", "no port hears this host", .lacp = doctor_check_lacp_loop },
	{ "lacp-rate", "both ends send as often as the other asks",
	  .lacp = doctor_check_lacp_rate },
	{ "lacp-sync", "ports with a partner get in sync and carry traffic",
	  .lacp = doctor_check_lacp_sync },
	{ "lacp-pdus", "no malformed LACPDUs, and no flood of them",
	  .lacp = doctor_check_lacp_pdus },
	{ .name = NULL },
};

static void doctor_check_bond(const struct doctor_facts *facts, const struct doctor_bond *bond,
			      struct doctor_report *report)
{
	report->bond = bond->name;
	for (const struct doctor_check *check = doctor_checks; check->name; check++) {
		report->check = check->name;
		if (check->bond)
			check->bond(facts, bond, report);
		if (check->lacp && doctor_is_lacp(bond))
			check->lacp(facts, bond, report);
	}
	report->bond = NULL;
}

void doctor_run(const struct doctor_facts *facts, struct doctor_report *report)
{
	report->bond = NULL;
	for (const struct doctor_check *check = doctor_checks; check->name; check++) {
		report->check = check->name;
		if (check->host)
			check->host(facts, report);
	}
	doctor_for_each_open (bond, facts)
		if (doctor_is_asked(facts, bond))
			doctor_check_bond(facts, bond, report);
}
