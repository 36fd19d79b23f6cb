/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the sources' tables of keys share: values of several tools, and what is done with a key. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "cli/import/import_files.h"
#include "options/names.h"

/* Values as several tools write them, made into values of the option table. */

#define BLANKS " \t\r\n"

const char *import_switch_as(const char *value, const char *word_on, const char *word_off)
{
	static const char *const on[] = { "yes", "true", "on", "1", "y", "t" };
	static const char *const off[] = { "no", "false", "off", "0", "n", "f" };

	for (size_t i = 0; i < sizeof(on) / sizeof(on[0]); i++)
		if (!strcasecmp(value, on[i]))
			return word_on;
	for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++)
		if (!strcasecmp(value, off[i]))
			return word_off;
	return NULL;
}

const char *import_switch(struct import *import, const char *value)
{
	return import_switch_as(value, "on", "off");
}

bool import_is_on(const char *value)
{
	return import_switch_as(value, "on", NULL);
}

/* The kernel's files take a target with a plus before it, and so do some tools. */
const char *import_list(struct import *import, const char *value)
{
	char *list = import_text(import, "%s", value), *end = list, *rest = list, *word;

	while ((word = import_next_word(&rest, BLANKS ",;"))) {
		size_t length = strlen(word += *word == '+');

		if (end > list)
			*end++ = ',';
		memmove(end, word, length);
		end += length;
	}
	*end = '\0';
	return list;
}

/* The hexadecimal digits of a text whose groups of so many are separated by that character. */
static bool import_take_digits(const char *text, size_t group, char separator, char digits[13])
{
	size_t count = 0;

	for (size_t i = 0; text[i]; i++) {
		if (i % (group + 1) == group && text[i] == separator)
			continue;
		if (i % (group + 1) == group || count == 12 || !isxdigit((unsigned char)text[i]))
			return false;
		digits[count++] = text[i];
	}
	digits[count] = '\0';
	return count == 12;
}

const char *import_mac(struct import *import, const char *value)
{
	char digits[13];

	if (!import_take_digits(value, 2, '-', digits) &&
	    !import_take_digits(value, 4, '.', digits))
		return value;
	return import_text(import, "%.2s:%.2s:%.2s:%.2s:%.2s:%.2s", digits, digits + 2, digits + 4,
			   digits + 6, digits + 8, digits + 10);
}

const char *import_first_word(struct import *import, const char *value)
{
	char *rest = import_text(import, "%s", value);
	char *word = import_next_word(&rest, BLANKS);

	return word ? word : "";
}

struct import_unit {
	const char *name;
	uint64_t us;
};

/* systemd.time(7) */
static const struct import_unit units[] = {
	{ "usec", 1 },
	{ "us", 1 },
	{ "\xc2\xb5s", 1 },
	{ "\xce\xbcs", 1 },
	{ "msec", 1000 },
	{ "ms", 1000 },
	{ "seconds", 1000000 },
	{ "second", 1000000 },
	{ "sec", 1000000 },
	{ "s", 1000000 },
	{ "minutes", 60000000 },
	{ "minute", 60000000 },
	{ "min", 60000000 },
	{ "m", 60000000 },
	{ "hours", 3600000000 },
	{ "hour", 3600000000 },
	{ "hr", 3600000000 },
	{ "h", 3600000000 },
	{ "days", 86400000000 },
	{ "day", 86400000000 },
	{ "d", 86400000000 },
	{ "weeks", 604800000000 },
	{ "week", 604800000000 },
	{ "w", 604800000000 },
};

/* The longest of those that begin the text; 0 if none does. */
static uint64_t import_take_unit(const char **text, uint64_t otherwise)
{
	const struct import_unit *found = NULL;

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strncmp(*text, units[i].name, strlen(units[i].name)) &&
		    (!found || strlen(units[i].name) > strlen(found->name)))
			found = &units[i];
	if (found)
		*text += strlen(found->name);
	else if (**text && !strchr(BLANKS, **text))
		return 0;
	return found ? found->us : otherwise;
}

/* One part of a time span, as "1.5s". Returns false if it is none. */
static bool import_take_time(const char **text, uint64_t unit_us, uint64_t *us)
{
	uint64_t whole = 0, part = 0, scale = 1, unit;
	const char *start = *text;

	for (; **text >= '0' && **text <= '9'; ++*text)
		whole = whole > UINT32_MAX ? whole : 10 * whole + (uint64_t)(**text - '0');
	if (**text == '.')
		for (++*text; **text >= '0' && **text <= '9'; ++*text)
			if (scale < 1000000) {
				part = 10 * part + (uint64_t)(**text - '0');
				scale *= 10;
			}
	if (*text == start)
		return false;
	*text += strspn(*text, BLANKS);
	unit = import_take_unit(text, unit_us);
	if (!unit || whole > UINT32_MAX * UINT64_C(1000000) / unit)
		return false;
	*us += whole * unit + part * unit / scale;
	return true;
}

