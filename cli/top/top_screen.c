/* SPDX-License-Identifier: GPL-2.0-or-later */
/* top on a terminal: reads the bonds, draws them and obeys keys until the user has enough. */
#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/client.h"
#include "cli/base/print.h"
#include "cli/top/top.h"
#include "common/clock.h"
#include "common/err.h"

/* In milliseconds: how long after Escape the rest of a key's sequence may come. */
#define ESCAPE_DELAY_MS 50

static const int ending_signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
static const int crash_signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

static volatile sig_atomic_t caught, resized;
static struct termios modes_before;
static char crash_text[256]; /* makes the screen as it was; for a signal handler */
static SCREEN *screen;

static void top_terminal_on_ending(int number)
{
	caught = number;
}

static void top_terminal_on_resize(int number)
{
	resized = 1;
}

/* curses is in an unknown state, so only what POSIX allows in a handler is done. */
static void top_terminal_on_crash(int number)
{
	if (write(STDOUT_FILENO, crash_text, strlen(crash_text)) < 0)
		errno = 0;
	tcsetattr(STDIN_FILENO, TCSANOW, &modes_before);
	raise(number);
}

static void top_terminal_handle_signals(void)
{
	struct sigaction ending = { .sa_handler = top_terminal_on_ending };
	struct sigaction resize = { .sa_handler = top_terminal_on_resize };
	struct sigaction crash = { .sa_handler = top_terminal_on_crash, .sa_flags = SA_RESETHAND };

	for (size_t i = 0; i < sizeof(ending_signals) / sizeof(ending_signals[0]); i++)
		sigaction(ending_signals[i], &ending, NULL);
	sigaction(SIGWINCH, &resize, NULL);
	for (size_t i = 0; i < sizeof(crash_signals) / sizeof(crash_signals[0]); i++)
		sigaction(crash_signals[i], &crash, NULL);
}

static void top_terminal_add_crash_text(const char *capability)
{
	const char *text = tigetstr(capability);

	if (text && text != (char *)-1 && strlen(crash_text) + strlen(text) < sizeof(crash_text))
		strcat(crash_text, text);
}

static int top_terminal_check(struct err *err)
{
	const char *name = getenv("TERM");
	int found;

	if (setupterm(NULL, STDOUT_FILENO, &found) != OK)
		return err_set(err, ENOTTY,
			       "the terminal '%s' is not known (TERM); use 'bondctl top --once'",
			       name ? name : "");
	if (!cursor_address || !clear_screen) {
		del_curterm(cur_term);
		return err_set(err, ENOTTY,
			       "the terminal '%s' (TERM) cannot show a full screen; use 'bondctl "
			       "top --once'",
			       name ? name : "");
	}
	crash_text[0] = '\0';
	top_terminal_add_crash_text("sgr0");
	top_terminal_add_crash_text("cnorm");
	top_terminal_add_crash_text("rmcup");
	del_curterm(cur_term);
	return 0;
}

static void top_terminal_begin_colours(void)
{
	if (!cli_allows_colour())
		return;
	if (has_colors() && start_color() == OK)
		use_default_colors();
}

static int top_terminal_begin(struct err *err)
{
	int r = top_terminal_check(err);

	if (r)
		return r;
	tcgetattr(STDIN_FILENO, &modes_before);
	top_terminal_handle_signals();
	text_wrap_end();
	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return err_set(err, ENOTTY, "cannot use the terminal; use 'bondctl top --once'");
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_DELAY_MS);
	curs_set(0);
	top_terminal_begin_colours();
	return 0;
}

static void top_terminal_end(void)
{
	endwin();
	delscreen(screen);
	screen = NULL;
}

/* Terminals differ in what they keep of the screen, so it will be drawn anew. */
static void top_terminal_read_size(void)
{
	struct winsize size;

	if (!resized)
		return;
	resized = 0;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
	clearok(curscr, TRUE);
}

/* Signals are blocked until ppoll() waits, so that none comes between the look and the wait. */
static bool top_terminal_wait(unsigned int timeout_ms)
{
	struct timespec timeout = { .tv_sec = timeout_ms / 1000,
				    .tv_nsec = (long)(timeout_ms % 1000) * 1000000 };
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	sigset_t all, before;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	if (!caught && !resized)
		ppoll(&input, 1, &timeout, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	top_terminal_read_size();
	return !caught && !(input.revents & (POLLHUP | POLLERR | POLLNVAL));
}

/* After top_terminal_end(): ends the program by the signal that it got, if it got one. */
static void top_terminal_obey(void)
{
	if (!caught)
		return;
	signal(caught, SIG_DFL);
	raise(caught);
}

/* The fonts of the Linux console lack most of them. */
static bool top_terminal_has_blocks(void)
{
	const char *name = getenv("TERM");

	return !strcmp(nl_langinfo(CODESET), "UTF-8") && (!name || strcmp(name, "linux"));
}

/* Drains a slave, or ends its drain, as `bondctl set-slave BOND DEV drain` does. */

/* The bond may have been made anew since the last reading, so the bonds are read again. */
static int top_drain_write(struct top *top, const char *name, const char *slave, bool drain,
			   struct top_bond **ret_bond, struct err *err)
{
	struct option_set set = { 0 };
	int r = option_set_add(&set, OPTION_SLAVE, "drain", drain ? "on" : "off", err);

	if (!r)
		r = top_read(top, err);
	if (r)
		return r;
	*ret_bond = top_read_find(top, name);
	if (!*ret_bond || (*ret_bond)->error.text[0])
		return err_set(err, ENOENT, "%s is gone", name);
	r = option_set_check_mode(&set, (*ret_bond)->pins.bond->mode, err);
	return r ? r : steer_write(&(*ret_bond)->pins, name, slave, &set, err);
}

/* Always leaves a line for the user: what was done, or why not. */
static void top_drain(struct top *top, const char *run_dir, const char *bond, const char *slave,
		      bool drain, char ret_line[TOP_MESSAGE])
{
	struct top_bond *found;
	struct err err;
	int r;

	if (top_drain_write(top, bond, slave, drain, &found, &err)) {
		snprintf(ret_line, TOP_MESSAGE, "%s", err.text);
		return;
	}
	r = steer_tell_bondd(run_dir, &found->pins, "refresh", bond, &err);
	if (r && r != -ENOTCONN && r != -ECONNRESET)
		snprintf(ret_line, TOP_MESSAGE, "set, but bondd did not apply it: %s", err.text);
	else
		snprintf(ret_line, TOP_MESSAGE, drain ? "%s is drained" : "%s is no longer drained",
			 slave);
}

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

/* Keys as top.h knows them; -1: none is left. */
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
	top_ui_settle(ui, run->top);
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
		top_ui_settle(&run->ui, run->top);
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
