/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * show without --details, and stats. Scripts must not read this text, because it may change. Knows
 * nothing of maps.
 */
#include <stdio.h>
#include <string.h>

#include "bpf/abi.h"
#include "cli/base/picture.h"
#include "cli/base/print.h"
#include "cli/show/show.h"
#include "common/mode.h"
#include "common/readings.h"

/* Options */

#define NOTE_SIZE 128

static bool text_option_is_default(const struct option_spec *option, const char *text)
{
	struct option_value value;

	return !option_parse(option, text, &value, NULL) && option_is_default(option, &value);
}

/* How the options of one bond are printed. */
struct manner {
	uint32_t mode;
	bool lacp_rr; /* lacp_tx balance-rr */
	bool flowlets;
	char counted[NOTE_SIZE - 16]; /* why `path direct` is not in force; "": it may be */
	char device[NOTE_SIZE - 16];  /* what the bond is made of, and why; "" if that is unknown */
	const char *lead; /* before the first, if only some are printed; NULL: all, one a line */
	int column;	  /* how far the line is printed */
};

/* Why the option has no effect; NULL if it has one. */
static const char *text_option_idle(const struct option_spec *option, const struct manner *manner)
{
	if (!option_has_effect(option, manner->mode))
		return "no effect in this mode";
	if (option->id == OPT_REBALANCE_INTERVAL && manner->flowlets)
		return "no effect with flowlet_gap";
	if (!mode_has(manner->mode, MODE_LACP))
		return NULL;
	if (option->needs == MODE_TURNS && !manner->lacp_rr)
		return "no effect with lacp_tx hash";
	if (option->effect == MODE_HASH && manner->lacp_rr)
		return "no effect with lacp_tx balance-rr";
	return NULL;
}

/* What must be said of the value; "" if nothing. */
static const char *text_option_note(const struct option_spec *option, const char *text,
				    const struct manner *manner)
{
	const char *idle = text_option_idle(option, manner);

	if (option->id == OPT_PATH && *manner->counted && !strcmp(text, "direct"))
		return manner->counted;
	if (option->id == OPT_DEVICE && *manner->device && strcmp(text, manner->device))
		return manner->device;
	return idle ? idle : "";
}

/* "lead NAME VALUE (NOTE), NAME VALUE", broken before TEXT_WIDTH. */
static void text_option_append(struct manner *manner, const char *name, const char *text,
			       const char *note)
{
	char item[OPTION_TEXT_SIZE + NOTE_SIZE];
	int length = snprintf(item, sizeof(item), "%s %s%s%s%s", name, text, *note ? " (" : "",
			      note, *note ? ")" : "");

	if (manner->column && manner->column + 2 + length + 1 > TEXT_WIDTH) {
		printf(",\n");
		manner->column = printf("    ");
	} else if (manner->column) {
		manner->column += printf(", ");
	} else {
		manner->column = printf("  %s ", manner->lead);
	}
	printf("%s", item);
	manner->column += length;
}

static void text_option_print(const struct option_spec *option, const json_t *value,
			      struct manner *manner)
{
	char text[OPTION_TEXT_SIZE];
	const char *note;
	bool is_default;

	field_option_text(value, text, sizeof(text));
	is_default = text_option_is_default(option, text);
	note = text_option_note(option, text, manner);
	if (is_default && (manner->lead || text_option_idle(option, manner)))
		return;
	if (manner->lead) {
		text_option_append(manner, option->name, text, note);
		return;
	}
	printf("    %-20s %s%s%s%s\n", option->name, text, *note ? "   (" : "", note,
	       *note ? ")" : "");
}

/* What stands elsewhere is left out. */
static bool text_option_is_shown(const struct option_spec *option, enum option_scope scope)
{
	return option->scope == scope && option->id != OPT_MODE && option->id != OPT_ACTIVE_SLAVE &&
	       !option->is_alias;
}

static void text_options_print(const json_t *options, enum option_scope scope, struct manner manner)
{
	for (unsigned int id = 0; id < OPT_COUNT; id++) {
		const struct option_spec *option = option_at(id);
		const json_t *value = json_object_get(options, option->name);

		if (value && text_option_is_shown(option, scope) &&
		    !(manner.lead && id == OPT_WEIGHT))
			text_option_print(option, value, &manner);
	}
	if (manner.column)
		printf("\n");
}

static struct manner text_options_manner(const json_t *bond, const char *lead)
{
	return (struct manner){
		.mode = field_option_number(bond, "mode"),
		.flowlets = field_option_number(bond, "flowlet_gap") > 0,
		.lacp_rr = field_option_number(bond, "lacp_tx") == XBOND_LACP_TX_BALANCE_RR,
		.lead = lead,
	};
}

