/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * show --details. Called by cmd_show.c. Scripts must not read this text, because it may change.
 * Knows nothing of maps.
 */
#include "cli/show/show.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/base/print.h"
#include "common/mode.h"
#include "common/readings.h"
#include "view/view_bond.h"

/*
 * Prints the `lacp` objects for people. The line about what the port does, and
 * why it does no more, comes first. Knows nothing of maps and machines.
 */

static void text_lacp_print_value(const json_t *value)
{
	if (json_is_integer(value))
		printf("%lld", json_integer_value(value));
	else
		printf("%s", json_is_string(value) ? json_string_value(value) : "unknown");
}

static void text_lacp_begin_line(const char *label)
{
	printf("    %-20s ", label);
}

/* Prints "WORDSvalue", where WORDS is everything between this value and the one before. */
static void text_lacp_print_field(const json_t *lacp, const char *words, const char *key)
{
	fputs(words, stdout);
	text_lacp_print_value(json_object_get(lacp, key));
}

static bool text_lacp_is_known(const json_t *lacp, const char *key)
{
	return !json_is_null(json_object_get(lacp, key));
}

static void text_lacp_print_flags(const json_t *lacp, const char *label, const char *key)
{
	const json_t *flags = json_object_get(lacp, key), *flag;
	size_t at;

	text_lacp_begin_line(label);
	json_array_foreach (flags, at, flag)
		printf("%s%s", at ? ", " : "", json_string_value(flag));
	puts(json_array_size(flags) ? "" : "none");
}

static void text_lacp_print_aggregator(const json_t *lacp)
{
	text_lacp_begin_line("aggregator");
	if (text_lacp_is_known(lacp, "active_aggregator")) {
		text_lacp_print_field(lacp, "", "active_aggregator");
		text_lacp_print_field(lacp, ", selected ports: ", "num_ports");
	} else {
		fputs("none", stdout);
	}
	putchar('\n');
}

static bool text_lacp_same(const json_t *lacp, const char *key, const char *other)
{
	return json_equal(json_object_get(lacp, key), json_object_get(lacp, other));
}

static void text_lacp_bond(const json_t *lacp)
{
	if (!lacp)
		return;
	text_lacp_print_aggregator(lacp);
	text_lacp_begin_line("actor");
	text_lacp_print_field(lacp, "system ", "actor_system");
	text_lacp_print_field(lacp, ", priority ", "actor_sys_prio");
	text_lacp_print_field(lacp, ", key ", "actor_key");
	putchar('\n');
	text_lacp_begin_line("partner");
	text_lacp_print_field(lacp, text_lacp_is_known(lacp, "partner_system") ? "system " : "",
			      "partner_system");
	if (text_lacp_is_known(lacp, "partner_system")) {
		text_lacp_print_field(lacp, ", priority ", "partner_sys_prio");
		text_lacp_print_field(lacp, ", key ", "partner_key");
	}
	putchar('\n');
	text_lacp_begin_line("rate in force");
	text_lacp_print_field(lacp, "", "rate_effective");
	puts(text_lacp_same(lacp, "rate", "rate_effective")
		     ? ""
		     : "   (lacp_hold asks for the partner's rate)");
}

static void text_lacp_print_port(const json_t *lacp)
{
	text_lacp_begin_line("port");
	text_lacp_print_field(lacp, "number ", "port_number");
	text_lacp_print_field(lacp, ", priority ", "port_prio");
	if (text_lacp_is_known(lacp, "aggregator_id"))
		text_lacp_print_field(lacp, ", aggregator ", "aggregator_id");
	text_lacp_print_field(lacp, ", ", "selected");
	putchar('\n');
	text_lacp_begin_line("machines");
	text_lacp_print_field(lacp, "receive ", "rx_state");
	text_lacp_print_field(lacp, ", mux ", "mux_state");
	putchar('\n');
}

static void text_lacp_print_partner(const json_t *lacp)
{
	if (!text_lacp_is_known(lacp, "partner_system"))
		return;
	text_lacp_begin_line("partner");
	text_lacp_print_field(lacp, "system ", "partner_system");
	text_lacp_print_field(lacp, ", port ", "partner_port");
	text_lacp_print_field(lacp, ", key ", "partner_key");
	putchar('\n');
	text_lacp_print_flags(lacp, "partner state", "partner_state");
}

/* Prints only counters that show a problem. */
static void text_lacp_print_churn(const json_t *lacp, const char *key, const char *line)
{
	const char *state = json_string_value(json_object_get(lacp, key));

	if (state && !strcmp(state, "churned"))
		printf("    %-20s %s\n", "churn", line);
}

