/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * show --details. Called by cmd_show.c. Scripts must not read this text, because it may change.
 * Knows nothing of maps.
 */
#include "cli/show/text_details.h"

#include <stdio.h>

#include "cli/base/fields.h"
#include "cli/base/news.h"
#include "cli/show/text_lacp.h"
#include "cli/show/text_monitors.h"
#include "cli/show/text_options.h"
#include "common/mode.h"
#include "common/set_down.h"
#include "view/view_problem.h"

static void text_details_speed(const json_t *object)
{
	const json_t *speed = json_object_get(object, "speed_mbps");

	if (json_is_integer(speed))
		printf(", %lld Mbit/s", json_integer_value(speed));
	else
		printf(", speed unknown");
}

static void text_details_item(const char *label, const char *text)
{
	printf("    %-20s %s\n", label, text);
}

static void text_details_packets(const char *label, const json_t *object, const char *packets,
				 const char *bytes)
{
	long long count = field_number(object, packets);

	printf("    %-20s %lld packet%s, %lld bytes", label, count, count == 1 ? "" : "s",
	       field_number(object, bytes));
}

static void text_details_counters(const json_t *object)
{
	text_details_packets("transmitted", object, "tx_packets", "tx_bytes");
	putchar('\n');
	text_details_packets("received", object, "rx_packets", "rx_bytes");
	printf(", %lld dropped\n", field_number(object, "rx_dropped"));
}

/* In 802.3ad the line `lacp` may have told it. */
static void text_details_why(const json_t *slave)
{
	const json_t *why = json_object_get(slave, "why");

	if (json_is_string(why) &&
	    !json_equal(why, json_object_get(json_object_get(slave, "lacp"), "why")))
		text_details_item("not in use", json_string_value(why));
}

static void text_details_state(const json_t *slave)
{
	const json_t *duplex = json_object_get(slave, "duplex");

	printf("  slave %s: %s%s", field_text(slave, "name"), field_text(slave, "mii_status"),
	       json_is_true(json_object_get(slave, "active")) ? ", active" : "");
	text_details_speed(slave);
	if (json_is_string(duplex))
		printf(" %s duplex", json_string_value(duplex));
	printf(", %lld link failure%s", field_number(slave, "link_failures"),
	       field_number(slave, "link_failures") == 1 ? "" : "s");
	if (field_number(slave, "resets"))
		printf(", reset %lld time%s by bondd", field_number(slave, "resets"),
		       field_number(slave, "resets") == 1 ? "" : "s");
	putchar('\n');
}

static void text_details_slave(const json_t *bond, const json_t *slave)
{
	text_details_state(slave);
	printf("    %-20s %s   (permanent %s)\n", "mac", field_text(slave, "mac"),
	       field_text(slave, "perm_mac"));
	text_details_why(slave);
	if (json_is_string(json_object_get(slave, "problem")))
		text_details_item("problem", field_text(slave, "problem"));
	if (json_is_false(json_object_get(slave, "attached")))
		text_details_item("not attached", view_problem_detached_slave);
	printf("    %-20s %s\n", "receives through", field_text(slave, "rx_hook"));
	text_monitors(json_object_get(slave, "monitors"));
	text_lacp_slave(json_object_get(slave, "lacp"));
	text_options_all_of_slave(bond, slave);
	text_details_counters(slave);
	if (json_object_get(slave, "clients"))
		printf("    %-20s %lld\n", "clients", field_number(slave, "clients"));
}

static void text_details_active_slave(const json_t *bond)
{
	const json_t *name = json_object_get(bond, "active_slave");
	const struct mode *mode = mode_by_name(field_text(bond, "mode"));

	if (mode && mode->traits & MODE_ACTIVE)
		printf("    %-20s %s\n", "active_slave",
		       json_is_string(name) ? json_string_value(name) : "none");
}

static void text_details_failover(const json_t *bond)
{
	const json_t *source = json_object_get(bond, "carrier_source");
	const json_t *failover = json_object_get(bond, "failover");

	if (json_is_string(source))
		printf("    %-20s %s\n", "carrier_source", json_string_value(source));
	if (field_number(failover, "count"))
		printf("    %-20s the last took %lld us; %lld in all\n", "failovers",
		       field_number(failover, "last_us"), field_number(failover, "count"));
}

static void text_details_rebalance(const json_t *bond)
{
	const json_t *rebalance = json_object_get(bond, "rebalance");
	char text[256];
	int length;

	if (!json_is_object(rebalance))
		return;
	length = snprintf(text, sizeof(text),
			  "%lld buckets have moved by load, %lld wait for a pause, %lld had none",
			  field_number(rebalance, "moved"), field_number(rebalance, "waiting"),
			  field_number(rebalance, "given_up"));
	if (field_number(rebalance, "rounds"))
		snprintf(text + length, sizeof(text) - (size_t)length,
			 "; the last time was %lld s ago", field_number(rebalance, "last_s"));
	text_details_item("rebalancing", text);
}

/* For a bond that exists but that this program cannot read. */
static void text_details_foreign(const json_t *bond)
{
	printf("%s: state unknown\n", field_text(bond, "name"));
	text_details_item("problem", field_text(bond, "problem"));
}

void text_details_bond(const struct seen *seen)
{
	const json_t *bond = seen->view, *slave;
	size_t at;

	if (json_is_null(json_object_get(bond, "options"))) {
		text_details_foreign(bond);
		return;
	}
	printf("%s: mode %s, carrier %s", field_text(bond, "name"), field_text(bond, "mode"),
	       field_text(bond, "mii_status"));
	text_details_speed(bond);
	printf(", mtu %lld\n", field_number(bond, "mtu"));
	if (seen->is_down)
		printf("    " SET_DOWN_BOND "\n", field_text(bond, "name"));
	if (seen->bondd != VIEW_BONDD_IS_HERE)
		printf("    %s\n", view_problem_bondd(seen->bondd, field_is_true(bond, "carrier")));
	if (json_is_false(json_object_get(bond, "attached")))
		text_details_item("not attached", view_problem_detached_bond);
	printf("    %-20s %s\n", "mac", field_text(bond, "mac"));
	text_details_active_slave(bond);
	text_details_failover(bond);
	if (json_is_string(json_object_get(bond, "policy")))
		printf("    %-20s %s\n", "policy", field_text(bond, "policy"));
	text_details_rebalance(bond);
	if (field_number(bond, "clients_refused"))
		printf("    %-20s %lld\n", "clients refused",
		       field_number(bond, "clients_refused"));
	text_lacp_bond(json_object_get(bond, "lacp"));
	text_options_all_of_bond(bond, seen->forced_counted);
	text_details_counters(bond);
	json_array_foreach (json_object_get(bond, "slaves"), at, slave)
		text_details_slave(bond, slave);
}
