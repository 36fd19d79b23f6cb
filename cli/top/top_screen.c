/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/top/top_screen.h"

#include <curses.h>

#include "cli/top/top_drain.h"
#include "cli/top/top_draw.h"
#include "cli/top/top_read.h"
#include "cli/top/top_terminal.h"
#include "cli/top/top_ui.h"
#include "common/clock.h"

/* More wakes for input without a key than any key or resize makes: there is nobody to type. */
#define SILENT_WAKES_MAX 100

/* The first rates come soon, whatever the interval is. */
#define FIRST_MS 300

struct top_run {
	const struct cli *cli;
	struct top *top;
	struct top_ui ui;
	struct top_draw draw;
	uint64_t next_ns; /* the next reading */
};

/* Keys as top_ui.h knows them; -1: none is left. */
static int top_screen_key(void)
{
	static const struct {
		int curses, key;
	} keys[] = {
		{ KEY_UP, TOP_KEY_UP },		{ KEY_DOWN, TOP_KEY_DOWN },
		{ KEY_PPAGE, TOP_KEY_PAGE_UP }, { KEY_NPAGE, TOP_KEY_PAGE_DOWN },
		{ KEY_HOME, TOP_KEY_HOME },	{ KEY_END, TOP_KEY_END },
		{ KEY_ENTER, TOP_KEY_ENTER },	{ '\r', TOP_KEY_ENTER },
		{ '\n', TOP_KEY_ENTER },
	};
	int found = getch();

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].curses == found)
			return keys[i].key;
	return found == ERR ? -1 : found < KEY_MIN ? found : TOP_KEY_OTHER;
}

static void top_screen_read(struct top_run *run)
{
	struct top_ui *ui = &run->ui;
	struct err err;
	int r = top_read(run->top, &err);

	/* The old rows point into what was read before, and keys come before the next drawing. */
	top_ui_follow(ui, run->top);
	top_ui_end_reading(ui, r ? err.text : NULL);
	run->next_ns = clock_now_ns() + run->ui.interval_ms * NS_PER_MS;
}

static void top_screen_steer(struct top_run *run)
{
	struct top_ui *ui = &run->ui;

	top_drain(run->top, run->cli->paths.run_dir, ui->asked.bond, ui->asked.slave,
		  ui->asked.drain, ui->message);
	top_screen_read(run);
}

/* Returns false when the user wants to end. */
static bool top_screen_take_keys(struct top_run *run, unsigned int *silent_wakes)
{
	unsigned int interval_ms = run->ui.interval_ms;
	bool was_paused = run->ui.is_paused;
	int key;

	for (++*silent_wakes; (key = top_screen_key()) >= 0; *silent_wakes = 0) {
		if (key == TOP_KEY_OTHER)
			continue;
		switch (top_ui_key(&run->ui, key, run->draw.page)) {
		case TOP_QUIT: return false;
		case TOP_STEER: top_screen_steer(run); break;
		case TOP_DRAW: break;
		}
	}
	if (interval_ms != run->ui.interval_ms || (was_paused && !run->ui.is_paused))
		top_screen_read(run);
	return *silent_wakes < SILENT_WAKES_MAX;
}

static unsigned int top_screen_patience_ms(const struct top_run *run)
{
	uint64_t now_ns = clock_now_ns();

	if (run->ui.is_paused)
		return 3600000;
	return now_ns < run->next_ns
		       ? (unsigned int)((run->next_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS)
		       : 0;
}

static void top_screen_loop(struct top_run *run)
{
	unsigned int silent_wakes = 0;

	for (;;) {
		top_ui_follow(&run->ui, run->top);
		top_draw(&run->draw, &run->ui, run->top);
		if (!top_terminal_wait(top_screen_patience_ms(run)))
			break;
		if (!run->ui.is_paused && clock_now_ns() >= run->next_ns) {
			top_screen_read(run);
			silent_wakes = 0;
		}
		if (!top_screen_take_keys(run, &silent_wakes))
			break;
	}
}

enum cli_exit top_screen(const struct cli *cli, struct top *top, unsigned int interval_ms)
{
	struct top_run run = { .cli = cli, .top = top, .ui = { .interval_ms = interval_ms } };
	struct err err;

	if (top_terminal_begin(&err))
		return cli_refuse(&err);
	run.draw.blocks = top_terminal_has_blocks();
	run.next_ns =
		clock_now_ns() + (interval_ms < FIRST_MS ? interval_ms : FIRST_MS) * NS_PER_MS;
	top_draw_begin();
	top_screen_loop(&run);
	top_terminal_end();
	top_rows_free(&run.ui.rows);
	top_terminal_obey();
	return CLI_DONE;
}
