/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/top/top_rows.h"

#include <stdlib.h>
#include <string.h>

#include "common/err.h"

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
