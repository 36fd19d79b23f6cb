/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The screen: what the user does with it by keys, and how it is drawn with curses. */
#include <curses.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/base/client.h"
#include "cli/top/top.h"

/* What the user does with the screen. */

static const unsigned int intervals_ms[] = { 100,  200,	  500,	 1000,	2000,
					     5000, 10000, 30000, 60000, 3600000 };

/* Long enough to be read, and at least till the second reading, as that may come at once. */
#define MESSAGE_MS 5000
#define MESSAGE_READINGS 2

#define INTERVALS (sizeof(intervals_ms) / sizeof(intervals_ms[0]))

const struct top_row *top_ui_picked(const struct top_ui *ui)
{
	return ui->picked < ui->rows.count ? &ui->rows.row[ui->picked] : NULL;
}

static void top_ui_pick(struct top_ui *ui, size_t at)
{
	const struct top_row *row;

	ui->picked = at;
	if (ui->picked >= ui->rows.count)
		ui->picked = ui->rows.count ? ui->rows.count - 1 : 0;
	row = top_ui_picked(ui);
	if (!row)
		return;
	snprintf(ui->bond, sizeof(ui->bond), "%s", row->bond->name);
	snprintf(ui->slave, sizeof(ui->slave), "%s", row->slave ? row->slave->name : "");
}

static bool top_ui_is_picked(const struct top_ui *ui, const struct top_row *row)
{
	return !strcmp(ui->bond, row->bond->name) &&
	       !strcmp(ui->slave, row->slave ? row->slave->name : "");
}

void top_ui_settle(struct top_ui *ui, const struct top *top)
{
	top_rows_make(&ui->rows, top, ui->order, ui->only[0] ? ui->only : NULL);
	for (size_t i = 0; i < ui->rows.count; i++)
		if (top_ui_is_picked(ui, &ui->rows.row[i])) {
			ui->picked = i;
			return;
		}
	top_ui_pick(ui, ui->picked);
}

void top_ui_scroll(struct top_ui *ui, size_t page)
{
	if (ui->picked < ui->first)
		ui->first = ui->picked;
	if (page && ui->picked >= ui->first + page)
		ui->first = ui->picked - page + 1;
	if (ui->first + page > ui->rows.count)
		ui->first = ui->rows.count > page ? ui->rows.count - page : 0;
}

static bool top_ui_move(struct top_ui *ui, int key, size_t page)
{
	size_t at = ui->picked, last = ui->rows.count ? ui->rows.count - 1 : 0;

	switch (key) {
	case 'k':
	case TOP_KEY_UP: at -= at > 0; break;
	case 'j':
	case TOP_KEY_DOWN: at++; break;
	case TOP_KEY_PAGE_UP: at -= at < page ? at : page; break;
	case TOP_KEY_PAGE_DOWN: at += page; break;
	case 'g':
	case TOP_KEY_HOME: at = 0; break;
	case 'G':
	case TOP_KEY_END: at = last; break;
	default: return false;
	}
	top_ui_pick(ui, at < last ? at : last);
	return true;
}

static void top_ui_faster(struct top_ui *ui)
{
	for (size_t i = INTERVALS; i--;)
		if (intervals_ms[i] < ui->interval_ms) {
			ui->interval_ms = intervals_ms[i];
			return;
		}
}

static void top_ui_slower(struct top_ui *ui)
{
	for (size_t i = 0; i < INTERVALS; i++)
		if (intervals_ms[i] > ui->interval_ms) {
			ui->interval_ms = intervals_ms[i];
			return;
		}
}

static void top_ui_say(struct top_ui *ui, const char *message)
{
	snprintf(ui->message, sizeof(ui->message), "%s", message);
}

static void top_ui_ask(struct top_ui *ui)
{
	const struct top_row *row = top_ui_picked(ui);
	struct err err;

	if (!row || !row->slave)
		return top_ui_say(ui, "pick a slave first, with the arrow keys");
	if (steer_check(&row->bond->pins, row->bond->name, &err))
		return top_ui_say(ui, err.text);
	snprintf(ui->asked.bond, sizeof(ui->asked.bond), "%s", row->bond->name);
	snprintf(ui->asked.slave, sizeof(ui->asked.slave), "%s", row->slave->name);
	ui->asked.drain = !row->slave->is_drained;
	ui->is_asking = true;
}

static void top_ui_toggle_only(struct top_ui *ui, int key)
{
	if (ui->only[0])
		ui->only[0] = '\0';
	else if (key == TOP_KEY_ENTER)
		memcpy(ui->only, ui->bond, sizeof(ui->only));
}

