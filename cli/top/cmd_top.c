/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top: rates of bonds and slaves, on a screen that follows them, or once. Reads the pinned maps
 * only, so it works without bondd.
 */
#include <errno.h>
#include <jansson.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/top/top.h"
#include "view/view_bond.h"
#include "view/view_field.h"

/* What `top --once -j` prints. Pure. */

static json_t *top_read_rate(const struct view_place *place)
{
	const struct top_series *series = place->at;

	return series->is_known ? view_member(place->field, series) : json_null();
}

static json_t *top_read_buckets(const struct view_place *place)
{
	const struct top_slave *slave = place->at;

	return slave->buckets == TOP_UNKNOWN ? json_null() : json_integer(slave->buckets);
}

static bool top_is_readable(const struct view_place *place)
{
	const struct top_bond *bond = place->at;

	return !bond->error.text[0];
}

static json_t *top_read_if_readable(const struct view_place *place)
{
	return top_is_readable(place) ? view_member(place->field, place->at) : json_null();
}

static json_t *top_read_problems(const struct view_place *place)
{
	return top_problems(place->at);
}

static json_t *top_read_hottest(const struct view_place *place)
{
	const struct top_bond *bond = place->at;

	return view_structs(place->field->table, bond->hot,
			    top_is_readable(place) ? bond->hot_count : 0, sizeof(*bond->hot));
}

static json_t *top_read_slaves_json(const struct view_place *place)
{
	const struct top_bond *bond = place->at;

	return view_structs(place->field->table, bond->slaves,
			    top_is_readable(place) ? bond->slave_count : 0, sizeof(*bond->slaves));
}

#define RATE(title, member, sentence)                                                 \
	{                                                                             \
		title, VIEW_REAL, sentence, VIEW_IN(struct top_series, rates.member), \
			.read = top_read_rate, .null = true                           \
	}

static const struct view_field top_fields_of_rates[] = {
	RATE("tx_bits_per_s", tx_bits, "What was sent."),
	RATE("rx_bits_per_s", rx_bits, "What was received."),
	RATE("tx_packets_per_s", tx_packets, "What was sent."),
	RATE("rx_packets_per_s", rx_packets, "What was received."),
	RATE("rx_dropped_per_s", rx_dropped, "Packets received, but not for the bond."),
	RATE("afxdp_tx_bits_per_s", afxdp_tx_bits, "Of the bits sent, those of AF_XDP."),
	RATE("afxdp_rx_bits_per_s", afxdp_rx_bits, "Of the bits received, those of AF_XDP."),
};

static const struct view_table top_table_of_rates = VIEW_TABLE("rates", top_fields_of_rates);

static const struct view_field top_fields_of_bucket[] = {
	{ "bucket", VIEW_COUNT, "Its number.", VIEW_IN(struct top_hot, bucket),
	  .max = XBOND_BUCKETS - 1 },
	{ "slave", VIEW_TEXT, "Its slave.", VIEW_IN(struct top_hot, slave), .null = true },
	{ "tx_bits_per_s", VIEW_REAL, "What it sends.", VIEW_IN(struct top_hot, tx_bits) },
};

static const struct view_table top_table_of_bucket = VIEW_TABLE("bucket", top_fields_of_bucket);

#define OF_SLAVE(member) VIEW_IN(struct top_slave, member)

