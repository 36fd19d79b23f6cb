/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints the `lacp` objects for people. The line about what the port does, and
 * why it does no more, comes first. Knows nothing of maps and machines.
 */
#include "cli/show/text_lacp.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/base/fields.h"

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

void text_lacp_bond(const json_t *lacp)
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
		     : "   (asked for by lacp_hold, because the partner does)");
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
	if (!json_integer_value(json_object_get(lacp, "stranger_rx")))
		return;
	text_lacp_begin_line("strangers");
	text_lacp_print_field(lacp, "", "stranger_rx");
	puts(" LACPDUs ignored, which were not from lacp_partner");
}

void text_lacp_slave(const json_t *lacp)
{
	if (!lacp)
		return;
	text_lacp_begin_line("lacp");
	puts(field_text(lacp, "why"));
	text_lacp_print_port(lacp);
	text_lacp_print_flags(lacp, "actor state", "actor_state");
	text_lacp_print_partner(lacp);
	text_lacp_print_churn(lacp, "churn_actor", "this port has not got in sync for a minute");
	text_lacp_print_churn(lacp, "churn_partner",
			      "the partner's port has not got in sync for a minute");
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
