/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints the JSON objects of view/ for people. Called by cmd_show.c. Scripts must not read this
 * text, because it may change. Knows nothing of maps.
 */
#include "cli/show/text.h"

#include <stdio.h>
#include <string.h>

#include "cli/show/text_lacp.h"
#include "common/mode.h"
#include "options/options.h"

static long long text_number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static const char *text_string(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "unknown";
}

static void text_list_text(const json_t *list, char *ret_text, size_t size)
{
	size_t used = 0, at;
	const json_t *item;

	snprintf(ret_text, size, "none");
	json_array_foreach (list, at, item)
		if (used < size)
			used += (size_t)snprintf(ret_text + used, size - used, "%s%s",
						 at ? "," : "", json_string_value(item));
}

static void text_option_text(const json_t *value, char *ret_text, size_t size)
{
	if (json_is_array(value))
		text_list_text(value, ret_text, size);
	else if (json_is_integer(value))
		snprintf(ret_text, size, "%lld", json_integer_value(value));
	else if (json_is_boolean(value))
		snprintf(ret_text, size, "%s", json_is_true(value) ? "on" : "off");
	else
		snprintf(ret_text, size, "%s",
			 json_is_string(value) ? json_string_value(value) : "none");
}

static bool text_is_default(const struct option_spec *option, const char *text)
{
	struct option_value value;

	return !option_parse(option, text, &value, NULL) && option_is_default(option, &value);
}

/* How the options of one bond are printed. */
struct manner {
	uint32_t mode;
	bool lacp_rr; /* lacp_tx balance-rr */
	bool forced_counted;
	const char *device; /* what the bond is made of; NULL for options of a slave */
};

/* Why the option has no effect; NULL if it has one. */
static const char *text_no_effect(const struct option_spec *option, const struct manner *manner)
{
	if (!option_has_effect(option, manner->mode))
		return "   (no effect in this mode)";
	if (!mode_has(manner->mode, MODE_LACP))
		return NULL;
	if (option->needs == MODE_TURNS && !manner->lacp_rr)
		return "   (no effect with lacp_tx hash)";
	if (option->effect == MODE_HASH && manner->lacp_rr)
		return "   (no effect with lacp_tx balance-rr)";
	return NULL;
}

static void text_print_option(const struct option_spec *option, const json_t *value,
			      const struct manner *manner)
{
	const char *note = text_no_effect(option, manner);
	char text[OPTION_TEXT_SIZE], device[32];

	text_option_text(value, text, sizeof(text));
	if (note && text_is_default(option, text))
		return;
	if (option->id == OPT_PATH && manner->forced_counted && !strcmp(text, "direct"))
		note = "   (counted for now: a capture, a qdisc, filters, XDP on the bond or "
		       "another namespace forbids it)";
	if (option->id == OPT_DEVICE && manner->device && strcmp(text, manner->device)) {
		snprintf(device, sizeof(device), "   (%s)", manner->device);
		note = device;
	}
	printf("    %-20s %s%s\n", option->name, text, note ? note : "");
}

static bool text_is_lacp_rr(const json_t *options)
{
	struct option_value value;

	return !option_parse(option_at(OPT_LACP_TX), text_string(options, "lacp_tx"), &value,
			     NULL) &&
	       value.number == XBOND_LACP_TX_BALANCE_RR;
}

static void text_print_options(const json_t *options, enum option_scope scope,
			       const char *mode_text, struct manner manner)
{
	const struct mode *mode = mode_by_name(mode_text);

	manner.lacp_rr = text_is_lacp_rr(options);
	if (!mode)
		return;
	manner.mode = mode->number;
	for (unsigned int id = 0; id < OPT_COUNT; id++) {
		const struct option_spec *option = option_at(id);
		const json_t *value = json_object_get(options, option->name);

		if (value && option->scope == scope && id != OPT_MODE && id != OPT_ACTIVE_SLAVE &&
		    !option->is_alias)
			text_print_option(option, value, &manner);
	}
}

static void text_print_speed(const json_t *object)
{
	const json_t *speed = json_object_get(object, "speed_mbps");

	if (json_is_integer(speed))
		printf(", %lld Mbit/s", json_integer_value(speed));
	else
		printf(", speed unknown");
}

static void text_print_counters(const json_t *object)
{
	printf("    %-20s %lld packets, %lld bytes\n", "transmitted",
	       text_number(object, "tx_packets"), text_number(object, "tx_bytes"));
	printf("    %-20s %lld packets, %lld bytes, %lld dropped\n", "received",
	       text_number(object, "rx_packets"), text_number(object, "rx_bytes"),
	       text_number(object, "rx_dropped"));
}

/* In 802.3ad the line `lacp` may have told it. */
static void text_print_why(const json_t *slave)
{
	const json_t *why = json_object_get(slave, "why");

	if (json_is_string(why) &&
	    !json_equal(why, json_object_get(json_object_get(slave, "lacp"), "why")))
		printf("    %-20s %s\n", "not in use", json_string_value(why));
}

