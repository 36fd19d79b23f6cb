/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of Linux 6.1 to 6.12, as root reads them there. What a mode has no value for is an
 * empty file.
 */
#include "cli/show/show.h"

#include <stdio.h>
#include <string.h>

#include "cli/base/print.h"
#include "common/mode.h"

/* How an option is written. */
enum manner {
	NAME_AND_NUMBER, /* "layer2 0" */
	NUMBER,
	SWITCH,	     /* 1 or 0 */
	ON_OFF,	     /* "on 1" or "off 0" */
	LACP_NUMBER, /* only in 802.3ad */
	LACP_STATE,  /* what `key` is of LACP; 0 without an active aggregator */
	CONSTANT,    /* of an option that xbond does not have: the kernel's default */
	OTHER,
};

typedef void (*sysfs_function)(const json_t *bond, char *value);

static void sysfs_add(char *value, const char *separator, const char *text)
{
	size_t used = strlen(value);

	snprintf(value + used, SYSFS_VALUE_SIZE - used, "%s%s", used ? separator : "", text);
}

static void sysfs_line(char *value, const char *text)
{
	snprintf(value, SYSFS_VALUE_SIZE, "%s\n", text);
}

static void sysfs_number(char *value, long long number)
{
	snprintf(value, SYSFS_VALUE_SIZE, "%lld\n", number);
}

static void sysfs_end_list(char *value)
{
	if (value[0])
		sysfs_add(value, "", "\n");
}

static void sysfs_slaves(const json_t *bond, char *value)
{
	const json_t *slave;
	size_t at;

	json_array_foreach (json_object_get(bond, "slaves"), at, slave)
		sysfs_add(value, " ", field_text(slave, "name"));
	sysfs_end_list(value);
}

static void sysfs_queue_ids(const json_t *bond, char *value)
{
	const json_t *slave;
	char text[64];
	size_t at;

	json_array_foreach (json_object_get(bond, "slaves"), at, slave) {
		snprintf(text, sizeof(text), "%s:%lld", field_text(slave, "name"),
			 field_number(json_object_get(slave, "options"), "queue_id"));
		sysfs_add(value, " ", text);
	}
	sysfs_end_list(value);
}

static void sysfs_arp_ip_target(const json_t *bond, char *value)
{
	const json_t *target;
	size_t at;

	json_array_foreach (json_object_get(json_object_get(bond, "options"), "arp_ip_target"), at,
			    target)
		sysfs_add(value, " ", json_string_value(target));
	sysfs_end_list(value);
}

static void sysfs_mii_status(const json_t *bond, char *value)
{
	sysfs_line(value, field_text(bond, "mii_status"));
}

static void sysfs_active_slave(const json_t *bond, char *value)
{
	const char *name = field_text_or(bond, "active_slave", NULL);

	if (kernel_has(bond, MODE_ACTIVE) && name)
		sysfs_line(value, name);
}

static void sysfs_primary(const json_t *bond, char *value)
{
	if (kernel_primary(bond))
		sysfs_line(value, kernel_primary(bond));
}

static void sysfs_ad_partner_mac(const json_t *bond, char *value)
{
	const json_t *lacp = json_object_get(bond, "lacp");

	if (lacp)
		sysfs_line(value, field_text_or(lacp, "partner_system", KERNEL_NO_MAC));
}

static void sysfs_ad_actor_system(const json_t *bond, char *value)
{
	if (json_object_get(bond, "lacp"))
		sysfs_line(value, field_text_or(json_object_get(bond, "options"), "ad_actor_system",
						KERNEL_NO_MAC));
}

