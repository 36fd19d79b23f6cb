/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of top that know no maps and no screen: rates, sparklines, order, lines, keys. */
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "cli/top/top.h"
#include "common/clock.h"
#include "common/readings.h"
#include "tests/unit/unit.h"

#define SECOND UINT64_C(1000000000)

static struct top_slave of_a[2], of_b[10];
static struct top_bond a = { .name = "a", .slaves = of_a, .slave_count = 2 };
static struct top_bond b = { .name = "b", .slaves = of_b, .slave_count = 10 };
static struct top_bond *bonds[] = { &b, &a };
static struct top top = { .bonds = bonds, .bond_count = 2 };

static void set_rate(struct top_series *series, double rate)
{
	top_series_push(series, &(struct top_rates){ .tx_bits = rate, .rx_dropped = 10 - rate });
}

static void fill(struct top_bond *bond)
{
	bond->mode = "802.3ad";
	json_decref(bond->problems);
	bond->problems = json_array();
	bond->has_carrier = bond->has_bondd = true;
	bond->error.text[0] = '\0';
	bond->series = (struct top_series){ 0 };
	for (unsigned int i = 0; i < bond->slave_count; i++) {
		struct top_slave *slave = &bond->slaves[i];

		*slave = (struct top_slave){
			.slot = i, .link = XBOND_LINK_UP, .is_active = true, .state = "in use"
		};
		snprintf(slave->name, sizeof(slave->name), "eth%u", i);
		slave->lacp = "collecting_distributing";
		set_rate(&slave->series, i);
	}
}

static int reset(void **state)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	fill(&a);
	fill(&b);
	return 0;
}

static struct xbond_counters afxdp;

TEST(rates_are_differences_in_time)
{
	struct top_series series = { 0 };
	struct xbond_counters counters = { .tx_packets = 1000,
					   .tx_bytes = 1000,
					   .rx_packets = 1000,
					   .rx_bytes = 1000,
					   .rx_dropped = 1000 };

	top_series_read(&series, &counters, &afxdp, 5 * SECOND);
	assert_false(series.is_known);
	counters = (struct xbond_counters){ .tx_packets = 1010,
					    .tx_bytes = 1500,
					    .rx_packets = 1020,
					    .rx_bytes = 3000,
					    .rx_dropped = 1005 };
	afxdp.tx_bytes = 50;
	top_series_read(&series, &counters, &afxdp, 7 * SECOND);
	assert_true(series.is_known);
	assert_float_equal(series.rates.tx_packets, 5, 0);
	assert_float_equal(series.rates.tx_bits, 2000, 0);
	assert_float_equal(series.rates.rx_packets, 10, 0);
	assert_float_equal(series.rates.rx_bits, 8000, 0);
	assert_float_equal(series.rates.rx_dropped, 2.5, 0);
	assert_float_equal(series.rates.afxdp_tx_bits, 200, 0);
}

TEST(counters_that_go_back_are_no_rate)
{
	struct xbond_counters before;

	for (unsigned int i = 0; i < sizeof(before) / sizeof(uint64_t); i++)
		((__u64 *)&before)[i] = 9;
	for (unsigned int i = 0; i < sizeof(before) / sizeof(uint64_t); i++) {
		struct top_series series = { 0 };
		struct xbond_counters counters = before;

		top_series_read(&series, &counters, &afxdp, 1 * SECOND);
		((__u64 *)&counters)[i] = 8;
		top_series_read(&series, &counters, &afxdp, 2 * SECOND);
		assert_false(series.is_known);
		assert_int_equal(series.count, 0);
		counters.tx_bytes += 100;
		top_series_read(&series, &counters, &afxdp, 3 * SECOND);
		assert_true(series.is_known);
		assert_float_equal(series.rates.tx_bits, 800, 0);
	}
}

TEST(a_clock_that_stands_is_no_rate)
{
	struct top_series series = { 0 };
	struct xbond_counters counters = { 0 };

	top_series_read(&series, &counters, &afxdp, SECOND);
	top_series_read(&series, &counters, &afxdp, SECOND);
	assert_false(series.is_known);
}

