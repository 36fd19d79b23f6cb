/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table as lines of text: its rows in their order, and its columns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/top/top.h"
#include "common/memory.h"

/* The rows in their order. */

struct sorted {
	const char *name;
	const struct top_series *series;
	const struct top_bond *bond;
	const struct top_slave *slave;
};

const char *top_order_name(enum top_order order)
{
	static const char *const names[TOP_ORDERS] = {
		[TOP_BY_NAME] = "name",
		[TOP_BY_RATE] = "rate",
		[TOP_BY_DROPS] = "drops",
	};

	return names[order];
}

static double top_rows_weight(const struct sorted *item, enum top_order order)
{
	const struct top_rates *rates = &item->series->rates;

	switch (order) {
	case TOP_BY_RATE: return rates->tx_bits + rates->rx_bits;
	case TOP_BY_DROPS: return rates->rx_dropped;
	case TOP_BY_NAME:
	case TOP_ORDERS: break;
	}
	return 0;
}

static int top_rows_compare(const void *left, const void *right, void *order)
{
	const struct sorted *a = left, *b = right;
	double of_a = top_rows_weight(a, *(enum top_order *)order);
	double of_b = top_rows_weight(b, *(enum top_order *)order);

	if (of_a != of_b)
		return of_a < of_b ? 1 : -1;
	return strverscmp(a->name, b->name);
}

static void top_rows_add(struct top_rows *rows, const struct sorted *item)
{
	if (rows->count == rows->room) {
		rows->room += 64;
		rows->row = memory_need(reallocarray(rows->row, rows->room, sizeof(*rows->row)));
	}
	rows->row[rows->count++] = (struct top_row){ .bond = item->bond, .slave = item->slave };
}

static void top_rows_add_slaves(struct top_rows *rows, const struct top_bond *bond,
				enum top_order order)
{
	struct sorted sorted[XBOND_MAX_SLAVES];
	size_t count = bond->error.text[0] ? 0 : bond->slave_count;

	for (size_t i = 0; i < count; i++)
		sorted[i] = (struct sorted){ .name = bond->slaves[i].name,
					     .series = &bond->slaves[i].series,
					     .bond = bond,
					     .slave = &bond->slaves[i] };
	qsort_r(sorted, count, sizeof(*sorted), top_rows_compare, &order);
	for (size_t i = 0; i < count; i++)
		top_rows_add(rows, &sorted[i]);
}

static size_t top_rows_take_bonds(const struct top *top, const char *only, struct sorted *sorted)
{
	size_t count = 0;

	for (size_t i = 0; i < top->bond_count; i++)
		if (!only || !strcmp(only, top->bonds[i]->name))
			sorted[count++] = (struct sorted){ .name = top->bonds[i]->name,
							   .series = &top->bonds[i]->series,
							   .bond = top->bonds[i] };
	return count;
}

void top_rows_make(struct top_rows *rows, const struct top *top, enum top_order order,
		   const char *only)
{
	struct sorted *sorted = memory_need(calloc(top->bond_count + 1, sizeof(*sorted)));
	size_t count;

	rows->count = 0;
	count = top_rows_take_bonds(top, only, sorted);
	qsort_r(sorted, count, sizeof(*sorted), top_rows_compare, &order);
	for (size_t i = 0; i < count; i++) {
		top_rows_add(rows, &sorted[i]);
		top_rows_add_slaves(rows, sorted[i].bond, order);
	}
	free(sorted);
}

void top_rows_free(struct top_rows *rows)
{
	free(rows->row);
	*rows = (struct top_rows){ 0 };
}

/* Columns: which there are, and what a row has in them. */

#define NAME_MIN 8
#define SPARK_MIN 5

struct row_words {
	char text[TOP_COLUMNS][24];
};

/* rank: the higher it is, the sooner the column is left out. */
static const struct {
	const char *head;
	unsigned int width, rank;
	bool right;
} columns[TOP_COLUMNS] = {
	[TOP_COLUMN_NAME] = { "NAME", NAME_MIN, 0, false },
	[TOP_COLUMN_STATE] = { "STATE", 10, 1, false },
	[TOP_COLUMN_LACP] = { "LACP", 8, 6, false },
	[TOP_COLUMN_OUT] = { "OUT b/s", 7, 2, true },
	[TOP_COLUMN_OUT_SPARK] = { "", SPARK_MIN, 8, false },
	[TOP_COLUMN_IN] = { "IN b/s", 6, 3, true },
	[TOP_COLUMN_IN_SPARK] = { "", SPARK_MIN, 9, false },
	[TOP_COLUMN_SHARE] = { "SHARE", 5, 5, true },
	[TOP_COLUMN_DUE] = { "DUE", 5, 7, true },
	[TOP_COLUMN_BUCKETS] = { "BUCKETS", 7, 10, true },
	[TOP_COLUMN_DROPS] = { "DROP/s", 6, 4, true },
	[TOP_COLUMN_AFXDP] = { "AF_XDP", 6, 11, true },
};