static const struct {
	const char *name;
	enum manner manner;
	long long constant; /* of LACP_STATE: if it is unknown */
	sysfs_function function;
	const char *key;
} sysfs_files[] = {
	{ "active_slave", OTHER, 0, sysfs_active_slave, NULL },
	{ "ad_actor_key", LACP_STATE, 0, NULL, "actor_key" },
	{ "ad_actor_sys_prio", LACP_NUMBER, 0, NULL, NULL },
	{ "ad_actor_system", OTHER, 0, sysfs_ad_actor_system, NULL },
	{ "ad_aggregator", LACP_STATE, 0, NULL, "active_aggregator" },
	{ "ad_num_ports", LACP_STATE, 0, NULL, "num_ports" },
	{ "ad_partner_key", LACP_STATE, KERNEL_NO_PARTNER_KEY, NULL, "partner_key" },
	{ "ad_partner_mac", OTHER, 0, sysfs_ad_partner_mac, NULL },
	{ "ad_select", NAME_AND_NUMBER, 0, NULL, NULL },
	{ "ad_user_port_key", LACP_NUMBER, 0, NULL, NULL },
	{ "all_slaves_active", SWITCH, 0, NULL, NULL },
	{ "arp_all_targets", NAME_AND_NUMBER, 0, NULL, NULL },
	{ "arp_interval", NUMBER, 0, NULL, NULL },
	{ "arp_ip_target", OTHER, 0, sysfs_arp_ip_target, NULL },
	{ "arp_missed_max", NUMBER, 0, NULL, NULL },
	{ "arp_validate", NAME_AND_NUMBER, 0, NULL, NULL },
	{ "downdelay", NUMBER, 0, NULL, NULL },
	{ "fail_over_mac", NAME_AND_NUMBER, 0, NULL, NULL },
	{ "lacp_active", ON_OFF, 0, NULL, NULL },
	{ "lacp_rate", NAME_AND_NUMBER, 0, NULL, NULL },
	{ "lp_interval", NUMBER, 0, NULL, NULL },
	{ "mii_status", OTHER, 0, sysfs_mii_status, NULL },
	{ "miimon", NUMBER, 0, NULL, NULL },
	{ "min_links", NUMBER, 0, NULL, NULL },
	{ "mode", NAME_AND_NUMBER, 0, NULL, NULL },
	{ "num_grat_arp", NUMBER, 0, NULL, NULL },
	{ "num_unsol_na", NUMBER, 0, NULL, NULL },
	{ "packets_per_slave", NUMBER, 0, NULL, NULL },
	{ "peer_notif_delay", NUMBER, 0, NULL, NULL },
	{ "primary", OTHER, 0, sysfs_primary, NULL },
	{ "primary_reselect", NAME_AND_NUMBER, 0, NULL, NULL },
	{ "queue_id", OTHER, 0, sysfs_queue_ids, NULL },
	{ "resend_igmp", NUMBER, 0, NULL, NULL },
	{ "slaves", OTHER, 0, sysfs_slaves, NULL },
	{ "tlb_dynamic_lb", SWITCH, 0, NULL, NULL },
	{ "updelay", NUMBER, 0, NULL, NULL },
	{ "use_carrier", CONSTANT, 1, NULL, NULL },
	{ "xmit_hash_policy", NAME_AND_NUMBER, 0, NULL, NULL },
};

static void sysfs_option(const json_t *bond, const char *name, enum manner manner, char *value)
{
	const json_t *options = json_object_get(bond, "options");

	if (manner == NAME_AND_NUMBER)
		snprintf(value, SYSFS_VALUE_SIZE, "%s %u\n", field_text(options, name),
			 field_option_number(bond, name));
	else if (manner == ON_OFF)
		sysfs_line(value, field_is_true(options, name) ? "on 1" : "off 0");
	else if (manner == SWITCH)
		sysfs_number(value, field_is_true(options, name));
	else if (manner == NUMBER || json_object_get(bond, "lacp"))
		sysfs_number(value, field_number(options, name));
}

static void sysfs_lacp_state(const json_t *bond, const char *key, long long unknown, char *value)
{
	const json_t *lacp = json_object_get(bond, "lacp");
	bool aggregated = field_number(lacp, "active_aggregator");

	if (lacp)
		sysfs_number(value, aggregated ? field_number_or(lacp, key, unknown) : 0);
}