static void top_ui_change(struct top_ui *ui, int key)
{
	switch (key) {
	case 's': ui->order = (ui->order + 1) % TOP_ORDERS; break;
	case 'n': ui->order = TOP_BY_NAME; break;
	case 'r': ui->order = TOP_BY_RATE; break;
	case 'x': ui->order = TOP_BY_DROPS; break;
	case 'p':
	case ' ': ui->is_paused = !ui->is_paused; break;
	case '+':
	case '=': top_ui_slower(ui); break;
	case '-': top_ui_faster(ui); break;
	case 'd': top_ui_ask(ui); break;
	case 'h':
	case '?': ui->has_help = true; break;
	case TOP_KEY_ENTER:
	case TOP_KEY_ESCAPE: top_ui_toggle_only(ui, key); break;
	default: break;
	}
}

static enum top_action top_ui_answer(struct top_ui *ui, int key)
{
	ui->is_asking = false;
	if (key == 'y' || key == 'Y')
		return TOP_STEER;
	top_ui_say(ui, "nothing was changed");
	return TOP_DRAW;
}

void top_ui_end_reading(struct top_ui *ui, const char *error)
{
	unsigned int enough = MESSAGE_MS / ui->interval_ms;

	ui->message_readings++;
	if (error || ui->is_reading_error ||
	    ui->message_readings >= (enough > MESSAGE_READINGS ? enough : MESSAGE_READINGS))
		top_ui_say(ui, error ? error : "");
	ui->is_reading_error = error;
}

enum top_action top_ui_key(struct top_ui *ui, int key, size_t page)
{
	ui->message[0] = '\0';
	ui->message_readings = 0;
	ui->is_reading_error = false;
	if (ui->is_asking)
		return top_ui_answer(ui, key);
	if (ui->has_help) {
		ui->has_help = false;
		return TOP_DRAW;
	}
	if (key == 'q' || key == 'Q')
		return TOP_QUIT;
	if (!top_ui_move(ui, key, page))
		top_ui_change(ui, key);
	return TOP_DRAW;
}

/* How it is drawn. */

enum { PAIR_BAD = 1, PAIR_WAITING };

static const char key_line[] =
	"q quit  ? help  arrows pick  d drain  s sort  p pause  +/- interval";

static const struct {
	const char *key, *words;
} help[] = {
	{ "up, down, j, k", "pick a row; also Page Up, Page Down, Home, End" },
	{ "Enter", "show only this bond; again, or Escape: all of them" },
	{ "d", "drain the picked slave, or end its drain; asks first" },
	{ "s", "sort by name, rate or drops in turn; also n, r, x" },
	{ "p, space", "pause" },
	{ "+, -", "longer or shorter interval" },
	{ "q", "quit" },
	{ "OUT, IN", "bits a second (b/s)" },
	{ "SHARE", "of the bond's bytes out" },
	{ "DUE", "the share that its weight is to give" },
	{ "BUCKETS", "how many of the 4096 hash buckets it has" },
	{ "DROP/s", "received packets that are dropped; normal for a backup" },
};

#define HELP_LINES (sizeof(help) / sizeof(help[0]))
#define HELP_WIDE 74 /* cells for keys and words in columns */

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
	static const char *const bad[] = { "down", "going down", "not used", "?" };
	const char *state = top_table_state(row);
	attr_t attributes = row->slave ? A_NORMAL : A_BOLD;

	if (is_picked)
		return attributes | A_REVERSE;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!strcmp(bad[i], state))
			return attributes | top_draw_colour(PAIR_BAD);
	if (strcmp(state, "up") && strcmp(state, "in use") && strcmp(state, "active"))
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

/* Appends the text as lines of the screen's width. */
static void top_draw_wrap(json_t *lines, const char *text)
{
	unsigned int indent = 0;
	struct top_line line;

	do {
		unsigned int cells = COLS > 20 ? (unsigned int)COLS - indent : (unsigned int)COLS;

		top_line_clear(&line);
		top_line_add(&line, "", COLS > 20 ? indent : 0, false);
		text = top_line_add_words(&line, text, cells);
		json_array_append_new(lines, json_string(line.text));
		indent = 2;
	} while (*text);
}

static void top_draw_wrap_problems(json_t *lines, const struct top_bond *bond)
{
	json_t *problems = top_problems(bond), *problem, *text;
	struct top_line name = { 0 };
	size_t at;

	top_line_add_some(&name, bond->name, XBOND_NAME_SIZE);
	json_array_foreach (problems, at, problem) {
		text = json_sprintf("%s: %s", name.text, json_string_value(problem));
		if (text)
			top_draw_wrap(lines, json_string_value(text));
		json_decref(text);
	}
	json_decref(problems);
}

/* All that is wrong with the bonds that are shown: an array of lines. */
static json_t *top_draw_find_problems(const struct top_ui *ui)
{
	json_t *lines = json_array();

	for (size_t i = 0; i < ui->rows.count; i++)
		if (!ui->rows.row[i].slave)
			top_draw_wrap_problems(lines, ui->rows.row[i].bond);
	return lines;
}

