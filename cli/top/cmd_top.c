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
#include "view/view_json.h"

/* What `top --once -j` prints (docs/json/top.schema.json). Pure. */

static void top_json_set_rates(json_t *json, const struct top_series *series)
{
	const struct {
		const char *name;
		double rate;
	} rates[] = {
		{ "tx_bits_per_s", series->rates.tx_bits },
		{ "rx_bits_per_s", series->rates.rx_bits },
		{ "tx_packets_per_s", series->rates.tx_packets },
		{ "rx_packets_per_s", series->rates.rx_packets },
		{ "rx_dropped_per_s", series->rates.rx_dropped },
		{ "afxdp_tx_bits_per_s", series->rates.afxdp_tx_bits },
		{ "afxdp_rx_bits_per_s", series->rates.afxdp_rx_bits },
	};

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		json_object_set_new(json, rates[i].name,
				    series->is_known ? json_real(rates[i].rate) : json_null());
}

static json_t *top_json_share(double share)
{
	return share < 0 ? json_null() : json_real(share);
}

static json_t *top_json_slave(const struct top_bond *bond, const struct top_slave *slave)
{
	json_t *json = json_object();

	json_object_set_new(json, "name", json_value_text(slave->name));
	json_object_set_new(json, "mii_status", json_pack("s?", view_link_word(slave->link)));
	json_object_set_new(json, "active", json_boolean(slave->is_active));
	json_object_set_new(json, "drain", json_boolean(slave->is_drained));
	json_object_set_new(json, "mux_state",
			    slave->lacp ? json_string(slave->lacp) : json_null());
	json_object_set_new(json, "share", top_json_share(top_share(bond, slave)));
	json_object_set_new(json, "share_due", json_real(slave->due));
	json_object_set_new(json, "buckets",
			    slave->buckets == TOP_UNKNOWN ? json_null()
							  : json_integer(slave->buckets));
	json_object_set_new(json, "why", json_value_text(slave->why));
	json_object_set_new(json, "problem", json_value_text(slave->problem));
	top_json_set_rates(json, &slave->series);
	return json;
}

static json_t *top_json_slaves(const struct top_bond *bond)
{
	json_t *slaves = json_array();

	for (size_t i = 0; i < bond->slave_count; i++)
		json_array_append_new(slaves, top_json_slave(bond, &bond->slaves[i]));
	return slaves;
}

static json_t *top_json_hottest(const struct top_bond *bond)
{
	json_t *hottest = json_array();

	for (size_t i = 0; i < bond->hot_count; i++)
		json_array_append_new(
			hottest,
			json_pack("{s:i, s:o, s:f}", "bucket", (int)bond->hot[i].bucket, "slave",
				  json_value_text(bond->pins.slaves[bond->hot[i].slot].name),
				  "tx_bits_per_s", bond->hot[i].tx_bits));
	return hottest;
}

/* A new reference. */
static json_t *top_json(const struct top_bond *bond)
{
	bool is_readable = !bond->error.text[0];
	json_t *json = json_object();

	json_object_set_new(json, "name", json_value_text(bond->name));
	json_object_set_new(json, "mode", is_readable ? json_string(bond->mode) : json_null());
	json_object_set_new(json, "carrier",
			    is_readable ? json_boolean(bond->has_carrier) : json_null());
	json_object_set_new(json, "bondd",
			    is_readable ? json_boolean(bond->has_bondd) : json_null());
	json_object_set_new(json, "problems", top_problems(bond));
	top_json_set_rates(json, &bond->series);
	json_object_set_new(json, "hottest", is_readable ? top_json_hottest(bond) : json_array());
	json_object_set_new(json, "slaves", is_readable ? top_json_slaves(bond) : json_array());
	return json;
}

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
		return cli_print_json(top_json(top->bonds[0]));
	bonds = json_array();
	for (size_t i = 0; i < top->bond_count; i++)
		json_array_append_new(bonds, top_json(top->bonds[i]));
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
