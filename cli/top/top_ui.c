/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/top/top_ui.h"

#include <stdio.h>
#include <string.h>

#include "cli/base/steer.h"

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

void top_ui_follow(struct top_ui *ui, const struct top *top)
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
