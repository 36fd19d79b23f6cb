/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/top/top_once.h"

#include <stdio.h>
#include <time.h>

#include "cli/top/top_hot.h"
#include "cli/top/top_json.h"
#include "cli/top/top_problems.h"
#include "cli/top/top_read.h"
#include "cli/top/top_table.h"

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

enum cli_exit top_once(const struct cli *cli, struct top *top, unsigned int interval_ms)
{
	struct err err;

	top_once_wait(interval_ms);
	if (top_read(top, &err))
		return cli_refuse(&err);
	return cli->json ? top_once_print_json(top) : top_once_print_text(top);
}