/* In whole steps, rounded down, as the tools do. unit_us: of a number without a unit. */
static const char *import_time(struct import *import, const char *value, uint64_t unit_us,
			       uint64_t step_us)
{
	const char *text = value + strspn(value, BLANKS);
	uint64_t us = 0;

	if (!*text)
		return NULL;
	while (*text) {
		if (!import_take_time(&text, unit_us, &us) || us > UINT64_MAX / 2)
			return NULL;
		text += strspn(text, BLANKS);
	}
	return import_text(import, "%" PRIu64, us / step_us);
}

const char *import_ms_of_s(struct import *import, const char *value)
{
	return import_time(import, value, 1000000, 1000);
}

const char *import_ms_of_ms(struct import *import, const char *value)
{
	return import_time(import, value, 1000, 1000);
}

const char *import_s_of_s(struct import *import, const char *value)
{
	return import_time(import, value, 1000000, 1000000);
}

/* What is done with a key. */

const struct import_key *import_find_key(const struct import_key *table, const char *name)
{
	for (const struct import_key *key = table; key->name; key++)
		if (!strcmp(key->name, name))
			return key;
	return NULL;
}

void import_apply_key(struct import *import, const struct import_key *key, struct import_bond *bond,
		      struct import_slave *slave, const char *value, const struct import_line *line)
{
	const char *text = key && key->convert ? key->convert(import, value) : value;

	if (!key) {
		import_lost(import, bond, line, IMPORT_NO_OPTION);
		return;
	}
	if (key->becomes)
		return;
	if (key->why_lost) {
		if (!key->usual || !text || strcmp(text, key->usual))
			import_lost(import, bond, line, "%s", key->why_lost);
		return;
	}
	if (!text && key->option == OPT_MODE)
		import_refuse(import, bond, line, "%s does not take this value", import->tool);
	else if (!text)
		import_lost(import, bond, line, "%s does not take this value", import->tool);
	else
		import_option(import, bond, slave, key->option, text, key->more, line);
}

/* The options of kernel bonding, as the module, sysfs, ifenslave and NetworkManager name them. */

const struct import_key import_bonding_keys[] = {
	{ "mode", .option = OPT_MODE },
	{ "miimon", .option = OPT_MIIMON },
	{ "updelay", .option = OPT_UPDELAY },
	{ "downdelay", .option = OPT_DOWNDELAY },
	{ "use_carrier", .why_lost = OPTION_ABSENT_CARRIER, .convert = import_switch,
	  .usual = "on" },
	{ "xmit_hash_policy", .option = OPT_XMIT_HASH_POLICY },
	{ "packets_per_slave", .option = OPT_PACKETS_PER_SLAVE },
	{ "primary", .option = OPT_PRIMARY },
	{ "primary_reselect", .option = OPT_PRIMARY_RESELECT },
	{ "active_slave", .option = OPT_ACTIVE_SLAVE, .why_lost = IMPORT_STATE },
	{ "fail_over_mac", .option = OPT_FAIL_OVER_MAC },
	{ "num_grat_arp", .option = OPT_NUM_GRAT_ARP },
	/* The kernel has one number for both; the last one counts. */
	{ "num_unsol_na", .option = OPT_NUM_GRAT_ARP },
	{ "peer_notif_delay", .option = OPT_PEER_NOTIF_DELAY },
	{ "resend_igmp", .option = OPT_RESEND_IGMP },
	{ "all_slaves_active", .option = OPT_ALL_SLAVES_ACTIVE, .convert = import_switch },
	{ "min_links", .option = OPT_MIN_LINKS },
	{ "arp_interval", .option = OPT_ARP_INTERVAL },
	{ "arp_ip_target", .option = OPT_ARP_IP_TARGET, .convert = import_list, .more = true },
	{ "ns_ip6_target", .option = OPT_NS_IP6_TARGET, .convert = import_list, .more = true },
	{ "arp_validate", .option = OPT_ARP_VALIDATE },
	{ "arp_all_targets", .option = OPT_ARP_ALL_TARGETS },
	{ "arp_missed_max", .option = OPT_ARP_MISSED_MAX },
	{ "missed_max", .option = OPT_ARP_MISSED_MAX },
	{ "lacp_rate", .option = OPT_LACP_RATE },
	{ "lacp_active", .option = OPT_LACP_ACTIVE, .convert = import_switch },
	{ "lacp_strict", .option = OPT_LACP_STRICT, .convert = import_switch },
	{ "ad_select", .option = OPT_AD_SELECT },
	{ "ad_actor_sys_prio", .option = OPT_AD_ACTOR_SYS_PRIO },
	{ "ad_actor_system", .option = OPT_AD_ACTOR_SYSTEM },
	{ "ad_user_port_key", .option = OPT_AD_USER_PORT_KEY },
	{ "coupled_control", .option = OPT_COUPLED_CONTROL, .convert = import_switch },
	{ "broadcast_neighbor", .option = OPT_BROADCAST_NEIGHBOR, .convert = import_switch },
	{ "tlb_dynamic_lb", .option = OPT_TLB_DYNAMIC_LB, .convert = import_switch },
	{ "lp_interval", .option = OPT_LP_INTERVAL },
	{ "max_bonds", .why_lost = OPTION_ABSENT_MODULE },
	{ "tx_queues", .why_lost = OPTION_ABSENT_MODULE },
	{ .name = NULL },
};
