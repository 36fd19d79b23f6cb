/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/top/top_draw.h"

#include <curses.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/top/top_problems.h"
#include "cli/top/top_table.h"

enum { PAIR_BAD = 1, PAIR_WAITING };

static const char key_line[] =
	"q quit  ? help  arrows pick  d drain  s sort  p pause  +/- interval";

static const char *const help_lines[] = {
	"up, down, j, k      pick a row; also Page Up, Page Down, Home, End",
	"Enter               show only this bond; again, or Escape: all of them",
	"d                   drain the picked slave, or end its drain; asks first",
	"s                   sort by name, rate or drops in turn; also n, r, x",
	"p, space            pause",
	"+, -                longer or shorter interval",
	"q                   quit",
	"",
	"OUT, IN   bits a second      SHARE  of the bond's bytes out",
	"DROP/s    received packets   DUE    the share that its weight gives",
	"BUCKETS   of 4096 that a hash may choose",
	"",
	"Any key goes back.",
};

#define HELP_LINES (sizeof(help_lines) / sizeof(help_lines[0]))

void top_draw_begin(void)
{
	init_pair(PAIR_BAD, COLOR_RED, -1);
	init_pair(PAIR_WAITING, COLOR_YELLOW, -1);
}

/* Without colours these attributes change nothing. */
static attr_t top_draw_colour(short pair)
{
	return has_colors() && COLOR_PAIRS > pair ? (attr_t)COLOR_PAIR(pair) : A_NORMAL;
}

/* Text as wide as the screen, so that attributes cover the whole line. */
static void top_draw_text(int y, const char *text, attr_t attributes)
{
	struct top_line line = { 0 };

	if (y < 0 || y >= LINES)
		return;
	top_line_add(&line, text, (unsigned int)(COLS < TOP_LINE_CELLS ? COLS : TOP_LINE_CELLS),
		     false);
	attrset(attributes);
	mvaddstr(y, 0, line.text);
	attrset(A_NORMAL);
}

static void top_draw_title(const struct top_ui *ui, const struct top *top)
{
	char text[256], clock[16];
	time_t now = time(NULL);
	struct tm local;

	strftime(clock, sizeof(clock), "%H:%M:%S", localtime_r(&now, &local));
	snprintf(text, sizeof(text), "bondctl top  %s  every %g s  %zu bond%s  sorted by %s%s",
		 clock, ui->interval_ms / 1000.0, top->bond_count, top->bond_count == 1 ? "" : "s",
		 top_order_name(ui->order), ui->is_paused ? "  PAUSED" : "");
	top_draw_text(0, text, A_BOLD);
}

static attr_t top_draw_row_attributes(const struct top_row *row, bool is_picked)
{
	static const char *const bad[] = { "down", "failing", "unused", "?" };
	const char *state = top_table_state(row);
	attr_t attributes = row->slave ? A_NORMAL : A_BOLD;

	if (is_picked)
		return attributes | A_REVERSE;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!strcmp(bad[i], state))
			return attributes | top_draw_colour(PAIR_BAD);
	if (strcmp(state, "up"))
		attributes |= top_draw_colour(PAIR_WAITING);
	return attributes;
}

static void top_draw_table(const struct top_draw *draw, const struct top_ui *ui, int y)
{
	struct top_table table = { .blocks = draw->blocks };
	struct top_line line;

	top_table_fit(&table, &ui->rows, (unsigned int)COLS, true);
	top_table_head(&table, &line);
	top_draw_text(y++, line.text, A_UNDERLINE);
	for (size_t i = 0; i < draw->page && ui->first + i < ui->rows.count; i++) {
		const struct top_row *row = &ui->rows.row[ui->first + i];

		top_table_row(&table, row, &line);
		top_draw_text(y++, line.text,
			      top_draw_row_attributes(row, ui->first + i == ui->picked));
	}
}

/* All that is wrong with the bonds that are shown: an array of lines. */
static json_t *top_draw_find_problems(const struct top_ui *ui)
{
	json_t *all = json_array(), *of_bond, *line;
	size_t at;

	for (size_t i = 0; i < ui->rows.count; i++) {
		const struct top_bond *bond = ui->rows.row[i].bond;

		if (ui->rows.row[i].slave)
			continue;
		of_bond = top_problems(bond);
		json_array_foreach (of_bond, at, line) {
			struct top_line name = { 0 };

			top_line_add_some(&name, bond->name, XBOND_NAME_SIZE);
			json_array_append_new(
				all, json_sprintf("%s: %s", name.text, json_string_value(line)));
		}
		json_decref(of_bond);
	}
	return all;
}

static void top_draw_problems(const json_t *problems, int y, size_t lines)
{
	size_t count = json_array_size(problems);
	char more[64];

	for (size_t i = 0; i < lines; i++) {
		snprintf(more, sizeof(more), "and %zu more problems", count - i);
		top_draw_text(y++,
			      i + 1 == lines && count > lines
				      ? more
				      : json_string_value(json_array_get(problems, i)),
			      top_draw_colour(PAIR_BAD));
	}
}

static void top_draw_say_picked(const struct top_ui *ui, char *ret_text, size_t size)
{
	const struct top_row *row = top_ui_picked(ui);

	if (row && row->slave && row->slave->why[0])
		snprintf(ret_text, size, "%s of %s: %s%s", row->slave->name, row->bond->name,
			 row->slave->is_active ? "" : "not used: ", row->slave->why);
	else
		snprintf(ret_text, size, "%s", row ? key_line : "no bonds yet");
}

/* The last line: a question, else what was done, else about the picked row. */
static void top_draw_status(const struct top_ui *ui)
{
	char text[TOP_MESSAGE];

	if (ui->is_asking && ui->asked.drain)
		snprintf(text, sizeof(text),
			 "Drain %s of %s? It then carries traffic only when no other can. (y/n)",
			 ui->asked.slave, ui->asked.bond);
	else if (ui->is_asking)
		snprintf(text, sizeof(text), "End the drain of %s of %s? (y/n)", ui->asked.slave,
			 ui->asked.bond);
	else if (ui->message[0])
		snprintf(text, sizeof(text), "%s", ui->message);
	else
		top_draw_say_picked(ui, text, sizeof(text));
	top_draw_text(LINES - 1, text, ui->is_asking || ui->message[0] ? A_BOLD : A_NORMAL);
}

static void top_draw_help(void)
{
	for (size_t i = 0; i < HELP_LINES; i++)
		top_draw_text((int)i, help_lines[i], A_NORMAL);
}

/* Title and status line make way for the rows when the screen is very low. */
static void top_draw_bonds(struct top_draw *draw, struct top_ui *ui, const struct top *top)
{
	json_t *problems = top_draw_find_problems(ui);
	int title = LINES > 4, status = LINES > 2;
	int room = LINES - title - 1 - status;
	size_t most = room > 0 ? (size_t)room / 3 : 0;
	size_t shown = json_array_size(problems) < most ? json_array_size(problems) : most;

	draw->page = room > 0 ? (size_t)room - shown : 0;
	top_ui_scroll(ui, draw->page);
	if (title)
		top_draw_title(ui, top);
	top_draw_table(draw, ui, title);
	top_draw_problems(problems, LINES - status - (int)shown, shown);
	if (status)
		top_draw_status(ui);
	json_decref(problems);
}

void top_draw(struct top_draw *draw, struct top_ui *ui, const struct top *top)
{
	erase();
	if (ui->has_help)
		top_draw_help();
	else
		top_draw_bonds(draw, ui, top);
	refresh();
}
