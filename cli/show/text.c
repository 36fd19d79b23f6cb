/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * show without --details. Called by cmd_show.c. Scripts must not read this text, because it may
 * change. Knows nothing of maps.
 */
#include "cli/show/text.h"

#include <stdio.h>
#include <string.h>

#include "bpf/abi.h"
#include "cli/base/fields.h"
#include "cli/base/news.h"
#include "cli/base/terminal.h"
#include "cli/show/kernel_words.h"
#include "cli/show/text_options.h"

static size_t text_used_slaves(const json_t *bond)
{
	const json_t *slave;
	size_t used = 0, at;

	json_array_foreach (json_object_get(bond, "slaves"), at, slave)
		used += field_is_true(slave, "active");
	return used;
}

static void text_print_speed(const json_t *bond)
{
	long long mbps = field_number(bond, "speed_mbps");

	if (mbps >= 1000)
		printf(", %g Gbit/s", (double)mbps / 1000);
	else if (mbps)
		printf(", %lld Mbit/s", mbps);
}

static void text_print_all_used(void)
{
	printf(", ");
	style_print(STYLE_GOOD, 0, "all slaves in use");
}

/* "2 of 3 slaves in use", or the active slave. all_is_well: no more will be said. */
static void text_print_use(const json_t *bond, bool all_is_well)
{
	const char *active = field_text_or(bond, "active_slave", NULL);
	size_t count = json_array_size(json_object_get(bond, "slaves"));

	if (!count)
		printf(", no slaves");
	else if (kernel_is_mode(bond, XBOND_MODE_ACTIVE_BACKUP) && active)
		printf(", active slave %s of %zu", active, count);
	else if (all_is_well && text_used_slaves(bond) == count)
		text_print_all_used();
	else
		printf(", %zu of %zu slave%s in use", text_used_slaves(bond), count,
		       count == 1 ? "" : "s");
}

static void text_print_headline(const struct seen *seen, bool all_is_well)
{
	const json_t *bond = seen->view;
	bool is_up = field_is_true(bond, "carrier") && !seen->is_down;

	style_print(STYLE_NAME, 0, field_text(bond, "name"));
	if (json_is_null(json_object_get(bond, "options"))) {
		printf(": state unknown\n");
		return;
	}
	printf(": %s, ", field_text(bond, "mode"));
	style_print(is_up ? STYLE_GOOD : STYLE_BAD, 0, is_up ? "up" : "down");
	text_print_speed(bond);
	text_print_use(bond, all_is_well);
	printf("\n");
}

static void text_print_news(const json_t *news)
{
	const json_t *text;
	size_t at;

	json_array_foreach (news, at, text) {
		printf("  ");
		style_print(STYLE_BAD, 0, json_string_value(text));
		printf("\n");
	}
}

static void text_print_going_back(const struct seen *seen)
{
	const char *name = field_text(seen->view, "name");

	if (seen->back_in_s)
		printf("  will be rolled back in %u s; 'bondctl confirm %s' keeps it\n",
		       seen->back_in_s, name);
}

static void text_print_lacp(const json_t *lacp)
{
	if (!lacp || json_is_null(json_object_get(lacp, "partner_system")))
		return;
	printf("  partner %s, key %lld, on %lld port%s of aggregator %lld\n",
	       field_text(lacp, "partner_system"), field_number(lacp, "partner_key"),
	       field_number(lacp, "num_ports"), field_number(lacp, "num_ports") == 1 ? "" : "s",
	       field_number(lacp, "active_aggregator"));
}

static void text_print_failovers(const json_t *bond)
{
	const json_t *failover = json_object_get(bond, "failover");
	long long count = field_number(failover, "count");

	if (count)
		printf("  %lld failover%s; the last took %lld us\n", count, count == 1 ? "" : "s",
		       field_number(failover, "last_us"));
}

/* Columns of the table. 80 columns are enough for a name of 15 characters. */
enum {
	STATE_WIDTH = 11,
	SPEED_WIDTH = 6,
	ROLE_WIDTH = 9,
	WEIGHT_WIDTH = 6,
	COUNT_WIDTH = 6,
	SHARE_WIDTH = 5,
};

