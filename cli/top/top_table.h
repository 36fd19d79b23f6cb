/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table: which columns a screen of some width has, its head, and a row as a line. Pure. */
#ifndef XBOND_CLI_TOP_TOP_TABLE_H
#define XBOND_CLI_TOP_TOP_TABLE_H

#include "cli/top/top_cells.h"
#include "cli/top/top_rows.h"

enum top_column {
	TOP_COLUMN_NAME,
	TOP_COLUMN_STATE,
	TOP_COLUMN_LACP,
	TOP_COLUMN_OUT,
	TOP_COLUMN_OUT_SPARK,
	TOP_COLUMN_IN,
	TOP_COLUMN_IN_SPARK,
	TOP_COLUMN_SHARE,
	TOP_COLUMN_DUE,
	TOP_COLUMN_BUCKETS,
	TOP_COLUMN_DROPS,
	TOP_COLUMNS,
};

struct top_table {
	unsigned int width[TOP_COLUMNS]; /* 0: the column is left out */
	bool blocks;			 /* sparklines of Unicode's block elements, not of ASCII */
};

/*
 * As many columns as fit, the least important left out first. The sparklines share what is left of
 * the width. The column of LACP and that of buckets are there only if a row has something in it.
 */
void top_table_fit(struct top_table *table, const struct top_rows *rows, unsigned int cells,
		   bool sparks);

/* Both lines have at most the width that the table was made for. */
void top_table_head(const struct top_table *table, struct top_line *ret_line);
void top_table_row(const struct top_table *table, const struct top_row *row,
		   struct top_line *ret_line);

/* One word for the state of a bond or slave. */
const char *top_table_state(const struct top_row *row);

#endif
