/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of the table in their order: each bond with its slaves below it. Pure. Called again
 * after every reading, because bonds and slaves come and go.
 */
#ifndef XBOND_CLI_TOP_TOP_ROWS_H
#define XBOND_CLI_TOP_TOP_ROWS_H

#include "cli/top/top_model.h"

enum top_order {
	TOP_BY_NAME,  /* eth2 comes before eth10 */
	TOP_BY_RATE,  /* of both directions together, the highest first */
	TOP_BY_DROPS, /* the most first */
	TOP_ORDERS,
};

struct top_row {
	const struct top_bond *bond;
	const struct top_slave *slave; /* NULL: the row is the bond's */
};

struct top_rows {
	struct top_row *row;
	size_t count, room;
};

const char *top_order_name(enum top_order order);

/*
 * Bonds in this order, and the slaves of each in this order. only: the name of the one bond to
 * take; NULL: all.
 */
void top_rows_make(struct top_rows *rows, const struct top *top, enum top_order order,
		   const char *only);
void top_rows_free(struct top_rows *rows);

#endif