/* The first lines of these; if not all fit, the last one says so. */
static void top_draw_lines(const json_t *lines, int y, size_t room, const char *more,
			   attr_t attributes)
{
	size_t count = json_array_size(lines);

	for (size_t i = 0; i < room && i < count; i++)
		top_draw_text(y++,
			      more && i + 1 == room && count > room
				      ? more
				      : json_string_value(json_array_get(lines, i)),
			      attributes);
}

/* Although nobody has asked for that: a backup's own sentence says it. */
static bool top_draw_is_unused(const struct top_slave *slave)
{
	return !slave->is_active &&
	       (slave->link != XBOND_LINK_UP || !strcmp(slave->state, "not used"));
}

static void top_draw_say_picked(const struct top_ui *ui, char *ret_text, size_t size)
{
	const struct top_row *row = top_ui_picked(ui);

	if (row && row->slave && row->slave->why[0])
		snprintf(ret_text, size, "%s of %s: %s%s", row->slave->name, row->bond->name,
			 top_draw_is_unused(row->slave) ? "not used: " : "", row->slave->why);
	else if (row && !row->slave && row->bond->hot_count && !row->bond->error.text[0])
		top_hot_words(row->bond, ret_text, size);
	else
		snprintf(ret_text, size, "%s", row ? key_line : "no bonds yet");
}

/* The last lines: a question, else what was done, else about the picked row. */
static json_t *top_draw_find_status(const struct top_ui *ui)
{
	json_t *lines = json_array();
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
	top_draw_wrap(lines, text);
	return lines;
}

static size_t top_draw_least(size_t left, size_t right)
{
	return left < right ? left : right;
}

static json_t *top_draw_wrap_help(void)
{
	json_t *lines = json_array();
	char text[128];

	for (size_t i = 0; i < HELP_LINES; i++) {
		snprintf(text, sizeof(text), COLS < HELP_WIDE ? "%s: %s" : "%-18s  %s", help[i].key,
			 help[i].words);
		top_draw_wrap(lines, text);
	}
	return lines;
}

static void top_draw_help(void)
{
	json_t *lines = top_draw_wrap_help(), *end = json_array();
	size_t count = json_array_size(lines), room = (size_t)LINES, shown;

	top_draw_wrap(end, count < room ? "Any key goes back."
					: "Any key goes back. 'man bondctl-top' has the rest.");
	shown = room - top_draw_least(json_array_size(end), room);
	top_draw_lines(lines, 0, shown, NULL, A_NORMAL);
	top_draw_lines(end, (int)top_draw_least(count, shown), room, NULL, A_BOLD);
	json_decref(lines);
	json_decref(end);
}

/* How many lines each part of the screen gets. */
struct parts {
	size_t title, rows, problems, status;
};

/*
 * On a low screen the title goes first, then the keys. What is wrong leaves two thirds to the rows,
 * but gets a line as soon as there are two.
 */
static struct parts top_draw_share_out(size_t lines, size_t problems, size_t status, bool is_urgent)
{
	struct parts parts = { .title = lines > 4 };
	size_t most_status = is_urgent ? lines - 1 : lines < 12 ? 1 : 3;
	size_t room = lines > parts.title + 1 ? lines - parts.title - 1 : 0;

	if (lines > 2)
		parts.status = top_draw_least(top_draw_least(status, most_status), room);
	if (problems && !is_urgent && room < parts.status + 2)
		parts.status = 0;
	room -= parts.status;
	parts.problems = top_draw_least(problems, room < 2 ? 0 : room < 3 ? 1 : room / 3);
	parts.rows = room - parts.problems;
	return parts;
}

static void top_draw_bonds(struct top_draw *draw, struct top_ui *ui, const struct top *top)
{
	json_t *problems = top_draw_find_problems(ui), *status = top_draw_find_status(ui);
	bool is_urgent = ui->is_asking || ui->message[0];
	struct parts parts = top_draw_share_out((size_t)LINES, json_array_size(problems),
						json_array_size(status), is_urgent);

	draw->page = parts.rows;
	top_ui_scroll(ui, draw->page);
	if (parts.title)
		top_draw_title(ui, top);
	top_draw_table(draw, ui, (int)parts.title);
	top_draw_lines(problems, LINES - (int)(parts.status + parts.problems), parts.problems,
		       parts.problems > 1 ? "and more; 'bondctl top --once' prints all of it"
					  : "problems: 'bondctl top --once' prints them",
		       top_draw_colour(PAIR_BAD));
	top_draw_lines(status, LINES - (int)parts.status, parts.status, NULL,
		       is_urgent ? A_BOLD : A_NORMAL);
	json_decref(problems);
	json_decref(status);
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