const char *sysfs_bond_value(const json_t *bond, unsigned int i, char ret_value[SYSFS_VALUE_SIZE])
{
	ret_value[0] = '\0';
	if (i >= sizeof(sysfs_files) / sizeof(sysfs_files[0]))
		return NULL;
	if (sysfs_files[i].manner == OTHER)
		sysfs_files[i].function(bond, ret_value);
	else if (sysfs_files[i].manner == CONSTANT)
		sysfs_number(ret_value, sysfs_files[i].constant);
	else if (sysfs_files[i].manner == LACP_STATE)
		sysfs_lacp_state(bond, sysfs_files[i].key, sysfs_files[i].constant, ret_value);
	else
		sysfs_option(bond, sysfs_files[i].name, sysfs_files[i].manner, ret_value);
	return sysfs_files[i].name;
}

static void sysfs_port_number(const json_t *lacp, long long number, char *value)
{
	if (lacp && !json_is_null(json_object_get(lacp, "aggregator_id")))
		sysfs_number(value, number);
	else
		sysfs_line(value, "N/A");
}

const char *sysfs_slave_value(const json_t *bond, const json_t *slave, unsigned int i,
			      char ret_value[SYSFS_VALUE_SIZE])
{
	static const char *const names[] = { "state",
					     "mii_status",
					     "link_failure_count",
					     "perm_hwaddr",
					     "queue_id",
					     "ad_aggregator_id",
					     "ad_actor_oper_port_state",
					     "ad_partner_oper_port_state" };
	const json_t *lacp = json_object_get(slave, "lacp");

	switch (i) {
	case 0: sysfs_line(ret_value, kernel_is_active(bond, slave) ? "active" : "backup"); break;
	case 1: sysfs_line(ret_value, kernel_link(slave)); break;
	case 2: sysfs_number(ret_value, field_number(slave, "link_failures")); break;
	case 3: sysfs_line(ret_value, field_text_or(slave, "perm_mac", KERNEL_NO_MAC)); break;
	case 4:
		sysfs_number(ret_value,
			     field_number(json_object_get(slave, "options"), "queue_id"));
		break;
	case 5: sysfs_port_number(lacp, field_number(lacp, "aggregator_id"), ret_value); break;
	case 6: sysfs_port_number(lacp, kernel_actor_state(lacp), ret_value); break;
	case 7: sysfs_port_number(lacp, kernel_partner_state(lacp), ret_value); break;
	default: return NULL;
	}
	return names[i];
}

/* Monitors other than that of the carrier do not matter to the device. */
static bool sysfs_has_carrier(const json_t *bond, const json_t *slave)
{
	const json_t *carrier = json_object_get(json_object_get(slave, "monitors"), "carrier");

	if (!slave)
		return field_is_true(bond, "carrier");
	return !strcmp(carrier ? field_text(carrier, "state") : field_text(slave, "mii_status"),
		       "up");
}

const char *sysfs_device_value(const json_t *bond, const json_t *slave, unsigned int i,
			       char ret_value[SYSFS_VALUE_SIZE])
{
	static const char *const names[] = { "operstate", "carrier", "speed",
					     "duplex",	  "address", "mtu" };
	const json_t *device = slave ? slave : bond;
	bool carrier = sysfs_has_carrier(bond, slave);

	switch (i) {
	case 0: sysfs_line(ret_value, carrier ? "up" : "down"); break;
	case 1: sysfs_number(ret_value, carrier); break;
	case 2: sysfs_number(ret_value, field_number_or(device, "speed_mbps", -1)); break;
	case 3: sysfs_line(ret_value, field_text_or(device, "duplex", "unknown")); break;
	case 4: sysfs_line(ret_value, field_text_or(device, "mac", KERNEL_NO_MAC)); break;
	case 5: sysfs_number(ret_value, field_number(bond, "mtu")); break;
	default: return NULL;
	}
	return names[i];
}
