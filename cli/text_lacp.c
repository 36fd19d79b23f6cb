/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints the `lacp` objects for people. Called by text.c. The line about what the port does, and
 * why it does no more, comes first. Knows nothing of maps and machines.
 */
#include "cli/text_lacp.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static void print_value(const json_t *value)
{
	if (json_is_integer(value))
		printf("%lld", json_integer_value(value));
	else
		printf("%s", json_is_string(value) ? json_string_value(value) : "unknown");
}

static void begin_line(const char *label)
{
	printf("    %-20s ", label);
}

/* Prints "WORDSvalue", where WORDS is everything between this value and the one before. */
static void print_field(const json_t *lacp, const char *words, const char *key)
{
	fputs(words, stdout);
	print_value(json_object_get(lacp, key));
}

static bool is_known(const json_t *lacp, const char *key)
{
	return !json_is_null(json_object_get(lacp, key));
}

static void print_flags(const json_t *lacp, const char *label, const char *key)
{
	const json_t *flags = json_object_get(lacp, key), *flag;
	size_t at;

	begin_line(label);
	json_array_foreach (flags, at, flag)
		printf("%s%s", at ? ", " : "", json_string_value(flag));
	puts(json_array_size(flags) ? "" : "none");
}

static void print_aggregator(const json_t *lacp)
{
	begin_line("aggregator");
	if (is_known(lacp, "active_aggregator")) {
		print_field(lacp, "", "active_aggregator");
		print_field(lacp, ", selected ports: ", "num_ports");
	} else {
		fputs("none", stdout);
	}
	putchar('\n');
}

static bool same(const json_t *lacp, const char *key, const char *other)
{
	return json_equal(json_object_get(lacp, key), json_object_get(lacp, other));
}

void text_lacp_bond(const json_t *lacp)
{
	if (!lacp)
		return;
	print_aggregator(lacp);
	begin_line("actor");
	print_field(lacp, "system ", "actor_system");
	print_field(lacp, ", priority ", "actor_sys_prio");
	print_field(lacp, ", key ", "actor_key");
	putchar('\n');
	begin_line("partner");
	print_field(lacp, is_known(lacp, "partner_system") ? "system " : "", "partner_system");
	if (is_known(lacp, "partner_system")) {
		print_field(lacp, ", priority ", "partner_sys_prio");
		print_field(lacp, ", key ", "partner_key");
	}
	putchar('\n');
	begin_line("rate in force");
	print_field(lacp, "", "rate_effective");
	puts(same(lacp, "rate", "rate_effective")
		     ? ""
		     : "   (asked for by lacp_hold, because the partner does)");
}

static void print_port(const json_t *lacp)
{
	begin_line("port");
	print_field(lacp, "number ", "port_number");
	print_field(lacp, ", priority ", "port_prio");
	if (is_known(lacp, "aggregator_id"))
		print_field(lacp, ", aggregator ", "aggregator_id");
	print_field(lacp, ", ", "selected");
	print_field(lacp, "; receive ", "rx_state");
	print_field(lacp, ", mux ", "mux_state");
	putchar('\n');
}

static void print_partner(const json_t *lacp)
{
	if (!is_known(lacp, "partner_system"))
		return;
	begin_line("partner");
	print_field(lacp, "system ", "partner_system");
	print_field(lacp, ", port ", "partner_port");
	print_field(lacp, ", key ", "partner_key");
	putchar('\n');
	print_flags(lacp, "partner state", "partner_state");
}

/* Prints only counters that show a problem. */
static void print_churn(const json_t *lacp, const char *key, const char *line)
{
	const char *state = json_string_value(json_object_get(lacp, key));

	if (state && !strcmp(state, "churned"))
		printf("    %-20s %s\n", "churn", line);
}

static void print_strangers(const json_t *lacp)
{
	if (!json_integer_value(json_object_get(lacp, "stranger_rx")))
		return;
	begin_line("strangers");
	print_field(lacp, "", "stranger_rx");
	puts(" LACPDUs ignored, which were not from lacp_partner");
}

void text_lacp_slave(const json_t *lacp)
{
	if (!lacp)
		return;
	begin_line("lacp");
	print_field(lacp, "", "why");
	putchar('\n');
	print_port(lacp);
	print_flags(lacp, "actor state", "actor_state");
	print_partner(lacp);
	print_churn(lacp, "churn_actor", "this port has not got in sync for a minute");
	print_churn(lacp, "churn_partner", "the partner's port has not got in sync for a minute");
	begin_line("lacpdus");
	print_field(lacp, "", "lacpdu_rx");
	print_field(lacp, " received, ", "lacpdu_tx");
	print_field(lacp, " sent, ", "illegal_rx");
	print_field(lacp, " illegal; markers: ", "marker_rx");
	print_field(lacp, " received, ", "marker_tx");
	puts(" sent");
	print_strangers(lacp);
}