static void text_lacp_print_strangers(const json_t *lacp)
{
	if (!field_number(lacp, "stranger_rx"))
		return;
	text_lacp_begin_line("strangers");
	text_lacp_print_field(lacp, "", "stranger_rx");
	puts(" LACPDUs ignored, because lacp_partner is another");
}

static void text_lacp_slave(const json_t *lacp)
{
	if (!lacp)
		return;
	text_lacp_begin_line("lacp");
	puts(field_text(lacp, "why"));
	text_lacp_print_port(lacp);
	text_lacp_print_flags(lacp, "actor state", "actor_state");
	text_lacp_print_partner(lacp);
	text_lacp_print_churn(lacp, "actor_churn", "this port has been out of sync for a minute");
	text_lacp_print_churn(lacp, "partner_churn",
			      "the partner's port has been out of sync for a minute");
	text_lacp_begin_line("lacpdus");
	text_lacp_print_field(lacp, "", "lacpdu_rx");
	text_lacp_print_field(lacp, " received, ", "lacpdu_tx");
	text_lacp_print_field(lacp, " sent, ", "illegal_rx");
	puts(" illegal");
	text_lacp_begin_line("markers");
	text_lacp_print_field(lacp, "", "marker_rx");
	text_lacp_print_field(lacp, " received, ", "marker_tx");
	puts(" sent");
	text_lacp_print_strangers(lacp);
}

/* Prints the `monitors` object of a slave for people. */

/* "10.0.0.9 heard 3 s ago", or "10.0.0.9 never heard" */
static void text_monitors_target(const json_t *target)
{
	const json_t *last_ms = json_object_get(target, "since_heard_ms");
	char ago[UNITS_SIZE];

	printf("; %s ", field_text(target, "address"));
	if (json_is_integer(last_ms))
		printf("heard %s ago", units_duration(json_integer_value(last_ms), ago));
	else
		printf("never heard");
}

static void text_monitors_bfd(const json_t *bfd)
{
	long long lost = field_number(bfd, "lost"), detection_ms;

	printf("; session %s, far end %s", field_text(bfd, "session"),
	       field_text(bfd, "remote_session"));
	printf("; sends every %lld ms", field_number(bfd, "tx_interval_ms"));
	detection_ms = field_number(bfd, "detection_time_ms");
	if (detection_ms)
		printf(", detects in %lld ms", detection_ms);
	if (lost)
		printf(", lost %lld time%s", lost, lost == 1 ? "" : "s");
}

/* What a monitor of quality goes by. */
static void text_monitors_quality(const json_t *monitor)
{
	const json_t *flaps = json_object_get(monitor, "flaps");
	const json_t *heard_ms = json_object_get(monitor, "since_heard_ms");
	const json_t *errors = json_object_get(monitor, "errors_per_million");
	long long until_ms = field_number(monitor, "until_ms");
	char text[UNITS_SIZE];

	if (json_is_integer(flaps))
		printf("; %lld flap%s in the last minute", json_integer_value(flaps),
		       json_integer_value(flaps) == 1 ? "" : "s");
	if (json_is_integer(heard_ms))
		printf("; the last frame came %s ago",
		       units_duration(json_integer_value(heard_ms), text));
	if (json_is_integer(errors))
		printf("; %lld of a million frames broken", json_integer_value(errors));
	if (until_ms)
		printf("; held down for another %s", units_duration(until_ms, text));
}

static void text_monitors_one(const json_t *monitor)
{
	const json_t *target;
	long long since_ms = field_number(monitor, "since_ms");
	char since[UNITS_SIZE];
	size_t at;

	printf("%s", field_text(monitor, "state"));
	if (since_ms) /* 0: nobody knows */
		printf(" for %s", units_duration(since_ms, since));
	json_array_foreach (json_object_get(monitor, "targets"), at, target)
		text_monitors_target(target);
	if (json_object_get(monitor, "session"))
		text_monitors_bfd(monitor);
	text_monitors_quality(monitor);
}

static void text_monitors(const json_t *monitors)
{
	const json_t *monitor;
	const char *name;
	char label[32];

	json_object_foreach ((json_t *)monitors, name, monitor) {
		snprintf(label, sizeof(label), "monitor %s", name);
		printf("    %-20s ", label);
		text_monitors_one(monitor);
		putchar('\n');
	}
}

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

static long long text_details_count(const json_t *object, const char *prefix, const char *what)
{
	char name[32];

	snprintf(name, sizeof(name), "%s_%s", prefix, what);
	return field_number(object, name);
}

static void text_details_packets(const json_t *object, const char *prefix)
{
	long long count = text_details_count(object, prefix, "packets");

	printf("%lld packet%s, %lld bytes", count, count == 1 ? "" : "s",
	       text_details_count(object, prefix, "bytes"));
}