static const struct view_field top_fields_of_slave[] = {
	{ "name", VIEW_TEXT, "The name of the device.", OF_SLAVE(name) },
	{ "mii_status", VIEW_WORD, "Its link, as in SHOW.", OF_SLAVE(link), .word = view_link_word,
	  .null = true },
	{ "active", VIEW_TRUTH, "Is the slave in use for transmission?", OF_SLAVE(is_active) },
	{ "drain", VIEW_TRUTH, "The option *drain*.", OF_SLAVE(is_drained) },
	{ "mux_state", VIEW_STRING,
	  "The state of its Mux machine, as in SHOW; null if the mode is not 802.3ad.",
	  OF_SLAVE(lacp), .word = lacp_mux_name, .null = true },
	{ "share", VIEW_REAL,
	  "The part of the bytes that the bond has transmitted in the interval, 0 to 1; null if "
	  "there were none.",
	  OF_SLAVE(share), .null = true, .max = 1 },
	{ "share_due", VIEW_REAL, "The part that its weight says it should carry.", OF_SLAVE(due),
	  .max = 1 },
	{ "buckets", VIEW_COUNT,
	  "How many buckets of the hash are its; null in modes that do not hash.",
	  .read = top_read_buckets, .null = true, .max = XBOND_BUCKETS },
	{ "why", VIEW_TEXT, "Why it is not in use, as in SHOW.", OF_SLAVE(why), .null = true },
	{ "problem", VIEW_TEXT, "What is wrong with its device, as in SHOW.", OF_SLAVE(problem),
	  .null = true },
	{ .type = VIEW_FIELDS, OF_SLAVE(series), .table = &top_table_of_rates },
};

static const struct view_table top_table_of_slave = VIEW_TABLE("slave", top_fields_of_slave);

#define OF_BOND(member) VIEW_IN(struct top_bond, member)

static const struct view_field top_fields_of_bond[] = {
	{ "name", VIEW_TEXT, "The name of its device.", OF_BOND(name) },
	{ "mode", VIEW_STRING, "Its mode.", OF_BOND(mode), .read = top_read_if_readable,
	  .word = view_mode_word, .null = true },
	{ "carrier", VIEW_TRUTH, "Does the bond have carrier?", OF_BOND(has_carrier),
	  .read = top_read_if_readable, .null = true },
	{ "bondd", VIEW_TRUTH, "Is bondd running, and does it answer?", OF_BOND(has_bondd),
	  .read = top_read_if_readable, .null = true },
	{ "problems", VIEW_WORDS, "What is wrong with it, in sentences.",
	  .read = top_read_problems },
	{ .type = VIEW_FIELDS, OF_BOND(series), .table = &top_table_of_rates },
	{ "hottest", VIEW_ARRAY,
	  "Up to six buckets that send most. Empty while flows do not move by load "
	  "(*rebalance_interval*, *tlb_dynamic_lb*).",
	  .read = top_read_hottest, .table = &top_table_of_bucket },
	{ "slaves", VIEW_ARRAY, "Its slaves.", .read = top_read_slaves_json,
	  .table = &top_table_of_slave },
};

const struct view_table top_json = VIEW_TABLE("bond", top_fields_of_bond);

/* All columns but the sparklines fit in it, with the longest names. */
#define ONCE_CELLS 80

static void top_once_wait(unsigned int interval_ms)
{
	struct timespec left = { .tv_sec = interval_ms / 1000,
				 .tv_nsec = (long)(interval_ms % 1000) * 1000000 };

	nanosleep(&left, NULL);
}

static void top_once_print_line(const struct top_line *line)
{
	size_t length = line->length;

	while (length && line->text[length - 1] == ' ')
		length--;
	printf("%.*s\n", (int)length, line->text);
}

static void top_once_print_problems(const struct top_bond *bond)
{
	json_t *lines = top_problems(bond), *line;
	struct top_line name = { 0 };
	size_t at;

	top_line_add_some(&name, bond->name, XBOND_NAME_SIZE);
	json_array_foreach (lines, at, line)
		printf("%s: %s\n", name.text, json_string_value(line));
	json_decref(lines);
}

static void top_once_print_hottest(const struct top_bond *bond)
{
	struct top_line name = { 0 };
	char text[TOP_WORDS];

	top_hot_words(bond, text, sizeof(text));
	top_line_add_some(&name, bond->name, XBOND_NAME_SIZE);
	if (*text)
		printf("%s: %s\n", name.text, text);
}