TEST(history_keeps_the_last)
{
	struct top_series series = { 0 };
	double last[TOP_SERIES_SIZE];

	set_rate(&series, 1);
	set_rate(&series, 2);
	top_series_last(&series, TOP_OUT, last, 3);
	assert_true(last[0] == -1 && last[1] == 1 && last[2] == 2);
	for (int i = 3; i <= 3 * TOP_SERIES_SIZE; i++)
		set_rate(&series, i);
	top_series_last(&series, TOP_OUT, last, TOP_SERIES_SIZE);
	for (int i = 0; i < TOP_SERIES_SIZE; i++)
		assert_true(last[i] == 2 * TOP_SERIES_SIZE + 1 + i);
	assert_true(top_series_highest(&series, TOP_OUT, 5) == 3 * TOP_SERIES_SIZE);
	assert_true(top_series_highest(&series, TOP_IN, 5) == 0);
}

TEST(rates_are_short)
{
	static const struct {
		double rate;
		const char *text;
	} cases[] = { { 0, "0" },	   { 0.2, "1" },	  { 999, "999" },
		      { 999.7, "1.00k" },  { 1250, "1.25k" },	  { 9994, "9.99k" },
		      { 9996, "10.0k" },   { 99960, "100k" },	  { 999400, "999k" },
		      { 999600, "1.00M" }, { 123456789, "123M" }, { 1e9, "1.00G" },
		      { 400e9, "400G" },   { 1e15, "1.00P" },	  { 999e18, "999E" } };
	char text[TOP_NUMBER_SIZE];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(top_cells_rate(text, cases[i].rate), cases[i].text);
	assert_string_equal(top_cells_share(text, 1.0 / 3), "33.3%");
	assert_string_equal(top_cells_share(text, 1), "100%");
	assert_string_equal(top_cells_share(text, 0.9999), "100%");
	assert_string_equal(top_cells_share(text, 0), "0%");
}

static void spark(const double *rates, unsigned int cells, double full, bool blocks,
		  const char *expected)
{
	struct top_line line = { 0 };

	top_line_add_spark(&line, rates, cells, full, blocks);
	assert_string_equal(line.text, expected);
	assert_int_equal(line.width, cells);
}

TEST(sparklines_have_a_height_for_each_rate)
{
	static const double rates[] = { -1, 0, 0.001, 1, 2, 4, 8, 9 };

	spark(rates, 8, 8, true, "  ▁▁▂▄██");
	spark(rates, 8, 8, false, "  ..,-##");
	spark(rates, 8, 0, true, "        ");
}