void text_options_bond(const json_t *bond, bool forced_counted, bool all)
{
	struct manner manner = text_options_manner(bond, all ? NULL : "options");
	const char *option = field_text_or(bond, "device_for", NULL);

	snprintf(manner.device, sizeof(manner.device), "%s%s%s", field_text_or(bond, "device", ""),
		 option ? ", for " : "", option ? option : "");
	if (forced_counted)
		snprintf(manner.counted, sizeof(manner.counted), "counted for now: %s",
			 counted_why_now(field_text(bond, "name")));
	text_options_print(json_object_get(bond, "options"), OPTION_BOND, manner);
}

void text_options_slave(const json_t *bond, const json_t *slave, bool all)
{
	char lead[64];

	snprintf(lead, sizeof(lead), "options of %s:", field_text(slave, "name"));
	text_options_print(json_object_get(slave, "options"), OPTION_SLAVE,
			   text_options_manner(bond, all ? NULL : lead));
}

/* The table */

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
		       field_number(failover, "last_duration_us"));
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
	text_sockets(bond);
	text_options_bond(bond, seen->forced_counted, false);
	text_print_table(bond);
	json_array_foreach (json_object_get(bond, "slaves"), at, slave)
		text_options_slave(bond, slave, false);
}

/* Counters, of `stats` */

#define INDENT "  "

static const char *const columns[] = { "tx_packets", "tx_bytes", "rx_packets", "rx_bytes",
				       "rx_dropped" };
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* As narrow as the numbers allow, so that all but very large ones take 80 columns. */
struct widths {
	int name;
	int column[COLUMNS];
};

static void text_stats_widen(struct widths *widths, const char *indent, const json_t *stats)
{
	const json_t *counters = json_object_get(stats, "counters");
	int length = (int)(strlen(indent) + strlen(field_text(stats, "name")));

	if (widths->name < length)
		widths->name = length;
	for (size_t i = 0; i < COLUMNS; i++) {
		length = snprintf(NULL, 0, "%lld", field_number(counters, columns[i]));
		if (widths->column[i] < length)
			widths->column[i] = length;
	}
}

static struct widths text_stats_widths(const json_t *stats)
{
	struct widths widths = { 0 };
	const json_t *slave;
	size_t at;

	for (size_t i = 0; i < COLUMNS; i++)
		widths.column[i] = (int)strlen(columns[i]);
	text_stats_widen(&widths, "", stats);
	json_array_foreach (json_object_get(stats, "slaves"), at, slave)
		text_stats_widen(&widths, INDENT, slave);
	return widths;
}

static void text_stats_head(const struct widths *widths)
{
	printf("%*s", widths->name, "");
	for (size_t i = 0; i < COLUMNS; i++)
		printf("  %*s", widths->column[i], columns[i]);
	putchar('\n');
}

static void text_stats_row(const struct widths *widths, const char *indent, const json_t *stats)
{
	const json_t *counters = json_object_get(stats, "counters");

	printf("%s%-*s", indent, widths->name - (int)strlen(indent), field_text(stats, "name"));
	for (size_t i = 0; i < COLUMNS; i++)
		printf("  %*lld", widths->column[i], field_number(counters, columns[i]));
	putchar('\n');
}

/* What has been dropped, in words: a line for each reason that there was. */
static void text_stats_drops(const char *indent, const json_t *stats)
{
	const json_t *drops = json_object_get(stats, "drops");

	for (unsigned int i = 0; i < XBOND_DROPS; i++) {
		long long packets = field_number(drops, drops_name(i));

		if (packets)
			printf("%s  dropped %lld: %s\n", indent, packets, drops_words(i));
	}
}

static void text_stats_afxdp(const char *indent, const json_t *stats)
{
	const json_t *counters = json_object_get(stats, "counters");
	long long sent = field_number(counters, "afxdp_tx_packets");
	long long received = field_number(counters, "afxdp_rx_packets");

	if (sent || received)
		printf("%s  by AF_XDP %lld (%lld bytes) out, %lld (%lld bytes) in\n", indent, sent,
		       field_number(counters, "afxdp_tx_bytes"), received,
		       field_number(counters, "afxdp_rx_bytes"));
}

void text_stats(const json_t *stats)
{
	struct widths widths = text_stats_widths(stats);
	const json_t *slave;
	size_t at;

	text_stats_head(&widths);
	text_stats_row(&widths, "", stats);
	text_stats_afxdp("", stats);
	text_stats_drops("", stats);
	json_array_foreach (json_object_get(stats, "slaves"), at, slave) {
		text_stats_row(&widths, INDENT, slave);
		text_stats_afxdp(INDENT, slave);
		text_stats_drops(INDENT, slave);
	}
}