static void text_print_slave(const json_t *slave, const char *mode)
{
	const json_t *duplex = json_object_get(slave, "duplex");

	printf("  slave %s: %s%s", text_string(slave, "name"), text_string(slave, "mii_status"),
	       json_is_true(json_object_get(slave, "active")) ? ", active" : "");
	text_print_speed(slave);
	if (json_is_string(duplex))
		printf(" %s duplex", json_string_value(duplex));
	printf(", %lld link failure%s", text_number(slave, "link_failures"),
	       text_number(slave, "link_failures") == 1 ? "" : "s");
	if (text_number(slave, "resets"))
		printf(", reset %lld time%s by bondd", text_number(slave, "resets"),
		       text_number(slave, "resets") == 1 ? "" : "s");
	printf("\n");
	printf("    %-20s %s   (permanent %s)\n", "mac", text_string(slave, "mac"),
	       text_string(slave, "perm_mac"));
	text_print_why(slave);
	if (json_is_string(json_object_get(slave, "problem")))
		printf("    %-20s %s\n", "problem", text_string(slave, "problem"));
	if (json_is_false(json_object_get(slave, "attached")))
		printf("    %-20s %s\n", "not attached",
		       "its receive program was taken off: it receives nothing");
	text_lacp_slave(json_object_get(slave, "lacp"));
	text_print_options(json_object_get(slave, "options"), OPTION_SLAVE, mode,
			   (struct manner){ 0 });
	text_print_counters(slave);
}

static void text_print_active_slave(const json_t *bond)
{
	const json_t *name = json_object_get(bond, "active_slave");
	const struct mode *mode = mode_by_name(text_string(bond, "mode"));

	if (mode && mode->traits & MODE_ACTIVE)
		printf("    %-20s %s\n", "active_slave",
		       json_is_string(name) ? json_string_value(name) : "none");
}

static void text_print_failover(const json_t *bond)
{
	const json_t *source = json_object_get(bond, "carrier_source");
	const json_t *failover = json_object_get(bond, "failover");

	if (json_is_string(source))
		printf("    %-20s %s\n", "carrier_source", json_string_value(source));
	if (text_number(failover, "count"))
		printf("    %-20s the last took %lld us; %lld in all\n", "failovers",
		       text_number(failover, "last_us"), text_number(failover, "count"));
}

/* For a bond that exists but that this program cannot read. */
static void text_print_foreign(const json_t *bond)
{
	printf("%s: state unknown\n    %-20s %s\n", text_string(bond, "name"), "problem",
	       text_string(bond, "problem"));
}

void text_bond(const json_t *bond, bool forced_counted)
{
	const struct manner manner = { .forced_counted = forced_counted,
				       .device =
					       json_string_value(json_object_get(bond, "device")) };
	const json_t *slave;
	size_t at;

	if (json_is_null(json_object_get(bond, "options"))) {
		text_print_foreign(bond);
		return;
	}
	printf("%s: mode %s, carrier %s", text_string(bond, "name"), text_string(bond, "mode"),
	       text_string(bond, "mii_status"));
	text_print_speed(bond);
	printf(", mtu %lld\n", text_number(bond, "mtu"));
	if (!json_is_true(json_object_get(bond, "bondd")))
		puts("    bondd is away: traffic flows on, changes of carrier may not be followed");
	if (json_is_false(json_object_get(bond, "attached")))
		printf("    %-20s %s\n", "not attached",
		       "its programs were taken off: it sends nothing, or not as it should");
	printf("    %-20s %s\n", "mac", text_string(bond, "mac"));
	text_print_active_slave(bond);
	text_print_failover(bond);
	text_lacp_bond(json_object_get(bond, "lacp"));
	text_print_options(json_object_get(bond, "options"), OPTION_BOND, text_string(bond, "mode"),
			   manner);
	text_print_counters(bond);
	json_array_foreach (json_object_get(bond, "slaves"), at, slave)
		text_print_slave(slave, text_string(bond, "mode"));
}

void text_stats_head(void)
{
	printf("%-18s %14s %18s %14s %18s %12s\n", "", "tx_packets", "tx_bytes", "rx_packets",
	       "rx_bytes", "rx_dropped");
}

static void text_print_stats_row(const char *indent, const json_t *stats)
{
	const json_t *counters = json_object_get(stats, "counters");

	printf("%s%-*s %14lld %18lld %14lld %18lld %12lld\n", indent, 18 - (int)strlen(indent),
	       text_string(stats, "name"), text_number(counters, "tx_packets"),
	       text_number(counters, "tx_bytes"), text_number(counters, "rx_packets"),
	       text_number(counters, "rx_bytes"), text_number(counters, "rx_dropped"));
}

void text_stats(const json_t *stats)
{
	const json_t *slave;
	size_t at;

	text_print_stats_row("", stats);
	json_array_foreach (json_object_get(stats, "slaves"), at, slave)
		text_print_stats_row("  ", slave);
}