static void top_once_print(const struct top *top, const struct top_rows *rows)
{
	struct top_table table = { 0 };
	struct top_line line;

	top_table_fit(&table, rows, ONCE_CELLS, false);
	top_table_head(&table, &line);
	top_once_print_line(&line);
	for (size_t i = 0; i < rows->count; i++) {
		top_table_row(&table, &rows->row[i], &line);
		top_once_print_line(&line);
	}
	for (size_t i = 0; i < top->bond_count; i++)
		top_once_print_problems(top->bonds[i]);
	for (size_t i = 0; i < top->bond_count; i++)
		if (!top->bonds[i]->error.text[0])
			top_once_print_hottest(top->bonds[i]);
}

static enum cli_exit top_once_print_text(const struct top *top)
{
	struct top_rows rows = { 0 };

	top_rows_make(&rows, top, TOP_BY_NAME, NULL);
	top_once_print(top, &rows);
	top_rows_free(&rows);
	return CLI_DONE;
}

static enum cli_exit top_once_print_json(const struct top *top)
{
	json_t *bonds;

	if (top->only)
		return cli_print_json(view_struct(&top_json, top->bonds[0]));
	bonds = json_array();
	for (size_t i = 0; i < top->bond_count; i++)
		json_array_append_new(bonds, view_struct(&top_json, top->bonds[i]));
	return cli_print_json(bonds);
}

/* The bonds have been read once. */
static enum cli_exit top_once(const struct cli *cli, struct top *top, unsigned int interval_ms)
{
	struct err err;

	top_once_wait(interval_ms);
	if (top_read(top, &err))
		return cli_refuse(&err);
	return cli->json ? top_once_print_json(top) : top_once_print_text(top);
}

/* The call. */

#define INTERVAL_MIN_MS 100
#define INTERVAL_MAX_MS 3600000

static enum cli_exit top_take_interval(const struct cli *cli, const struct verb *verb,
				       unsigned int *ret_ms)
{
	const char *text = cli_flag(cli, verb, "--interval");
	double seconds;
	char *end;

	*ret_ms = 1000;
	if (!text)
		return CLI_DONE;
	seconds = strtod(text, &end);
	if (*end || end == text || !(seconds * 1000 >= INTERVAL_MIN_MS) ||
	    seconds * 1000 > INTERVAL_MAX_MS)
		return cli_usage(verb, "--interval takes seconds, 0.1 to 3600, not '%s'", text);
	*ret_ms = (unsigned int)(seconds * 1000 + 0.5);
	return CLI_DONE;
}

/* A user who may read none of the bonds gets the reason instead of a screen that repeats it. */
static const struct err *top_refusal(const struct top *top)
{
	for (size_t i = 0; i < top->bond_count; i++)
		if (top->bonds[i]->error_code != -EPERM && top->bonds[i]->error_code != -EACCES)
			return NULL;
	return top->bond_count ? &top->bonds[0]->error : NULL;
}

static enum cli_exit top_check_call(const struct cli *cli, const struct verb *verb)
{
	bool is_once = cli_flag(cli, verb, "--once");

	if (cli->json && !is_once)
		return cli_usage(verb, "-j needs --once");
	if (is_once || (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)))
		return CLI_DONE;
	cli_say("top needs a terminal; use 'bondctl top --once'");
	return CLI_REFUSED;
}

static enum cli_exit top_run(const struct cli *cli, const struct verb *verb, struct top *top,
			     unsigned int interval_ms)
{
	struct err err;

	if (top_read(top, &err))
		return cli_refuse(&err);
	if (top_refusal(top))
		return cli_refuse(top_refusal(top));
	if (cli_flag(cli, verb, "--once"))
		return top_once(cli, top, interval_ms);
	return top_screen(cli, top, interval_ms);
}

enum cli_exit cmd_top(const struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	struct top top = { .bpf_dir = cli->paths.bpf_dir,
			   .run_dir = cli->paths.run_dir,
			   .only = argc ? argv[0] : NULL };
	unsigned int interval_ms;
	enum cli_exit status;

	setlocale(LC_CTYPE, "");
	status = top_take_interval(cli, verb, &interval_ms);
	if (status == CLI_DONE)
		status = top_check_call(cli, verb);
	if (status == CLI_DONE)
		status = top_run(cli, verb, &top, interval_ms);
	top_close(&top);
	return status;
}
