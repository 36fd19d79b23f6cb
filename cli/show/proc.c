/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel's bonding driver calls things, and line for line the layout of
 * /proc/net/bonding/BOND of Linux 6.1 to 6.12, as root reads it there. Programs parse it: nothing
 * may be added or worded otherwise.
 */
#include <stdio.h>
#include <string.h>

#include "bpf/abi.h"
#include "cli/base/print.h"
#include "cli/show/show.h"
#include "common/mode.h"
#include "common/paths.h"
#include "lacp/lacp.h"

#define STATE_BITS 8

bool kernel_is_mode(const json_t *bond, uint32_t mode)
{
	return !strcmp(field_text(bond, "mode"), mode_name(mode));
}

bool kernel_has(const json_t *bond, uint32_t traits)
{
	const struct mode *mode = mode_by_name(field_text(bond, "mode"));

	return mode && mode->traits & traits;
}

const char *kernel_link(const json_t *slave)
{
	const char *link = field_text(slave, "mii_status");

	if (!strcmp(link, "going_up"))
		return "going back";
	return !strcmp(link, "going_down") ? "going down" : link;
}

bool kernel_is_active(const json_t *bond, const json_t *slave)
{
	if (kernel_is_mode(bond, XBOND_MODE_ACTIVE_BACKUP) ||
	    kernel_is_mode(bond, XBOND_MODE_8023AD))
		return field_is_true(slave, "active");
	return true;
}

static const json_t *kernel_find_slave(const json_t *bond, const char *name)
{
	const json_t *slave;
	size_t at;

	json_array_foreach (json_object_get(bond, "slaves"), at, slave)
		if (name && !strcmp(field_text(slave, "name"), name))
			return slave;
	return NULL;
}

const char *kernel_primary(const json_t *bond)
{
	const char *name = field_text_or(json_object_get(bond, "options"), "primary", NULL);

	return kernel_find_slave(bond, name) ? name : NULL;
}

static unsigned int kernel_state(const json_t *flags)
{
	unsigned int state = 0;
	const json_t *flag;
	size_t at;

	json_array_foreach (flags, at, flag)
		for (unsigned int bit = 0; bit < STATE_BITS; bit++)
			if (!strcmp(json_string_value(flag), lacp_flag_name(bit)))
				state |= 1u << bit;
	return state;
}

unsigned int kernel_actor_state(const json_t *lacp)
{
	return kernel_state(json_object_get(lacp, "actor_state"));
}

unsigned int kernel_partner_state(const json_t *lacp)
{
	if (json_is_null(json_object_get(lacp, "partner_system")))
		return KERNEL_NO_PARTNER_STATE;
	return kernel_state(json_object_get(lacp, "partner_state"));
}

/* The file */

static void proc_print_mode(const json_t *bond)
{
	const json_t *options = json_object_get(bond, "options");

	printf("Bonding Mode: %s", mode_words(field_option_number(bond, "mode")));
	if (kernel_is_mode(bond, XBOND_MODE_ACTIVE_BACKUP) &&
	    field_option_number(bond, "fail_over_mac") != XBOND_FAIL_OVER_MAC_NONE)
		printf(" (fail_over_mac %s)", field_text(options, "fail_over_mac"));
	printf("\n");
	/* With tlb_dynamic_lb the kernel's driver does not heed the policy, and does not print it.
	 */
	if (kernel_has(bond, MODE_HASH) &&
	    !(kernel_has(bond, MODE_OWN_MACS) && field_is_true(options, "tlb_dynamic_lb")))
		printf("Transmit Hash Policy: %s (%u)\n", field_text(options, "xmit_hash_policy"),
		       field_option_number(bond, "xmit_hash_policy"));
}

static void proc_print_active(const json_t *bond)
{
	const char *primary = kernel_primary(bond);

	if (!kernel_has(bond, MODE_ACTIVE))
		return;
	printf("Primary Slave: %s", primary ? primary : "None");
	if (primary)
		printf(" (primary_reselect %s)",
		       field_text(json_object_get(bond, "options"), "primary_reselect"));
	printf("\nCurrently Active Slave: %s\n", field_text_or(bond, "active_slave", "None"));
}

static void proc_print_targets(const char *label, const json_t *targets)
{
	const json_t *target;
	size_t at;

	printf("%s:", label);
	json_array_foreach (targets, at, target)
		printf("%s %s", at ? "," : "", json_string_value(target));
	printf("\n");
}

static void proc_print_arp(const json_t *options)
{
	if (!field_number(options, "arp_interval"))
		return;
	printf("ARP Polling Interval (ms): %lld\n", field_number(options, "arp_interval"));
	printf("ARP Missed Max: %lld\n", field_number(options, "arp_missed_max"));
	proc_print_targets("ARP IP target/s (n.n.n.n form)",
			   json_object_get(options, "arp_ip_target"));
	proc_print_targets("NS IPv6 target/s (xx::xx form)",
			   json_object_get(options, "ns_ip6_target"));
}

static void proc_print_monitors(const json_t *bond)
{
	const json_t *options = json_object_get(bond, "options");

	printf("MII Status: %s\n", field_text(bond, "mii_status"));
	printf("MII Polling Interval (ms): %lld\n", field_number(options, "miimon"));
	printf("Up Delay (ms): %lld\n", field_number(options, "updelay"));
	printf("Down Delay (ms): %lld\n", field_number(options, "downdelay"));
	printf("Peer Notification Delay (ms): %lld\n", field_number(options, "peer_notif_delay"));
	proc_print_arp(options);
}