static int text_name_width(const json_t *slaves)
{
	int width = (int)strlen("SLAVE");
	const json_t *slave;
	size_t at;

	json_array_foreach (slaves, at, slave)
		if ((int)strlen(field_text(slave, "name")) > width)
			width = (int)strlen(field_text(slave, "name"));
	return width;
}

static void text_print_head(int width)
{
	char line[128];

	snprintf(line, sizeof(line), "  %-*s %-*s%-*s%-*s%*s%*s%*s%*s%*s%*s", width, "SLAVE",
		 STATE_WIDTH, "STATE", SPEED_WIDTH, "bit/s", ROLE_WIDTH, "ROLE", WEIGHT_WIDTH,
		 "WEIGHT", COUNT_WIDTH, "OUT B", SHARE_WIDTH, "%", COUNT_WIDTH, "IN B", COUNT_WIDTH,
		 "DROPS", COUNT_WIDTH, "FAILS");
	style_print(STYLE_FAINT, 0, line);
	printf("\n");
}

static void text_print_number(const json_t *slave, const char *key)
{
	char text[UNITS_SIZE];

	printf("%*s", COUNT_WIDTH,
	       units_format((unsigned long long)field_number(slave, key), text));
}

/* Of the bytes that the slaves which are there have sent. */
static void text_print_share(double bytes, double all)
{
	char text[16] = "-";

	if (all > 0 && bytes >= 0 && bytes <= all)
		snprintf(text, sizeof(text), "%.0f", 100 * bytes / all);
	printf("%*s", SHARE_WIDTH, text);
}

static void text_print_state(const json_t *slave)
{
	const char *link = news_link(slave);

	style_print(strcmp(link, "up") ? STYLE_BAD : STYLE_GOOD, STATE_WIDTH, link);
}

static void text_print_row(const json_t *bond, const json_t *slave, int width, double all_bytes)
{
	long long mbps = field_number(slave, "speed_mbps");
	char speed[UNITS_SIZE] = "?", weight[OPTION_TEXT_SIZE];

	if (mbps)
		units_format((unsigned long long)mbps * 1000000, speed);
	field_option_text(json_object_get(json_object_get(slave, "options"), "weight"), weight,
			  sizeof(weight));
	printf("  ");
	style_print(STYLE_PLAIN, width + 1, field_text(slave, "name"));
	text_print_state(slave);
	printf("%-*s", SPEED_WIDTH, speed);
	style_print(news_is_unused(bond, slave) ? STYLE_BAD : STYLE_PLAIN, ROLE_WIDTH,
		    news_role(bond, slave));
	printf("%*s", WEIGHT_WIDTH, weight);
	text_print_number(slave, "tx_bytes");
	text_print_share((double)field_number(slave, "tx_bytes"), all_bytes);
	text_print_number(slave, "rx_bytes");
	text_print_number(slave, "rx_dropped");
	text_print_number(slave, "link_failures");
	printf("\n");
}

static void text_print_table(const json_t *bond)
{
	const json_t *slaves = json_object_get(bond, "slaves"), *slave;
	int width = text_name_width(slaves);
	double bytes = 0;
	size_t at;

	if (!json_array_size(slaves))
		return;
	json_array_foreach (slaves, at, slave)
		bytes += (double)field_number(slave, "tx_bytes");
	text_print_head(width);
	json_array_foreach (slaves, at, slave)
		text_print_row(bond, slave, width, bytes);
}

void text_bond(const struct seen *seen)
{
	const json_t *bond = seen->view;
	json_t *news = news_bad(bond, seen->is_down, seen->bondd);
	const json_t *slave;
	size_t at;

	text_print_headline(seen, json_array_size(news) == 0);
	text_print_news(news);
	json_decref(news);
	text_print_going_back(seen);
	if (json_is_null(json_object_get(bond, "options")))
		return;
	printf("  mac %s, mtu %lld\n", field_text(bond, "mac"), field_number(bond, "mtu"));
	text_print_lacp(json_object_get(bond, "lacp"));
	text_print_failovers(bond);
	if (json_is_string(json_object_get(bond, "policy")))
		printf("  policy %s\n", field_text(bond, "policy"));
	text_options_bond(bond, seen->forced_counted);
	text_print_table(bond);
	json_array_foreach (json_object_get(bond, "slaves"), at, slave)
		text_options_slave(bond, slave);
}