static void top_table_add_name(const struct top_row *row, struct top_line *line)
{
	top_line_add_some(line, row->slave ? "  " : "", 2);
	top_line_add_some(line, row->slave ? row->slave->name : row->bond->name, XBOND_NAME_SIZE);
}

static unsigned int top_table_name_width(const struct top_rows *rows)
{
	unsigned int widest = NAME_MIN;

	for (size_t i = 0; i < rows->count; i++) {
		struct top_line line;

		top_line_clear(&line);
		top_table_add_name(&rows->row[i], &line);
		if (line.width > widest)
			widest = line.width;
	}
	return widest;
}

static double top_table_afxdp(const struct top_rates *rates)
{
	return rates->afxdp_tx_bits + rates->afxdp_rx_bits;
}

static void top_table_take_needed(struct top_table *table, const struct top_rows *rows, bool sparks)
{
	for (unsigned int i = 0; i < TOP_COLUMNS; i++)
		table->width[i] = columns[i].width;
	table->width[TOP_COLUMN_NAME] = top_table_name_width(rows);
	table->width[TOP_COLUMN_LACP] = table->width[TOP_COLUMN_BUCKETS] = 0;
	table->width[TOP_COLUMN_AFXDP] = 0;
	for (size_t i = 0; i < rows->count; i++) {
		const struct top_slave *slave = rows->row[i].slave;

		if (slave && slave->lacp)
			table->width[TOP_COLUMN_LACP] = columns[TOP_COLUMN_LACP].width;
		if (slave && slave->buckets != TOP_UNKNOWN)
			table->width[TOP_COLUMN_BUCKETS] = columns[TOP_COLUMN_BUCKETS].width;
		if (slave && top_table_afxdp(&slave->series.rates) > 0)
			table->width[TOP_COLUMN_AFXDP] = columns[TOP_COLUMN_AFXDP].width;
	}
	if (!sparks)
		table->width[TOP_COLUMN_OUT_SPARK] = table->width[TOP_COLUMN_IN_SPARK] = 0;
}

static unsigned int top_table_width(const struct top_table *table)
{
	unsigned int sum = 0;

	for (unsigned int i = 0; i < TOP_COLUMNS; i++)
		if (table->width[i])
			sum += table->width[i] + (sum ? 1 : 0);
	return sum;
}

static void top_table_leave_out(struct top_table *table)
{
	unsigned int worst = TOP_COLUMN_NAME;

	for (unsigned int i = 0; i < TOP_COLUMNS; i++)
		if (table->width[i] && columns[i].rank > columns[worst].rank)
			worst = i;
	table->width[worst] = 0;
}

static void top_table_widen_sparks(struct top_table *table, unsigned int left)
{
	static const enum top_column sparks[] = { TOP_COLUMN_OUT_SPARK, TOP_COLUMN_IN_SPARK };
	unsigned int each = table->width[TOP_COLUMN_IN_SPARK] ? left / 2 : left;

	for (unsigned int i = 0; i < 2; i++) {
		unsigned int *width = &table->width[sparks[i]];

		if (*width)
			*width += each;
		if (*width > TOP_SERIES_SIZE)
			*width = TOP_SERIES_SIZE;
	}
}

void top_table_fit(struct top_table *table, const struct top_rows *rows, unsigned int cells,
		   bool sparks)
{
	if (cells > TOP_LINE_CELLS)
		cells = TOP_LINE_CELLS;
	top_table_take_needed(table, rows, sparks);
	while (top_table_width(table) > cells && table->width[TOP_COLUMN_STATE])
		top_table_leave_out(table);
	if (table->width[TOP_COLUMN_NAME] > cells)
		table->width[TOP_COLUMN_NAME] = cells;
	top_table_widen_sparks(table, cells - top_table_width(table));
}

static void top_table_add(const struct top_table *table, enum top_column column, const char *text,
			  struct top_line *line)
{
	if (!table->width[column])
		return;
	if (line->width)
		top_line_add(line, " ", 1, false);
	top_line_add(line, text, table->width[column], columns[column].right);
}

void top_table_head(const struct top_table *table, struct top_line *ret_line)
{
	top_line_clear(ret_line);
	for (unsigned int i = 0; i < TOP_COLUMNS; i++)
		top_table_add(table, (enum top_column)i, columns[i].head, ret_line);
}