TEST(text_fills_its_cells, reset)
{
	static const struct {
		const char *text, *left, *right;
	} cases[] = {
		{ "ab", "ab  ", "  ab" },      { "abcdef", "abcd", "abcd" },
		{ "\x1b[2J", "?[2J", "?[2J" }, { "\xff", "?   ", "   ?" },
		{ "grün", "grün", "grün" },    { "漢字", "漢字", "漢字" },
		{ "a漢字", "a漢 ", " a漢" },   { "\xe6\xbc", "??  ", "  ??" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct top_line line = { 0 };

		top_line_add(&line, cases[i].text, 4, false);
		assert_string_equal(line.text, cases[i].left);
		top_line_clear(&line);
		top_line_add(&line, cases[i].text, 4, true);
		assert_string_equal(line.text, cases[i].right);
		assert_int_equal(line.width, 4);
	}
}

TEST(text_breaks_between_words, reset)
{
	static const struct {
		const char *text, *line, *rest;
	} cases[] = {
		{ "one two", "one", "two" },
		{ "one  two", "one ", "two" },
		{ "one", "one", "" },
		{ "four5 six", "four5", "six" },
		{ "longword", "longw", "ord" },
		{ "a longword", "a", "longword" },
		{ "", "", "" },
		{ "漢字漢字", "漢字", "漢字" },
		{ "ab\xff\xff c", "ab??", "c" },
		{ "一\xff\xff\xff\xff", "一???", "\xff" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct top_line line = { 0 };

		assert_string_equal(top_line_add_words(&line, cases[i].text, 5), cases[i].rest);
		assert_string_equal(line.text, cases[i].line);
	}
}

static unsigned int width_of(const char *text)
{
	wchar_t wide[1024];

	mbstowcs(wide, text, 1024);
	return (unsigned int)wcswidth(wide, 1024);
}

TEST(lines_fit_every_width, reset)
{
	struct top_rows rows = { 0 };
	struct top_table table;
	struct top_line line;

	snprintf(of_a[0].name, sizeof(of_a[0].name), "%s", "漢字漢字漢");
	of_a[0].series.rates.afxdp_rx_bits = 1;
	top_rows_make(&rows, &top, TOP_BY_NAME, NULL);
	for (unsigned int cells = 0; cells < 400; cells++) {
		table = (struct top_table){ .blocks = true };
		top_table_fit(&table, &rows, cells, true);
		top_table_head(&table, &line);
		assert_in_range(width_of(line.text), 0, cells);
		for (size_t i = 0; i < rows.count; i++) {
			top_table_row(&table, &rows.row[i], &line);
			assert_in_range(width_of(line.text), 0, cells);
			assert_int_equal(width_of(line.text), line.width);
		}
		if (cells >= 97)
			for (unsigned int i = 0; i < TOP_COLUMNS; i++)
				assert_true(table.width[i]);
	}
	top_rows_free(&rows);
}

TEST(columns_without_use_are_left_out, reset)
{
	struct top_rows rows = { 0 };
	struct top_table table = { 0 };

	for (unsigned int i = 0; i < a.slave_count; i++) {
		of_a[i].lacp = NULL;
		of_a[i].buckets = TOP_UNKNOWN;
	}
	top_rows_make(&rows, &top, TOP_BY_NAME, "a");
	top_table_fit(&table, &rows, 200, false);
	assert_int_equal(table.width[TOP_COLUMN_LACP], 0);
	assert_int_equal(table.width[TOP_COLUMN_BUCKETS], 0);
	assert_int_equal(table.width[TOP_COLUMN_AFXDP], 0);
	assert_int_equal(table.width[TOP_COLUMN_OUT_SPARK], 0);
	assert_int_not_equal(table.width[TOP_COLUMN_DUE], 0);
	top_rows_free(&rows);
}

static const char *name_at(const struct top_rows *rows, size_t at)
{
	const struct top_row *row = &rows->row[at];

	return row->slave ? row->slave->name : row->bond->name;
}

TEST(rows_are_in_order, reset)
{
	struct top_rows rows = { 0 };

	set_rate(&a.series, 1);
	set_rate(&b.series, 2);
	snprintf(of_b[2].name, sizeof(of_b[2].name), "eth10");
	top_rows_make(&rows, &top, TOP_BY_NAME, NULL);
	assert_int_equal(rows.count, 14);
	assert_string_equal(name_at(&rows, 0), "a");
	assert_string_equal(name_at(&rows, 2), "eth1");
	assert_string_equal(name_at(&rows, 3), "b");
	assert_string_equal(name_at(&rows, 6), "eth3");
	assert_string_equal(name_at(&rows, 13), "eth10");
	top_rows_make(&rows, &top, TOP_BY_RATE, NULL);
	assert_string_equal(name_at(&rows, 0), "b");
	assert_string_equal(name_at(&rows, 1), "eth9");
	assert_string_equal(name_at(&rows, 13), "eth0");
	top_rows_make(&rows, &top, TOP_BY_DROPS, "b");
	assert_int_equal(rows.count, 11);
	assert_string_equal(name_at(&rows, 1), "eth0");
	top_rows_free(&rows);
}

TEST(a_bond_that_cannot_be_read_has_one_row, reset)
{
	struct top_rows rows = { 0 };

	err_set(&a.error, 1, "damaged");
	top_rows_make(&rows, &top, TOP_BY_NAME, "a");
	assert_int_equal(rows.count, 1);
	assert_string_equal(top_table_state(&rows.row[0]), "?");
	top_rows_free(&rows);
}

static struct top_ui following(void)
{
	struct top_ui ui = { .interval_ms = 1000 };

	top_ui_settle(&ui, &top);
	return ui;
}

TEST(the_picked_row_stays_the_same_slave, reset)
{
	struct top_ui ui = following();

	for (int i = 0; i < 5; i++)
		assert_int_equal(top_ui_key(&ui, TOP_KEY_DOWN, 4), TOP_DRAW);
	assert_string_equal(top_ui_picked(&ui)->slave->name, "eth1");
	assert_ptr_equal(top_ui_picked(&ui)->bond, &b);
	top_ui_key(&ui, 'r', 4);
	top_ui_settle(&ui, &top);
	assert_string_equal(top_ui_picked(&ui)->slave->name, "eth1");
	b.slave_count = 1;
	top_ui_settle(&ui, &top);
	assert_non_null(top_ui_picked(&ui));
	top.bond_count = 0;
	top_ui_settle(&ui, &top);
	assert_null(top_ui_picked(&ui));
	assert_int_equal(top_ui_key(&ui, TOP_KEY_DOWN, 0), TOP_DRAW);
	top_ui_scroll(&ui, 0);
	top.bond_count = 2;
	b.slave_count = 10;
	top_rows_free(&ui.rows);
}

TEST(the_picked_row_is_shown, reset)
{
	static const int keys[] = { TOP_KEY_PAGE_DOWN,
				    TOP_KEY_END,
				    TOP_KEY_UP,
				    TOP_KEY_PAGE_UP,
				    TOP_KEY_HOME,
				    TOP_KEY_UP,
				    'G',
				    'k',
				    'g',
				    'j' };
	struct top_ui ui = following();

	for (size_t page = 0; page < 20; page++)
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
			top_ui_key(&ui, keys[i], page);
			top_ui_scroll(&ui, page);
			assert_in_range(ui.picked, 0, ui.rows.count - 1);
			if (page)
				assert_in_range(ui.picked, ui.first, ui.first + page - 1);
		}
	top_rows_free(&ui.rows);
}

TEST(a_drain_is_asked_about, reset)
{
	struct xbond_table handed_over = { .flags = XBOND_F_HANDED_OVER }, free = { 0 };
	struct top_ui ui = following();

	b.pins.table = a.pins.table = &free;
	top_ui_key(&ui, 'd', 4);
	assert_false(ui.is_asking); /* a bond is picked */
	assert_string_not_equal(ui.message, "");
	top_ui_key(&ui, 'j', 4);
	top_ui_key(&ui, 'd', 4);
	assert_true(ui.is_asking && ui.asked.drain);
	assert_string_equal(ui.asked.slave, "eth0");
	assert_int_equal(top_ui_key(&ui, 'q', 4), TOP_DRAW); /* anything but y means no */
	assert_false(ui.is_asking);
	of_a[0].is_drained = true;
	top_ui_key(&ui, 'd', 4);
	assert_false(ui.asked.drain);
	assert_int_equal(top_ui_key(&ui, 'y', 4), TOP_STEER);
	a.pins.table = &handed_over;
	top_ui_key(&ui, 'd', 4);
	assert_true(ui.is_asking); /* without bondd nobody hands it over */
	top_ui_key(&ui, 'n', 4);
	handed_over.heartbeat_ns = clock_now_ns();
	top_ui_key(&ui, 'd', 4);
	assert_false(ui.is_asking);
	assert_non_null(strstr(ui.message, "has not ended yet"));
	top_rows_free(&ui.rows);
}

TEST(keys_change_what_is_shown, reset)
{
	struct top_ui ui = following();

	top_ui_key(&ui, '+', 4);
	assert_int_equal(ui.interval_ms, 2000);
	for (int i = 0; i < 20; i++)
		top_ui_key(&ui, '-', 4);
	assert_int_equal(ui.interval_ms, 100);
	for (int i = 0; i < 20; i++)
		top_ui_key(&ui, '+', 4);
	assert_int_equal(ui.interval_ms, 3600000);
	for (int i = 0; i < TOP_ORDERS; i++)
		top_ui_key(&ui, 's', 4);
	assert_int_equal(ui.order, TOP_BY_NAME);
	top_ui_key(&ui, TOP_KEY_ENTER, 4);
	assert_string_equal(ui.only, "a");
	top_ui_key(&ui, TOP_KEY_ESCAPE, 4);
	assert_string_equal(ui.only, "");
	top_ui_key(&ui, '?', 4);
	assert_int_equal(top_ui_key(&ui, 'q', 4), TOP_DRAW); /* leaves the help */
	assert_int_equal(top_ui_key(&ui, 'q', 4), TOP_QUIT);
	top_rows_free(&ui.rows);
}

static void problem_is(const char *expected)
{
	json_t *lines = top_problems(&a);

	assert_int_equal(json_array_size(lines), expected ? 1 : 0);
	if (expected)
		assert_string_equal(json_string_value(json_array_get(lines, 0)), expected);
	json_decref(lines);
}

TEST(problems_are_told_in_words, reset)
{
	set_rate(&of_a[0].series, 10);
	set_rate(&of_a[1].series, 10);
	problem_is(NULL);
	json_array_append_new(a.problems, json_string("eth1: not used: no carrier"));
	problem_is("eth1: not used: no carrier");
	err_set(&a.error, 1, "damaged");
	problem_is("damaged");
}

TEST(only_drops_of_control_packets_are_a_problem, reset)
{
	for (unsigned int i = 0; i < XBOND_DROPS; i++) {
		of_a[1].drops.rate[i] = 3;
		if (i == XBOND_DROP_NO_SLAVE || i == XBOND_DROP_NO_COPY ||
		    i == XBOND_DROP_INACTIVE || i == XBOND_DROP_NO_CARRIER) {
			problem_is(NULL);
		} else {
			char expected[128];

			snprintf(expected, sizeof(expected), "eth1: drops 3 packets/s: %s",
				 drops_words(i));
			problem_is(expected);
		}
		of_a[1].drops.rate[i] = 0;
	}
}

TEST(drops_are_differences_in_time)
{
	struct top_drops drops = { 0 };
	uint64_t packets[XBOND_DROPS] = {
		[XBOND_DROP_BFD_QUEUE] = DROPS_UNKNOWN, [XBOND_DROP_LACP_QUEUE] = 100
	};

	top_drops_take(&drops, packets, 5 * SECOND);
	assert_true(drops.rate[XBOND_DROP_LACP_QUEUE] == 0);
	packets[XBOND_DROP_LACP_QUEUE] = 110;
	packets[XBOND_DROP_BFD_QUEUE] = 50;
	top_drops_take(&drops, packets, 7 * SECOND);
	assert_float_equal(drops.rate[XBOND_DROP_LACP_QUEUE], 5, 0);
	assert_true(drops.rate[XBOND_DROP_BFD_QUEUE] == 0);
	packets[XBOND_DROP_LACP_QUEUE] = 9;
	packets[XBOND_DROP_BFD_QUEUE] = DROPS_UNKNOWN;
	top_drops_take(&drops, packets, 9 * SECOND);
	for (unsigned int i = 0; i < XBOND_DROPS; i++)
		assert_true(drops.rate[i] == 0);
}

/* How many readings a message outlasts. */
static unsigned int readings_of_a_message(unsigned int interval_ms)
{
	struct top_ui ui = following();
	unsigned int readings = 0;

	ui.interval_ms = interval_ms;
	top_ui_key(&ui, 'd', 4);
	while (ui.message[0] && readings < 1000) {
		top_ui_end_reading(&ui, NULL);
		readings++;
	}
	top_rows_free(&ui.rows);
	return readings;
}

TEST(messages_end_after_some_readings, reset)
{
	struct top_ui ui = following();

	assert_int_equal(readings_of_a_message(100), 50);
	assert_int_equal(readings_of_a_message(1000), 5);
	assert_int_equal(readings_of_a_message(3600000), 2);
	for (int i = 0; i < 20; i++)
		top_ui_end_reading(&ui, "no such bond");
	assert_string_equal(ui.message, "no such bond"); /* for as long as that is so */
	top_ui_end_reading(&ui, NULL);
	assert_string_equal(ui.message, "");
	top_ui_key(&ui, 'd', 4);
	top_ui_end_reading(&ui, NULL);
	assert_string_not_equal(ui.message, "");
	top_rows_free(&ui.rows);
}