static void proc_print_aggregate(const json_t *bond, const json_t *lacp)
{
	if (json_is_null(json_object_get(lacp, "active_aggregator"))) {
		printf("bond %s has no active aggregator\n", field_text(bond, "name"));
		return;
	}
	printf("Active Aggregator Info:\n");
	printf("\tAggregator ID: %lld\n", field_number(lacp, "active_aggregator"));
	printf("\tNumber of ports: %lld\n", field_number(lacp, "num_ports"));
	printf("\tActor Key: %lld\n", field_number(lacp, "actor_key"));
	printf("\tPartner Key: %lld\n",
	       field_number_or(lacp, "partner_key", KERNEL_NO_PARTNER_KEY));
	printf("\tPartner Mac Address: %s\n", field_text_or(lacp, "partner_system", KERNEL_NO_MAC));
}

static void proc_print_lacp(const json_t *bond)
{
	const json_t *lacp = json_object_get(bond, "lacp");
	const json_t *options = json_object_get(bond, "options");

	if (!lacp)
		return;
	printf("\n802.3ad info\n");
	printf("LACP active: %s\n", field_is_true(options, "lacp_active") ? "on" : "off");
	printf("LACP rate: %s\n", field_text(options, "lacp_rate"));
	printf("Min links: %lld\n", field_number(options, "min_links"));
	printf("Aggregator selection policy (ad_select): %s\n", field_text(options, "ad_select"));
	printf("System priority: %lld\n", field_number(lacp, "actor_sys_prio"));
	printf("System MAC address: %s\n", field_text_or(lacp, "actor_system", KERNEL_NO_MAC));
	proc_print_aggregate(bond, lacp);
}

static void proc_print_pdus(const json_t *bond, const json_t *lacp)
{
	const json_t *system = json_object_get(bond, "lacp");

	printf("details actor lacp pdu:\n");
	printf("    system priority: %lld\n", field_number(system, "actor_sys_prio"));
	printf("    system mac address: %s\n",
	       field_text_or(system, "actor_system", KERNEL_NO_MAC));
	printf("    port key: %lld\n", field_number(lacp, "actor_key"));
	printf("    port priority: %lld\n", field_number(lacp, "port_prio"));
	printf("    port number: %lld\n", field_number(lacp, "port_number"));
	printf("    port state: %u\n", kernel_actor_state(lacp));
	printf("details partner lacp pdu:\n");
	printf("    system priority: %lld\n",
	       field_number_or(lacp, "partner_sys_prio", KERNEL_NO_PARTNER_PRIO));
	printf("    system mac address: %s\n",
	       field_text_or(lacp, "partner_system", KERNEL_NO_MAC));
	printf("    oper key: %lld\n", field_number_or(lacp, "partner_key", KERNEL_NO_PARTNER_KEY));
	printf("    port priority: %lld\n",
	       field_number_or(lacp, "partner_port_prio", KERNEL_NO_PARTNER_PORT_PRIO));
	printf("    port number: %lld\n",
	       field_number_or(lacp, "partner_port", KERNEL_NO_PARTNER_PORT));
	printf("    port state: %u\n", kernel_partner_state(lacp));
}

static void proc_print_port(const json_t *bond, const json_t *lacp)
{
	if (!lacp)
		return;
	if (json_is_null(json_object_get(lacp, "aggregator_id"))) {
		printf("Aggregator ID: N/A\n");
		return;
	}
	printf("Aggregator ID: %lld\n", field_number(lacp, "aggregator_id"));
	printf("Actor Churn State: %s\n", field_text(lacp, "actor_churn"));
	printf("Partner Churn State: %s\n", field_text(lacp, "partner_churn"));
	printf("Actor Churned Count: %lld\n", field_number(lacp, "actor_churns"));
	printf("Partner Churned Count: %lld\n", field_number(lacp, "partner_churns"));
	proc_print_pdus(bond, lacp);
}

static void proc_print_slave(const json_t *bond, const json_t *slave)
{
	printf("\nSlave Interface: %s\n", field_text(slave, "name"));
	printf("MII Status: %s\n", kernel_link(slave));
	if (json_is_integer(json_object_get(slave, "speed_mbps")))
		printf("Speed: %lld Mbps\n", field_number(slave, "speed_mbps"));
	else
		printf("Speed: Unknown\n");
	printf("Duplex: %s\n", field_text_or(slave, "duplex", "Unknown"));
	printf("Link Failure Count: %lld\n", field_number(slave, "link_failures"));
	printf("Permanent HW addr: %s\n", field_text_or(slave, "perm_mac", KERNEL_NO_MAC));
	printf("Slave queue ID: %lld\n",
	       field_number(json_object_get(slave, "options"), "queue_id"));
	proc_print_port(bond, json_object_get(slave, "lacp"));
}

void proc_print(const json_t *bond)
{
	const json_t *slave;
	size_t at;

	printf("Ethernet Channel Bonding Driver: v%s, xbond\n\n", xbond_version);
	proc_print_mode(bond);
	proc_print_active(bond);
	proc_print_monitors(bond);
	proc_print_lacp(bond);
	json_array_foreach (json_object_get(bond, "slaves"), at, slave)
		proc_print_slave(bond, slave);
}