const char *top_table_state(const struct top_row *row)
{
	const struct top_slave *slave = row->slave;

	if (row->bond->error.text[0])
		return "?";
	if (!slave)
		return row->bond->has_carrier && !row->bond->is_down ? "up" : "down";
	return slave->state;
}

static const char *top_table_lacp(const struct top_slave *slave)
{
	static const struct {
		const char *state, *word;
	} words[] = {
		{ "collecting", "collects" },
		{ "distributing", "carries" },
		{ "collecting_distributing", "carries" },
	};

	if (!slave || !slave->lacp)
		return "";
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(words[i].state, slave->lacp))
			return words[i].word;
	return slave->lacp;
}

static void top_table_rate_words(const struct top_series *series, struct row_words *words)
{
	const struct top_rates *rates = &series->rates;

	strcpy(words->text[TOP_COLUMN_OUT], "-");
	strcpy(words->text[TOP_COLUMN_IN], "-");
	strcpy(words->text[TOP_COLUMN_DROPS], "-");
	strcpy(words->text[TOP_COLUMN_AFXDP], "-");
	if (!series->is_known)
		return;
	top_cells_rate(words->text[TOP_COLUMN_OUT], rates->tx_bits);
	top_cells_rate(words->text[TOP_COLUMN_IN], rates->rx_bits);
	top_cells_rate(words->text[TOP_COLUMN_DROPS], rates->rx_dropped);
	top_cells_rate(words->text[TOP_COLUMN_AFXDP], top_table_afxdp(rates));
}

static void top_table_share_words(const struct top_row *row, struct row_words *words)
{
	const struct top_slave *slave = row->slave;

	if (!slave)
		return;
	strcpy(words->text[TOP_COLUMN_SHARE], "-");
	if (slave->share >= 0)
		top_cells_share(words->text[TOP_COLUMN_SHARE], slave->share);
	top_cells_share(words->text[TOP_COLUMN_DUE], slave->due);
	if (slave->buckets != TOP_UNKNOWN)
		snprintf(words->text[TOP_COLUMN_BUCKETS], sizeof(words->text[0]), "%d",
			 slave->buckets);
}

static void top_table_words(const struct top_row *row, struct row_words *words)
{
	*words = (struct row_words){ 0 };
	snprintf(words->text[TOP_COLUMN_NAME], sizeof(words->text[0]), "%s%s",
		 row->slave ? "  " : "", row->slave ? row->slave->name : row->bond->name);
	snprintf(words->text[TOP_COLUMN_STATE], sizeof(words->text[0]), "%s", top_table_state(row));
	snprintf(words->text[TOP_COLUMN_LACP], sizeof(words->text[0]), "%s",
		 top_table_lacp(row->slave));
	if (row->bond->error.text[0])
		return;
	top_table_rate_words(row->slave ? &row->slave->series : &row->bond->series, words);
	top_table_share_words(row, words);
}

/* The slaves of a bond have one scale, so their sparklines can be compared. */
static double top_table_full(const struct top_row *row, enum top_direction direction,
			     unsigned int cells)
{
	double full = 0;

	if (!row->slave)
		return top_series_highest(&row->bond->series, direction, cells);
	for (size_t i = 0; i < row->bond->slave_count; i++) {
		double highest = top_series_highest(&row->bond->slaves[i].series, direction, cells);

		if (highest > full)
			full = highest;
	}
	return full;
}

static void top_table_add_spark(const struct top_table *table, enum top_column column,
				const struct top_row *row, struct top_line *line)
{
	enum top_direction direction = column == TOP_COLUMN_OUT_SPARK ? TOP_OUT : TOP_IN;
	unsigned int cells = table->width[column];
	double rates[TOP_SERIES_SIZE];

	if (!cells)
		return;
	top_series_last(row->slave ? &row->slave->series : &row->bond->series, direction, rates,
			cells);
	top_line_add(line, " ", 1, false);
	top_line_add_spark(line, rates, cells, top_table_full(row, direction, cells),
			   table->blocks);
}

void top_table_row(const struct top_table *table, const struct top_row *row,
		   struct top_line *ret_line)
{
	struct row_words words;

	top_line_clear(ret_line);
	top_table_words(row, &words);
	for (unsigned int i = 0; i < TOP_COLUMNS; i++)
		if (i == TOP_COLUMN_OUT_SPARK || i == TOP_COLUMN_IN_SPARK)
			top_table_add_spark(table, (enum top_column)i, row, ret_line);
		else
			top_table_add(table, (enum top_column)i, words.text[i], ret_line);
}