static void text_details_counters(const json_t *object)
{
	printf("    %-20s ", "transmitted");
	text_details_packets(object, "tx");
	printf("\n    %-20s ", "received");
	text_details_packets(object, "rx");
	printf(", %lld dropped\n", field_number(object, "rx_dropped"));
	if (!field_number(object, "afxdp_tx_packets") && !field_number(object, "afxdp_rx_packets"))
		return;
	printf("    %-20s ", "of these by AF_XDP");
	text_details_packets(object, "afxdp_tx");
	printf(" out, ");
	text_details_packets(object, "afxdp_rx");
	printf(" in\n");
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
	       field_is_true(slave, "active") ? ", active" : "");
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
	text_options_slave(bond, slave, true);
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
		       field_number(failover, "last_duration_us"), field_number(failover, "count"));
}

static void text_details_rebalance(const json_t *bond)
{
	const json_t *rebalance = json_object_get(bond, "rebalance");
	char text[256];
	int length;

	if (!json_is_object(rebalance))
		return;
	length = snprintf(text, sizeof(text),
			  "%lld buckets have moved by load, %lld wait for a pause, %lld "
			  "never paused",
			  field_number(rebalance, "moved"), field_number(rebalance, "waiting"),
			  field_number(rebalance, "given_up"));
	if (field_number(rebalance, "rounds"))
		snprintf(text + length, sizeof(text) - (size_t)length,
			 "; the last time was %lld s ago",
			 field_number(rebalance, "since_round_s"));
	text_details_item("rebalancing", text);
}

/* For a bond that exists but that this program cannot read. */
static void text_details_foreign(const json_t *bond)
{
	printf("%s: state unknown\n", field_text(bond, "name"));
	text_details_item("problem", field_text(bond, "problem"));
}

struct text_owner {
	long long pid;
	bool has_begun;
};

static void text_socket(const json_t *slave, const json_t *socket, struct text_owner *owner)
{
	const char *program = json_string_value(json_object_get(socket, "program"));

	if (field_number(socket, "pid") != owner->pid)
		return;
	if (owner->has_begun)
		printf(",");
	else if (owner->pid)
		printf("  AF_XDP sockets of %s (%lld):", program ? program : "?", owner->pid);
	else
		printf("  AF_XDP sockets:");
	owner->has_begun = true;
	printf(" %s queue %lld%s", field_text(slave, "name"), field_number(socket, "queue"),
	       field_is_true(socket, "zero_copy") ? " (zero copy)" : "");
}

static void text_sockets_of(const json_t *bond, long long pid)
{
	struct text_owner owner = { .pid = pid };
	const json_t *slave, *socket;
	size_t i, j;

	json_array_foreach (json_object_get(bond, "slaves"), i, slave)
		json_array_foreach (json_object_get(slave, "afxdp_sockets"), j, socket)
			text_socket(slave, socket, &owner);
	if (owner.has_begun)
		putchar('\n');
}

void text_sockets(const json_t *bond)
{
	const json_t *slave, *socket;
	long long last = -1, next;
	size_t i, j;

	do {
		next = -1;
		json_array_foreach (json_object_get(bond, "slaves"), i, slave)
			json_array_foreach (json_object_get(slave, "afxdp_sockets"), j, socket) {
				long long pid = field_number(socket, "pid");

				if (pid > last && (next < 0 || pid < next))
					next = pid;
			}
		if (next >= 0)
			text_sockets_of(bond, next);
		last = next;
	} while (next >= 0);
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
	if (json_is_string(json_object_get(bond, "problem")))
		text_details_item("problem", field_text(bond, "problem"));
	printf("    %-20s %s\n", "mac", field_text(bond, "mac"));
	text_details_active_slave(bond);
	text_details_failover(bond);
	if (json_is_string(json_object_get(bond, "policy")))
		printf("    %-20s %s\n", "policy", field_text(bond, "policy"));
	text_details_rebalance(bond);
	text_sockets(bond);
	json_array_foreach (json_object_get(bond, "awaited"), at, slave)
		if (json_is_string(slave))
			text_details_item(json_string_value(slave), VIEW_AWAITED);
	if (field_number(bond, "clients_refused"))
		printf("    %-20s %lld\n", "clients refused",
		       field_number(bond, "clients_refused"));
	text_lacp_bond(json_object_get(bond, "lacp"));
	text_options_bond(bond, seen->forced_counted, true);
	text_details_counters(bond);
	json_array_foreach (json_object_get(bond, "slaves"), at, slave)
		text_details_slave(bond, slave);
}
